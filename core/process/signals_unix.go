//go:build unix

package process

import (
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

var defaultSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}

// catchable describes the signals for which isCatchable is true.
const catchable = "a syscall.Signal from 1 to 64, but not SIGKILL, SIGSTOP or SIGPROF, nor, on Linux, 32 to 34"

// isCatchable reports whether signal.Notify can deliver sig. Notify itself ignores other
// signals without an error.
func isCatchable(sig os.Signal) bool {
	number, ok := sig.(syscall.Signal)
	return ok && 1 <= number && number <= 64 && !isTaken(number)
}

// isTaken reports whether no Go program can catch a signal. The kernel reserves SIGKILL and
// SIGSTOP. The profiler of the Go runtime takes every SIGPROF (sigenable). On Linux the
// runtime leaves 32 to 34 to the threads of a C library (sigtable); without a C library
// these signals kill the process.
func isTaken(number syscall.Signal) bool {
	switch number {
	case syscall.SIGKILL, syscall.SIGSTOP, syscall.SIGPROF:
		return true
	}
	onLinux := runtime.GOOS == "linux" || runtime.GOOS == "android"
	return onLinux && 32 <= number && number <= 34
}

// signalNumber returns the number that the exit code adds to 128.
func signalNumber(sig os.Signal) int {
	number, _ := sig.(syscall.Signal)
	return int(number)
}

// surviveBrokenPipes makes a write to a closed standard output or error return EPIPE instead
// of killing the process, until stop is called. It subscribes to SIGPIPE with a channel that
// is never read. The tempting signal.Ignore is wrong: child processes would inherit it, and
// only signal.Reset undoes it, for the whole program. If the program already ignores SIGPIPE,
// surviveBrokenPipes does nothing, because signal.Stop would end the ignoring.
func surviveBrokenPipes() (stop func()) {
	if signal.Ignored(syscall.SIGPIPE) {
		return func() {}
	}
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)
	return func() { signal.Stop(pipes) }
}
