package runner

import (
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestKillAbove: a process that has more memory than it may have is killed, another is not.
func TestKillAbove(t *testing.T) {
	if os.Getenv("EVENTIDE_RUNNER_HOG") != "" {
		hog := make([]byte, 64<<20)
		for i := range hog {
			hog[i] = 1
		}
		_, _ = os.Stdout.WriteString("full")
		_, _ = io.Copy(io.Discard, os.Stdin) // until the parent closes it, or kills
		_ = hog
		return
	}
	for most, want := range map[int64]bool{32 << 20: true, 1 << 40: false} {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestKillAbove$")
		cmd.Env = append(os.Environ(), "EVENTIDE_RUNNER_HOG=1")
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		_, err = io.ReadFull(out, make([]byte, len("full")))
		require.NoError(t, err)
		stop := KillAbove(cmd.Process, most)
		if want {
			_, _ = io.Copy(io.Discard, out) // it ends only by the kill
		} else {
			require.NoError(t, in.Close())
			_, _ = io.Copy(io.Discard, out)
		}
		_ = cmd.Wait()
		require.Equal(t, want, stop())
	}
}
