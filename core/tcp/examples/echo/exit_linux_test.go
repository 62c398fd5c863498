package main

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"eventide/core/internal/coretest/underload"
)

// command is the server as a process of its own. A hang becomes a failure.
func command(t *testing.T, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return underload.Command(ctx, args...)
}

// TestPortIsTaken: the server ends, prints the error, and its exit code is not 0.
func TestPortIsTaken(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	cmd := command(t, "-addr", taken.Addr().String())
	var log strings.Builder
	cmd.Stderr = &log
	_ = cmd.Run()
	if got := cmd.ProcessState.ExitCode(); got != 1 {
		t.Errorf("the exit code is %d (%v), want 1", got, cmd.ProcessState)
	}
	if text := log.String(); !strings.Contains(text, "level=ERROR") || !strings.Contains(text, syscall.EADDRINUSE.Error()) {
		t.Errorf("the log says no error %q:\n%s", syscall.EADDRINUSE, text)
	}
}

// TestNobodyReadsTheOutput: a pipe that is closed does not change the exit code. SIGPIPE
// kills a program that writes to it after Run.
func TestNobodyReadsTheOutput(t *testing.T) {
	cmd := command(t)
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil { // it listens, and waits for signals
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != 0 {
		t.Errorf("the server ended with %v, want exit code 0; its log is\n%s", cmd.ProcessState, log.String())
	}
}
