package measure

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// callsEnv is the variable that turns the test binary into a program; its value is the number
// of system calls to make.
const callsEnv = "GATE_TEST_CALLS"

// TestProgram is the program; it does nothing in a plain test run.
func TestProgram(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv(callsEnv))
	for range n {
		syscall.Getppid()
	}
}

// TestCountsSystemCalls: 1000 more calls raise the count by 1000, on any thread.
func TestCountsSystemCalls(t *testing.T) {
	counted := func(calls int) int {
		cmd := exec.Command(os.Args[0], "-test.run=^TestProgram$")
		cmd.Env = append(append(os.Environ(), quietEnv...), callsEnv+"="+strconv.Itoa(calls))
		output, err := os.Create(t.TempDir() + "/output")
		require.NoError(t, err)
		defer output.Close()
		cmd.Stdout, cmd.Stderr = output, output
		c := &syscallCounter{}
		require.NoError(t, trace(t.Context(), cmd, c))
		return c.calls
	}
	require.InDelta(t, 1000, counted(1500)-counted(500), 50)
}

// TestTraceEnds: a process that fails is an error, and a cancelled context ends a process that
// would not end by itself.
func TestTraceEnds(t *testing.T) {
	require.ErrorContains(t, trace(t.Context(), exec.Command("sh", "-c", "exit 3"), &syscallCounter{}), "exit code 3")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, trace(ctx, exec.Command("sleep", "1000"), &syscallCounter{}), context.Canceled)
}

// TestNoCounterIsSaid: instructions are counted, or the error says why not.
func TestNoCounterIsSaid(t *testing.T) {
	if err := InstructionsMissing(); err != nil {
		require.Regexp(t, "no counter|does not let|perf_event_open", err.Error())
	}
}
