package exectest_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"eventide/props/exectest"
)

// TestCheckOutsideTests builds and runs a program that is no test and calls
// Check, as its bubbles need a *testing.T that nobody gives them there.
func TestCheckOutsideTests(t *testing.T) {
	out, err := exec.Command("go", "run", "./testdata/outside").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	want := []string{"G2   pass", "G6   not supported", "G10  FAIL"}
	if len(lines) != len(want) {
		t.Fatalf("got\n%s\nwant %d lines", out, len(want))
	}
	for i, line := range lines {
		if !strings.HasPrefix(line, want[i]) {
			t.Errorf("got %q, want it to begin with %q", line, want[i])
		}
	}
}

// asChild is set in the process that TestRunReports starts.
const asChild = "EXECTEST_CHILD"

// TestRunReports starts this test binary again for a broken executor, and reads
// what a user would: the failure with its line to paste, and what was skipped.
func TestRunReports(t *testing.T) {
	if os.Getenv(asChild) != "" {
		exectest.Run(t, bare(reorders), exectest.Only("G2", "G4", "G6"))
		return
	}
	child := exec.Command(os.Args[0], "-test.run=^TestRunReports$", "-test.v")
	child.Env = append(os.Environ(), asChild+"=1")
	out, err := child.CombinedOutput()
	if err == nil {
		t.Errorf("a broken executor does not fail the test:\n%s", out)
	}
	for _, want := range []string{
		"--- PASS: TestRunReports/G2", "--- FAIL: TestRunReports/G4", "--- SKIP: TestRunReports/G6",
		"G4 tasks begin in the order submitted: task", "not supported: Hooker",
		"replay  go test -run '^TestRunReports$/^G4$'",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("got\n%s\nwant it to contain %q", out, want)
		}
	}
}
