//go:build unix

package process

import (
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

var defaultSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}

// catchable says what isCatchable holds of.
const catchable = "a syscall.Signal from 1 to 64, but not SIGKILL, SIGSTOP or SIGPROF, nor, on Linux, 32 to 34"

// isCatchable reports whether signal.Notify can deliver sig. What it cannot, it
// ignores without an error.
func isCatchable(sig os.Signal) bool {
	number, ok := sig.(syscall.Signal)
	return ok && 1 <= number && number <= 64 && !isTaken(number)
}

// isTaken reports whether a signal belongs to somebody who lets no program have it:
// the kernel; the Go runtime, whose profiler takes every SIGPROF (sigenable); or the
// threads of a C library, for which the runtime leaves 32 to 34 on Linux as they are
// (sigtable), so that without one they kill the process.
func isTaken(number syscall.Signal) bool {
	switch number {
	case syscall.SIGKILL, syscall.SIGSTOP, syscall.SIGPROF:
		return true
	}
	onLinux := runtime.GOOS == "linux" || runtime.GOOS == "android"
	return onLinux && 32 <= number && number <= 34
}

// signalNumber returns what the shell adds to 128.
func signalNumber(sig os.Signal) int {
	number, _ := sig.(syscall.Signal)
	return int(number)
}

// surviveBrokenPipes makes a write to a closed standard output or error return
// EPIPE instead of killing the process, until stop is called. The channel is
// never read. signal.Ignore would be inherited by child processes, and only
// signal.Reset undoes it, for everybody; if somebody ignores it already, nothing
// is to be done, and Stop would undo that.
func surviveBrokenPipes() (stop func()) {
	if signal.Ignored(syscall.SIGPIPE) {
		return func() {}
	}
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)
	return func() { signal.Stop(pipes) }
}
