package model

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tester is what *testing.T and *rapid.T have in common here.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

func equal[T comparable](t tester, got, want T, what string) {
	t.Helper()
	if got != want {
		t.Fatalf("%s:\n got %v\nwant %v", what, got, want)
	}
}

func noError(t tester, err error, what string) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// calls0 is what every set of bounds in these tests allows.
var calls0 = Bounds{Producers: 1, Quiet: true, Timeout: true, Graceful: true, Shutdown: true, InBody: true, Cancel: true}

// queueBounds has everything about tasks, and a bounded queue.
func queueBounds() Bounds {
	b := calls0
	b.Tasks, b.Tails, b.Hooks, b.Limit = 2, 1, 1, 1
	b.Lazy, b.Panics, b.StartFailures, b.LoopFailure, b.Observe = true, true, true, true, true
	return b
}

// timerBounds has everything about timers, under policy p.
func timerBounds(p TimerPolicy) Bounds {
	b := calls0
	b.Tasks, b.Timers, b.Periodic, b.Hooks, b.Policy = 1, 1, 1, 1, p
	b.Panics, b.LoopFailure = true, true
	return b
}

// hookBounds has long chains of hooks.
func hookBounds() Bounds {
	b := calls0
	b.Tasks, b.Hooks = 1, 3
	b.Panics = true
	return b
}

// channelBounds has everything about registrations, one of each sort and nothing
// beside them.
func channelBounds() Bounds {
	b := calls0
	b.FDs, b.Channels = 1, 1
	b.Panics, b.Lost, b.StartFailures, b.LoopFailure, b.Observe = true, true, true, true, true
	return b
}

// tailBounds has a queue of tasks and tail tasks without a limit.
func tailBounds() Bounds {
	b := calls0
	b.Tasks, b.Tails, b.Hooks = 2, 2, 1
	return b
}
