package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"os"
	"strings"
	"testing"

	"eventide/props/interleave/driver"
)

// A result is shown when the tests before it have theirs, not at the end of the package.
func TestResultsAreShownAtOnce(t *testing.T) {
	module(t, "x_test.go", "package x\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n\nfunc TestB(t *testing.T) {}\n")
	var out bytes.Buffer
	code, err := driver.Test(driver.Options{Schedules: 5, Exhaust: -1, Seed: 1, Processes: 1, Verbose: true, Stdout: &out, Stderr: &out,
		Report: func(r driver.Report) {
			if shown := strings.Contains(out.String(), "--- PASS: TestA"); shown != (r.Test == "TestB") {
				t.Errorf("at the end of %s there is\n%s", r.Test, out.String())
			}
		}})
	if code != driver.ExitNothing || err != nil {
		t.Errorf("exit code %d, %v\n%s", code, err, out.String())
	}
}

// What -json prints and -junit writes has each test with its result, and the report of a finding.
func TestEvents(t *testing.T) {
	module(t, "x_test.go", lost, "y_test.go", `package x

import "testing"

func TestPasses(t *testing.T) {}

func TestSkips(t *testing.T) { t.Skip("because it is late") }
`)
	_, out := call(t, "test", "-json", "-schedules", "100", "-junit", "junit.xml")
	actions := map[string]bool{}
	for line := range strings.Lines(out) {
		var e struct{ Action, Package, Test, Output string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		actions[e.Action+" "+e.Test] = true
	}
	for _, a := range []string{"start ", "run TestLost", "output TestLost", "fail TestLost", "pass TestPasses", "skip TestSkips", "fail "} {
		if !actions[a] {
			t.Errorf("no event %q in %v", a, actions)
		}
	}
	b, err := os.ReadFile("junit.xml")
	if err != nil {
		t.Fatal(err)
	}
	var suites struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Skipped  int `xml:"skipped,attr"`
		Cases    []struct {
			Class   string `xml:"classname,attr"`
			Name    string `xml:"name,attr"`
			Failure *struct {
				Message string `xml:"message,attr"`
				Text    string `xml:",chardata"`
			} `xml:"failure"`
			Skipped *struct {
				Message string `xml:"message,attr"`
			} `xml:"skipped"`
		} `xml:"testsuite>testcase"`
	}
	if err := xml.Unmarshal(b, &suites); err != nil || suites.Tests != 3 || suites.Failures != 1 || suites.Skipped != 1 || len(suites.Cases) != 3 {
		t.Fatalf("JUnit: %v, %+v\n%s", err, suites, b)
	}
	for _, c := range suites.Cases {
		failed, skipped := c.Name == "TestLost", c.Name == "TestSkips"
		if c.Class != "example.com/x" || (c.Failure != nil) != failed || (c.Skipped != nil) != skipped {
			t.Errorf("JUnit: %+v\n%s", c, b)
		}
		if failed && (!strings.Contains(c.Failure.Message, "failed") || !strings.Contains(c.Failure.Text, "1 updates of 2") || !strings.Contains(c.Failure.Text, "replay: interleave replay")) {
			t.Errorf("JUnit: the failure is %+v", c.Failure)
		}
		if skipped && !strings.Contains(c.Skipped.Message, "it skips itself") {
			t.Errorf("JUnit: %s is skipped for %q", c.Name, c.Skipped.Message)
		}
	}
}
