package peers

import (
	"runtime"
	"runtime/debug"
	"time"

	"eventide/bench"
)

// An executor is what the Go implementations have in common: the one of package bench.
// What was accepted has run when Close returns, if the implementation keeps that
// promise.
type executor = bench.Executor

// A parker can tell how often its loop has fallen asleep.
type parker interface{ Parks() int64 }

// An impl is one Go implementation, by what it offers.
type impl struct {
	version string
	open    func() (executor, error)                  // nil: no tasks
	timers  func() (timers, error)                    // nil: no timers
	quiet   func(quiet time.Duration) (func(), error) // an idle loop; the function shuts it down and waits
	echo    func() (echoServer, error)                // nil: no TCP server

	// Reasons for what is nil, by "tasks", "timers", "quiet", "echo"; and for
	// what the tasks cannot do: "inloop", "backlog".
	lacks map[string]string

	// slowStop: a shutdown takes so long that one per slice has to do, and that
	// the executor that tasks are measured on is kept from slice to slice.
	slowStop bool
	kept     *executor
}

func (im impl) why(what string) string {
	if reason, ok := im.lacks[what]; ok {
		return reason
	}
	return "no " + what
}

// goImpls are the implementations of the driver that this program is.
func goImpls() map[string]impl {
	return map[string]impl{
		"core":               coreImpl(),
		"core-own":           coreOwnImpl(),
		"core-pool":          corePoolImpl(),
		"core-loop":          coreLoopImpl(),
		"core-loop-blocking": coreBlockingImpl(),
		"channel":            channelImpl(),
		"afterfunc":          afterFuncImpl(),
		"gnet":               gnetImpl(),
		"ants":               antsImpl(),
		"pond":               pondImpl(),
		"net":                netImpl(),
	}
}

// moduleVersion returns the version of a module that this program was built with.
func moduleVersion(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, m := range info.Deps {
		if m.Path != path {
			continue
		}
		return m.Version
	}
	return "unknown"
}

func goVersion() string { return runtime.Version() }
