package process

import (
	"os"
	"syscall"
)

var defaultSignals = []os.Signal{os.Interrupt}

func isUncatchable(sig os.Signal) bool { return sig == os.Kill }

func signalNumber(sig os.Signal) int {
	number, _ := sig.(syscall.Signal)
	return int(number)
}

// surviveBrokenPipes does nothing: there is no SIGPIPE.
func surviveBrokenPipes() (stop func()) { return func() {} }
