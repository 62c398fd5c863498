//go:build unix

package process

import (
	"os"
	"os/signal"
	"syscall"
)

var defaultSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}

func isUncatchable(sig os.Signal) bool { return sig == syscall.SIGKILL || sig == syscall.SIGSTOP }

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
