package driver

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// A sink receives the results of packages in the order of printing.
type sink struct {
	out     io.Writer
	json    bool
	verbose bool
	suites  []*suite
}

// A suite is the results of one package.
type suite struct {
	name   string
	result string // pass, fail or skip
	took   time.Duration
	tail   string // of the package's line
	text   []string
	tests  []*testResult
	begun  bool // its first lines are printed
	shown  int  // tests that are printed
}

// A testResult is the result of one test.
type testResult struct {
	name   string
	result string // pass, fail or skip
	took   time.Duration
	text   string // shown if the test failed, was skipped, or with -v
	notice string // shown always
}

// An event is a line of -json, as test2json defines it.
type event struct {
	Time    *time.Time `json:",omitempty"`
	Action  string
	Package string   `json:",omitempty"`
	Test    string   `json:",omitempty"`
	Elapsed *float64 `json:",omitempty"`
	Output  string   `json:",omitempty"`
}

// show prints the tests of a package that it has not printed yet. It may be called again when the
// package has more.
func (k *sink) show(s *suite) {
	if !s.begun {
		s.begun = true
		k.suites = append(k.suites, s)
		k.event(event{Action: "start", Package: s.name})
		for _, line := range s.text {
			k.output(s.name, "", line+"\n")
		}
	}
	for _, t := range s.tests[s.shown:] {
		k.putTest(s, t)
	}
	s.shown = len(s.tests)
}

// put prints a package with its tests, as go test does.
func (k *sink) put(s *suite) {
	k.show(s)
	seconds := s.took.Seconds()
	switch s.result {
	case "fail":
		k.output(s.name, "", "FAIL\n")
		k.output(s.name, "", fmt.Sprintf("FAIL\t%s\t%s\n", s.name, join(s.took, s.tail)))
	case "skip":
		k.output(s.name, "", fmt.Sprintf("?   \t%s\t%s\n", s.name, s.tail))
	default:
		if k.verbose {
			k.output(s.name, "", "PASS\n")
		}
		k.output(s.name, "", fmt.Sprintf("ok  \t%s\t%s\n", s.name, join(s.took, s.tail)))
	}
	k.event(event{Action: s.result, Package: s.name, Elapsed: &seconds})
}

func join(took time.Duration, tail string) string {
	text := fmt.Sprintf("%.3fs", took.Seconds())
	if tail != "" {
		text += "\t" + tail
	}
	return text
}

func (k *sink) putTest(s *suite, t *testResult) {
	k.event(event{Action: "run", Package: s.name, Test: t.name})
	shown := t.result == "fail" || k.verbose || k.json
	if k.verbose || k.json {
		k.output(s.name, t.name, "=== RUN   "+t.name+"\n")
	}
	if shown {
		k.output(s.name, t.name, fmt.Sprintf("--- %s: %s (%.2fs)\n", strings.ToUpper(t.result), t.name, t.took.Seconds()))
		k.output(s.name, t.name, indented(t.text))
	}
	if t.notice != "" {
		prefix := ""
		if !shown {
			prefix = t.name + ": "
		}
		k.output(s.name, t.name, indented(prefix+t.notice))
	}
	seconds := t.took.Seconds()
	k.event(event{Action: t.result, Package: s.name, Test: t.name, Elapsed: &seconds})
}

// output prints text, one event for each line with -json.
func (k *sink) output(pkg, test, text string) {
	if text == "" {
		return
	}
	if !k.json {
		fmt.Fprint(k.out, text)
		return
	}
	for _, line := range strings.SplitAfter(text, "\n") {
		if line != "" {
			k.event(event{Action: "output", Package: pkg, Test: test, Output: line})
		}
	}
}

func (k *sink) event(e event) {
	if !k.json {
		return
	}
	now := time.Now()
	e.Time = &now
	b, err := json.Marshal(e)
	if err != nil {
		panic(err) // strings and numbers only
	}
	fmt.Fprintf(k.out, "%s\n", b)
}

// indented indents each line of text as package testing does.
func indented(text string) string {
	if text == "" {
		return ""
	}
	var b strings.Builder
	for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if line != "" {
			b.WriteString("    ")
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}
