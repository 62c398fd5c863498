package survey

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
)

// Classes of findings.
const (
	Defect      = "module"      // a defect of the module
	TestDefect  = "test"        // an assumption of the module's test
	Ours        = "ours"        // a false alarm of the tool
	Environment = "environment" // the test needs what is not controlled
	Unread      = "unread"
)

// A class is a line of the file of classes: the module, a pattern of the test, a pattern
// of the message or "-", the class, and the description.
type class struct {
	module        string
	test, message *regexp.Regexp
	class, about  string
}

type classList []class

// readClasses reads the file of classes. The fields of a line are separated by " | ".
func readClasses(name string) (classList, error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all classList
	for i, line := range strings.Split(string(text), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		one, err := parseClass(strings.Split(line, " | "))
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
		all = append(all, one)
	}
	return all, nil
}

func parseClass(fields []string) (class, error) {
	if len(fields) != 5 {
		return class{}, fmt.Errorf("%d fields, want module | test | verdict and message | class | description", len(fields))
	}
	test, err := regexp.Compile("^(?:" + fields[1] + ")$")
	if err != nil {
		return class{}, err
	}
	message, err := regexp.Compile(fields[2])
	if err != nil {
		return class{}, err
	}
	switch fields[3] {
	case Defect, TestDefect, Ours, Environment:
	default:
		return class{}, fmt.Errorf("class %q: want %s, %s, %s or %s", fields[3], Defect, TestDefect, Ours, Environment)
	}
	return class{fields[0], test, message, fields[3], fields[4]}, nil
}

// of returns the class of a finding, by the first line that matches.
func (all classList) of(module string, f *Finding) (name, about string) {
	for _, c := range all {
		if c.module == module && c.test.MatchString(f.Test) && c.message.MatchString(f.Verdict+": "+f.Message) {
			return c.class, c.about
		}
	}
	return Unread, ""
}
