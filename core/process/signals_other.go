//go:build !unix && !windows

package process

import "os"

var defaultSignals = []os.Signal{os.Interrupt}

// catchable describes the signals for which isCatchable is true.
const catchable = "not os.Kill"

func isCatchable(sig os.Signal) bool { return sig != os.Kill }

// signalNumber is 0: signals have no numbers that every such system agrees on.
func signalNumber(os.Signal) int { return 0 }

// surviveBrokenPipes does nothing: there is no SIGPIPE.
func surviveBrokenPipes() (stop func()) { return func() {} }
