package props

import (
	"strings"
)

// unmadeContexts are those from which no program makes any call, and why.
var unmadeContexts = map[string]string{
	"tracer": "it must not call: the tracer is called with the executor's lock held",
	"function of WithGoroutineStart, clock, poller, source of a jitter": "the harness gives the executor its own, which only record; the clock also calls State",
	"logger":           "it makes the calls that Executor.State stands for, and adds a listener when the loop has failed; the log does not show where it is called",
	"rejected-handler": "programs with retries have BackOff, which is of core",
}

// unmade are the calls that no program makes at a place that the table shows, and why.
var unmade = map[string]string{
	"NewPool": "makes the pool of each program that has one", "NewEventLoop": "makes the event loop of each program that has one",
	"Meter.Close":        "called at the end of each program that has a meter",
	"WithGoroutineStart": "every program, except those on the runtime's clock",
	"NewGroup":           "event loops in groups are in core's tests; the programs of G21 have groups of executors", "NewExecutorGroup": "makes the group of each program of G21",
	"NewParkPoller": "sleeps inside the scripted poller of each program", "NewReadiness": "makes the events of the scripted poller",
	"BackOff": "is the rejected-handler of programs with retries", "RefuseWhenFull": "is the default: programs without retries have it",
	"Termination.Wait": "called at the end of each program",
	"NewTermination":   "the tests of core/blocking and core/tracked, whose groups are made with it",
	"EventKind.String": "text for people", "PanicError.Error": "text for people", "RejectedError.Error": "text for people",
	"PanicError.Unwrap": "core's tests", "RejectedError.Unwrap": "by errors.Is, in the answer of each call",
	"Report.Plus": "the programs of G21 compare sums", "Stats.Plus": "the programs of G21",
	"WithBlockingEpoll": "programs of the lane sockets, over a modelled kernel", "WithSpin": "every program of the lane real, from none to 10 ms: only the poller of epoll spins", "WithIORatio": "every program with an event loop",
	"WithClock": "every program of lane virtual, except those on the runtime's clock", "WithDrain": "every program with an event loop", "WithLogger": "every program; core's tests check what is logged",
	"WithMaxPendingTasks": "programs with a bounded queue", "WithName": "core's tests", "WithPanicHandler": "programs with a panic handler", "WithPoller": "every program with an event loop, and executors over a poller that fails",
	"WithRejectedHandler": "programs with retries", "WithSpawner": "every program", "WithTimerJitter": "programs with jitter", "WithTimersAtShutdown": "every program", "WithTracer": "every program",
}

// unmadeTypes are the types with methods that no program calls at a place, and why.
var unmadeTypes = map[string]string{
	"Body": wordOfLog, "Op": wordOfLog, "Outcome": wordOfLog,
	"State":       "answers of State, compared as numbers; its text: the tests of internal/vocabulary",
	"DrainPolicy": wordOfOption, "TimersAtShutdown": wordOfOption,
	"Deadline":    "is time.Time, of the standard library: channels of programs compare what Drain gets with the shutdown call",
	"Readiness":   "a value that the poller makes: core's tests, and handlers of the lane sockets",
	"Interest":    "a value for text: core's tests",
	"ClosedError": "an error of core/tcp and core/blocking, compared by the lane sockets",
}

const (
	wordOfLog    = "a word of events, with its text: the log of each program, and the tests of internal/vocabulary"
	wordOfOption = "a value of an option, with its text: the files of programs, and the tests of internal/vocabulary"
)

// whyUnmade returns why no program makes the call at a place, or "".
func whyUnmade(call string) string {
	if of, _, is := strings.Cut(call, "."); is && unmadeTypes[of] != "" {
		return unmadeTypes[of]
	}
	return unmade[call]
}

// possible are the states in which programs make calls from a context: see statesOf.
var possible = map[string]string{
	"goroutine": "NSDXT", inSpawner: "NSDX", "task": "SDX", "tail": "SDX", "timer": "SDX", "readiness": "SDX",
	"listener": "SDXT", "hook": "DX", "channel": "DX",
	"panic handler": "SDXT", "post": "SDX", "close listener": "SDXT", "end listener": "T", onOtherLoop: "NSDXT",
}

// impossible are cells of the table that no program has, by a prefix of the call, with the context, the
// states, and why.
var impossible = []struct{ call, context, states, why string }{
	{"Pool.", "tail", stateLetters, "a pool has no turns"},
	{"Pool.", "readiness", stateLetters, "a pool has no descriptors"},
	{"Pool.", "channel", stateLetters, "a pool has no channels"},
	{"Pool.", "post", stateLetters, "a pool has no descriptors"},
	{"Pool.", "close listener", stateLetters, "a pool has no descriptors"},
	{"Group.", "readiness", stateLetters, noLoops}, {"Group.", "channel", stateLetters, noLoops},
	{"Group.", "post", stateLetters, noLoops}, {"Group.", "close listener", stateLetters, noLoops},
	{"Timer.", "goroutine", "N", startsTheLoop}, {"Timer.", inSpawner, "N", startsTheLoop}, {"Timer.", onOtherLoop, "N", startsTheLoop},
	{"Registration.", "goroutine", "N", startsTheLoop}, {"Registration.", inSpawner, "N", startsTheLoop}, {"Registration.", onOtherLoop, "N", startsTheLoop},
}

const noLoops = "groups of programs have no event loops: NewGroup refuses WithPoller, and a loop that sleeps in epoll holds virtual time up"

const startsTheLoop = "there is none before the loop has started: the call that makes one starts it"

// cell returns the letters of the states in which programs make the call from the context.
func cell(call, context string) string {
	letters := possible[context]
	for _, not := range impossible {
		if strings.HasPrefix(call, not.call) && context == not.context {
			letters = strings.Map(func(r rune) rune {
				if strings.ContainsRune(not.states, r) {
					return -1
				}
				return r
			}, letters)
		}
	}
	return letters
}
