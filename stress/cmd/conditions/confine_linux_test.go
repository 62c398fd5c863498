package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// fixtureVariable makes the test binary print as a test binary would.
const fixtureVariable = "EVENTIDE_CONDITIONS_FIXTURE"

// fixture prints the output of one test, which says what holds in this process.
func fixture(mode string) int {
	fmt.Printf("%s=== RUN   TestFixture\n", mark)
	if mode == "hang" {
		select {}
	}
	var limit syscall.Rlimit
	var mask unix.CPUSet
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		panic(err)
	}
	if err := unix.SchedGetaffinity(0, &mask); err != nil {
		panic(err)
	}
	wmem, err := sysctl{Name: "net.ipv4.tcp_wmem"}.read()
	if err != nil {
		panic(err)
	}
	fmt.Printf("files %d %d, cpus %d, root %v, wmem %s, TMPDIR %s, GOMAXPROCS %s, PWD %s\n",
		limit.Cur, limit.Max, mask.Count(), os.Geteuid() == 0, wmem, os.Getenv("TMPDIR"), os.Getenv("GOMAXPROCS"), os.Getenv("PWD"))
	fmt.Printf("%s--- PASS: TestFixture (0.00s)\nPASS\n", mark)
	return 0
}

// fixtureCell runs the fixture under c and returns the verdict and the line that it
// printed.
func fixtureCell(t *testing.T, s settings, mode string, c condition) (cell, string) {
	self, err := os.Executable()
	require.NoError(t, err)
	s.out = t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(s.out, "conditions"), 0o777))
	c.Env = append(c.Env, fixtureVariable+"="+mode)
	result := s.cell(t.Context(), binary{Package: "p", path: self, dir: s.out}, c)
	text, err := os.ReadFile(filepath.Join(s.out, "conditions", "p."+c.Name+".txt"))
	require.NoError(t, err)
	_, line, _ := strings.Cut(string(text), "\n")
	return result, line
}

// TestConditionsHold: the process under a condition has it, or the condition is not run.
// Limits, processors and the environment need no privilege, so they are always run.
func TestConditionsHold(t *testing.T) {
	unlimited := settings{timeout: time.Hour, grace: time.Hour}
	for _, c := range table() {
		t.Run(c.Name, func(t *testing.T) {
			inside, end, err := c.surround()
			defer end()
			require.NoError(t, err)
			result, line := fixtureCell(t, unlimited, "hold", inside)
			if result.Verdict == notRun && (len(c.Sysctl) > 0 || c.User || c.Files > 256) {
				require.Contains(t, result.Reason, "the condition could not be set up: ")
				require.Empty(t, line, "the tests run all the same")
				return
			}
			require.Equal(t, pass, result.Verdict, result.Reason)
			if c.Files > 0 {
				require.Contains(t, line, fmt.Sprintf("files %d %d,", c.Files, c.Files))
			}
			if c.OneCPU {
				require.Contains(t, line, "cpus 1,")
			}
			if c.User {
				require.Contains(t, line, "root false,")
			}
			if c.TempDir != "" {
				require.Contains(t, line, "TMPDIR "+filepath.Join(os.TempDir(), c.TempDir))
			}
			for _, s := range c.Sysctl {
				if s.Name == "net.ipv4.tcp_wmem" {
					require.Contains(t, line, "wmem "+s.Value+",")
				}
			}
			for _, e := range c.Env {
				if name, value, _ := strings.Cut(e, "="); name == "GOMAXPROCS" {
					require.Contains(t, line, name+" "+value+",")
				}
			}
		})
	}
}

// TestSocketBuffersLeaveTheMachineAlone: the namespace ends with the run.
func TestSocketBuffersLeaveTheMachineAlone(t *testing.T) {
	of := sysctl{Name: "net.ipv4.tcp_wmem"}
	before, err := of.read()
	require.NoError(t, err)
	fixtureCell(t, settings{timeout: time.Hour}, "hold", condition{Name: "odd", Sysctl: buffers("4096 12345 54321", "4096 12345 54321")})
	after, err := of.read()
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// TestUnsettableIsNotRun: a condition that cannot be set up is not run, and the binary is
// not started.
func TestUnsettableIsNotRun(t *testing.T) {
	for name, c := range map[string]condition{
		"no such parameter":               {Name: "x", Sysctl: []sysctl{{"net.ipv4.no_such_parameter", "1"}}},
		"a value that the kernel changes": {Name: "x", Sysctl: []sysctl{{"net.ipv4.tcp_wmem", "04096 5 6"}}},
		"too many files":                  {Name: "x", Files: 1 << 40},
	} {
		t.Run(name, func(t *testing.T) {
			result, line := fixtureCell(t, settings{timeout: time.Hour}, "hold", c)
			require.Equal(t, notRun, result.Verdict)
			require.Contains(t, result.Reason, "the condition could not be set up: ")
			require.NotContains(t, result.Reason, applied)
			require.Zero(t, result.Passed)
			require.Empty(t, line)
		})
	}
	self, err := os.Executable()
	require.NoError(t, err)
	s := settings{out: filepath.Join(self, "no directory")}
	require.Equal(t, notRun, s.cell(t.Context(), binary{}, condition{}).Verdict, "without a file for the output")
}

// TestBinaryThatCannotBeExecuted: the report of the confined process says so.
func TestBinaryThatCannotBeExecuted(t *testing.T) {
	s := settings{out: t.TempDir(), timeout: time.Hour}
	require.NoError(t, os.MkdirAll(filepath.Join(s.out, "conditions"), 0o777))
	result := s.cell(t.Context(), binary{Package: "p", path: filepath.Join(s.out, "nothing"), dir: s.out}, condition{Name: "x"})
	require.Equal(t, notRun, result.Verdict)
	require.Equal(t, "the condition could not be set up: no such file or directory", result.Reason)
}

// TestHungBinaryIsKilled: a binary that outlives its own timeout fails.
func TestHungBinaryIsKilled(t *testing.T) {
	result, _ := fixtureCell(t, settings{timeout: time.Nanosecond}, "hang", condition{Name: "x"})
	require.Equal(t, fail, result.Verdict)
	require.Equal(t, errHung.Error(), result.Reason)
}

// TestBusyProcessesEnd: a busy process ends with the pipe that holds it, and end ends all
// of them.
func TestBusyProcessesEnd(t *testing.T) {
	busy(strings.NewReader("")) // returns
	end, err := load(2)
	require.NoError(t, err)
	end()
	end, err = load(0)
	require.NoError(t, err)
	end()
}
