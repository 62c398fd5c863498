package survey

import (
	"fmt"
	"os"
	"strings"
)

// A Module is one line of the list.
type Module struct {
	Path, Version string
	Packages      []string // patterns relative to the module; none means all
}

// Name is the module's path as one element of a file name.
func (m Module) Name() string { return strings.ReplaceAll(m.Path, "/", "_") }

// ReadList reads a list of modules: on each line a path, a version and patterns.
func ReadList(name string) ([]Module, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var all []Module
	seen := map[string]bool{}
	for i, line := range strings.Split(string(text), "\n") {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
			continue
		case len(fields) == 1:
			return nil, fmt.Errorf("%s:%d: %s has no version", name, i+1, fields[0])
		case seen[fields[0]]:
			return nil, fmt.Errorf("%s:%d: %s is listed twice", name, i+1, fields[0])
		}
		seen[fields[0]] = true
		all = append(all, Module{fields[0], fields[1], fields[2:]})
	}
	return all, nil
}
