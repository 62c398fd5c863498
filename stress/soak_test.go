package stress

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestSoakInterrupted sends SIGINT to a soak of an hour: it ends at once, has
// passed so far, and prints its totals.
func TestSoakInterrupted(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestShutdownsUnderLoad$", "-test.v", "-test.timeout=0")
	cmd.Env = append(os.Environ(), "EVENTIDE_SOAK=1h")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		all.WriteString(lines.Text() + "\n")
		if strings.HasPrefix(lines.Text(), "soak: ") {
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Error(err)
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the interrupted soak: %v, want a normal end", err)
	}
	for _, want := range []string{"--- PASS: TestShutdownsUnderLoad", " shutdowns under 64 producers in ", "accepted after the call"} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, all.String())
		}
	}
}
