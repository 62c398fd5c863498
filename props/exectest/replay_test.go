package exectest_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// goTest runs a line of shell in the directory and returns what it printed.
func goTest(t *testing.T, dir, line string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Errorf("%s in %s: got a pass, want a failure:\n%s", line, dir, out)
	}
	return string(out)
}

var replayLine = regexp.MustCompile(`(?m)^\s*replay  (.*)$`)

// TestTheReplayLineWorks pastes the line of each kind of failure into a shell, at the
// root of the module and elsewhere in it, and wants the same failure.
func TestTheReplayLineWorks(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a test binary for each line")
	}
	for test, want := range map[string]string{
		"TestProgram":   "G3 accepted tasks run before done: task",
		"TestHammer":    "accepted and never ran",
		"TestElsewhere": "G3 accepted work runs at most once: timer",
		"TestHung":      "a run did not come to rest",
		"TestDeclared":  "G14 a panic in a task kills the process (declared, not tried)",
		"TestPanic":     "a panic planted in a task has escaped the executor",
		"TestNames":     "G3 accepted tasks run before done: task",
	} {
		t.Run(test, func(t *testing.T) {
			t.Parallel()
			out := goTest(t, ".", "go test -run '^"+test+"$' ./testdata/failing")
			lines := replayLine.FindAllStringSubmatch(out, -1)
			if len(lines) == 0 {
				t.Fatalf("got no line to paste:\n%s", out)
			}
			for _, line := range lines {
				for _, dir := range []string{".", "../.."} {
					again := goTest(t, dir, line[1])
					if !strings.Contains(again, want) || strings.Contains(again, "index out of range") {
						t.Errorf("%s in %s: got\n%s\nwant %q", line[1], dir, again, want)
					}
				}
			}
		})
	}
}
