package runner

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestKillTreeKillsDescendants: a program that a program has started is killed with it,
// although it is not of its process group.
func TestKillTreeKillsDescendants(t *testing.T) {
	switch os.Getenv("EVENTIDE_RUNNER_TREE") {
	case "first":
		second := exec.Command(os.Args[0], "-test.run", "^TestKillTreeKillsDescendants$")
		second.Env = append(os.Environ(), "EVENTIDE_RUNNER_TREE=second")
		second.Stdout = os.Stdout
		second.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		require.NoError(t, second.Run())
	case "second":
		_, _ = os.Stdout.WriteString(strconv.Itoa(os.Getpid()) + "\n")
		select {}
	}
	first := exec.Command(os.Args[0], "-test.run", "^TestKillTreeKillsDescendants$")
	first.Env = append(os.Environ(), "EVENTIDE_RUNNER_TREE=first")
	out, err := first.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, first.Start())
	in := bufio.NewReader(out)
	line, err := in.ReadString('\n')
	require.NoError(t, err)
	second, err := strconv.Atoi(strings.TrimSpace(line))
	require.NoError(t, err)
	require.Contains(t, descendants(first.Process.Pid), second)
	killTree(first.Process.Pid)
	_, err = in.ReadString('\n') // the output is closed when both have ended
	require.Error(t, err)
	require.Error(t, first.Wait())
}

// TestTheLimitDoesNotCountBuilds: while a process of the go command is among the
// descendants, the limit does not come nearer.
func TestTheLimitDoesNotCountBuilds(t *testing.T) {
	shell, err := os.ReadFile("/bin/sh")
	require.NoError(t, err)
	compiler := filepath.Join(t.TempDir(), "compile")
	require.NoError(t, os.WriteFile(compiler, shell, 0o755))
	cmd := exec.Command("/bin/sh", "-c", compiler+" -c 'echo begun; sleep 1; echo built'; sleep 600")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	in := bufio.NewReader(out)
	line, err := in.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "begun\n", line)
	stop := killAfter(cmd.Process.Pid, 10*time.Millisecond)
	line, err = in.ReadString('\n')
	require.NoError(t, err, "killed while it built")
	require.Equal(t, "built\n", line)
	_, err = in.ReadString('\n')
	require.Error(t, err) // killed
	require.Error(t, cmd.Wait())
	require.True(t, stop())
}
