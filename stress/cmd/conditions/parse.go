package main

import (
	"bufio"
	"io"
	"slices"
	"strings"
)

// tests is what the output of a test binary says, run with -test.v=test2json. That
// format marks the lines of package testing, so that a test may print what it likes.
type tests struct {
	Passed, Failed, Skipped []string
	Unfinished              []string // begun, and without a verdict: where it crashed or hung
	Why                     string   // the first line that explains a failure without a test
}

// mark precedes each line of package testing.
const mark = "\x16"

// explanations begin the lines that explain an exit without a failed test.
var explanations = []string{"panic: ", "fatal error: ", "goleak: ", "WARNING: DATA RACE", "testing: ", "flag provided "}

func parseTests(output io.Reader) (t tests, err error) {
	begun := map[string]bool{}
	r := bufio.NewReader(output)
	for err == nil {
		var line string
		line, err = r.ReadString('\n')
		t.line(strings.TrimSuffix(line, "\n"), begun)
	}
	for name, unfinished := range begun {
		if unfinished {
			t.Unfinished = append(t.Unfinished, name)
		}
	}
	slices.Sort(t.Skipped) // a test may run its subtests in any order
	slices.Sort(t.Unfinished)
	t.Failed, t.Unfinished = leaves(t.Failed), leaves(t.Unfinished)
	if err == io.EOF {
		err = nil
	}
	return t, err
}

func (t *tests) line(line string, begun map[string]bool) {
	if at := strings.LastIndex(line, mark); at >= 0 {
		t.frame(strings.TrimLeft(line[at+len(mark):], " "), begun)
		return
	}
	if t.Why == "" && slices.ContainsFunc(explanations, func(e string) bool { return strings.HasPrefix(line, e) }) {
		t.Why = line
	}
}

// frame reads a line of package testing.
func (t *tests) frame(line string, begun map[string]bool) {
	if name, ok := strings.CutPrefix(line, "=== RUN   "); ok {
		begun[name] = true
		return
	}
	for prefix, list := range map[string]*[]string{"--- PASS: ": &t.Passed, "--- FAIL: ": &t.Failed, "--- SKIP: ": &t.Skipped} {
		if rest, ok := strings.CutPrefix(line, prefix); ok {
			name, _, _ := strings.Cut(rest, " (")
			*list = append(*list, name)
			begun[name] = false
		}
	}
}

// leaves drops a test of which a subtest is in the list too.
func leaves(list []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(name string) bool {
		return slices.ContainsFunc(list, func(other string) bool { return strings.HasPrefix(other, name+"/") })
	})
}
