package props

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A failure is not buried in the log of the programs' own executors, many of which panic or
// pass their timeout: by default core logs each of these. One planted bug had two megabytes
// of it for 80 kB of failures.
func TestProgramsAreSilent(t *testing.T) {
	out, err := exec.Command(os.Args[0], "-test.short", "-test.v", "-test.run=^TestPropLoopsAndChildrenConform$/^event_loop$/^(G11|G14)$").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if text := string(out); !strings.Contains(text, "--- PASS: TestPropLoopsAndChildrenConform/event_loop/G14") {
		t.Errorf("G14 did not run:\n%s", text)
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, " WARN ") || strings.Contains(line, " ERROR ") {
			t.Fatalf("an executor of a program logs to the output of the test: %.200s", line)
		}
	}
}
