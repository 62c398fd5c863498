package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"eventide/props/interleave/driver"
)

// The test writes the number of its process into a pipe, which has an end of file when
// all processes that hold it have ended.
const endless = `package x

import (
	"fmt"
	"os"
	"testing"
)

func TestEndless(t *testing.T) {
	f, err := os.OpenFile(os.Getenv("PIPE"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(f, os.Getpid())
	f.Close()
}
`

// An interrupt ends the command and its test processes. So does the death of the
// command, by which the test processes lose the reader of their records.
func TestInterrupt(t *testing.T) {
	bin := installed(t)
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		dir := module(t, "x_test.go", endless)
		pipe := dir + "/pipe"
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(bin, "test", "-budget", "1h", "-timeout", "2h")
		cmd.Env = append(os.Environ(), "PIPE="+pipe)
		pid, wait, err := controlled(cmd, pipe)
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		err = wait()
		var exit *exec.ExitError
		if sig == syscall.SIGINT && (!errors.As(err, &exit) || exit.ExitCode() != driver.ExitUndecided) {
			t.Errorf("%v: %v, want exit code %d", sig, err, driver.ExitUndecided)
		}
		for syscall.Kill(pid, 0) == nil && !zombie(pid) {
			drain(pipe) // until the process is gone; the test's own timeout bounds it
		}
	}
}

// A command that ends before a test process has written to the pipe is an error.
func TestInterruptOfNothing(t *testing.T) {
	bin := installed(t)
	pipe := module(t, "x_test.go", endless) + "/pipe"
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if pid, _, err := controlled(exec.Command(bin, "test", "-run", "TestNone"), pipe); err == nil {
		t.Errorf("process %d, want an error", pid)
	}
}

// controlled starts the command, and returns the number of the test process that has
// run the test more than often, and what waits for the end of the command. If the
// command ends first, that is an error.
func controlled(cmd *exec.Cmd, pipe string) (pid int, wait func() error, err error) {
	f, err := os.OpenFile(pipe, os.O_RDWR, 0) // has no end of file: closing it ends the reading
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	if err := cmd.Start(); err != nil {
		return 0, nil, err
	}
	ended := make(chan error, 1)
	go func() {
		ended <- cmd.Wait()
		f.Close()
	}()
	last, times := "", 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if lines.Text() != last {
			last, times = lines.Text(), 0
		}
		if times++; times == 50 {
			break
		}
	}
	if times < 50 {
		return 0, nil, fmt.Errorf("%v ended, and process %q had run the test %d times: %v", cmd.Args, last, times, <-ended)
	}
	pid, err = strconv.Atoi(last)
	return pid, func() error { return <-ended }, err
}

// drain reads what is in the pipe, so that its writers go on.
func drain(pipe string) {
	f, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err == nil {
		f.Read(make([]byte, 1<<16))
		f.Close()
	}
}

// zombie says whether a process has ended and its parent has not waited for it: a
// container's first process may never do so.
func zombie(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || strings.Contains(string(b), ") Z ")
}
