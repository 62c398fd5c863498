package process

import (
	"os"
	"syscall"
)

var defaultSignals = []os.Signal{os.Interrupt}

// catchable describes the signals for which isCatchable is true.
const catchable = "a syscall.Signal from 1 to 64, but not SIGKILL"

// isCatchable reports whether signal.Notify accepts sig. Notify ignores other signals
// without an error.
func isCatchable(sig os.Signal) bool {
	number, ok := sig.(syscall.Signal)
	return ok && 1 <= number && number <= 64 && number != syscall.SIGKILL
}

func signalNumber(sig os.Signal) int {
	number, _ := sig.(syscall.Signal)
	return int(number)
}

// surviveBrokenPipes does nothing: there is no SIGPIPE.
func surviveBrokenPipes() (stop func()) { return func() {} }
