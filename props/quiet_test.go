package props

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A failure is not buried in the log of the programs' own executors, many of which panic or
// pass their timeout: by default core logs each of these. One planted bug had two megabytes
// of it for 80 kB of failures.
func TestProgramsAreSilent(t *testing.T) {
	out, err := exec.Command(os.Args[0], "-test.short", "-test.v", "-test.run=^TestPropLoopsAndChildrenConform$/^event_loop$/^(G11|G14)$").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: TestPropLoopsAndChildrenConform/event_loop/G14")
	for line := range strings.Lines(string(out)) {
		require.NotRegexp(t, " (WARN|ERROR) ", line, "an executor of a program logs to the output of the test")
	}
}
