package release

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"eventide/bench/gate/measure"
	"eventide/props/lane"
)

// testEvent is a line of go test -json.
type testEvent struct {
	Action, Package, Test, Output string
}

// testName is a test of a package; test is empty for the events of the package itself.
type testName struct{ pkg, test string }

// testLog is the output of a failed go test -json.
type testLog struct {
	output map[testName]string
	failed map[testName]bool
	others string // output of no test: a build that failed, and lines that are no JSON
}

func readTestLog(out []byte) testLog {
	l := testLog{output: map[testName]string{}, failed: map[testName]bool{}}
	for line := range bytes.Lines(out) {
		var e testEvent
		if json.Unmarshal(line, &e) != nil {
			l.others += string(line)
			continue
		}
		key := testName{e.Package, e.Test}
		switch e.Action {
		case "output":
			l.output[key] += e.Output
		case "fail":
			l.failed[key] = true
		case "build-output":
			l.others += e.Output
		}
	}
	return l
}

// leaves are the tests that failed and have no subtest that did, and packages that
// failed without a failing test.
func (l testLog) leaves() []testName {
	parents := map[testName]bool{}
	for name := range l.failed {
		if name.test != "" {
			parents[testName{name.pkg, ""}] = true
		}
		for i, c := range name.test {
			if c == '/' {
				parents[testName{name.pkg, name.test[:i]}] = true
			}
		}
	}
	var leaves []testName
	for name := range l.failed {
		if !parents[name] {
			leaves = append(leaves, name)
		}
	}
	slices.SortFunc(leaves, func(a, b testName) int {
		return cmp.Or(cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.test, b.test))
	})
	return leaves
}

// complaint matches the message of a property whose programs met the premise too seldom. A
// property that found a violation does not print it.
var complaint = regexp.MustCompile(`(?m)^\s+\w+_test\.go:\d+: (` + lane.NotExercised + `.*)$`)

// verdict returns NotRun if only properties failed whose programs met the premise too seldom, and
// Failed otherwise, with the messages of the failed tests.
func (l testLog) verdict() (Verdict, string) {
	var seldom []string
	text := l.others
	for _, name := range l.leaves() {
		out := l.output[name]
		if m := complaint.FindStringSubmatch(out); m != nil {
			seldom = append(seldom, m[1])
			continue
		}
		text += strings.TrimSpace("FAIL "+name.pkg+" "+name.test) + "\n" + out
	}
	if text == "" && len(seldom) > 0 {
		return NotRun, strings.Join(seldom, "; ")
	}
	return Failed, measure.Tail([]byte(text))
}
