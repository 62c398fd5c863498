package core_test

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"

	"pgregory.net/rapid"
)

var errWake = errors.New("the poller cannot wake")

// wakeFault is what a call of Wake does: it wakes the loop or not, and it returns, panics or exits.
type wakeFault struct {
	wakes bool
	fails func() // nil: it returns
}

var wakeFaults = []wakeFault{
	{wakes: true},
	{true, func() { panic(errWake) }}, {false, func() { panic(errWake) }},
	{true, runtime.Goexit}, {false, runtime.Goexit},
}

// faultyWaker is a poller whose calls of Wake fail as planned. If a call that fails has woken the loop, it
// fails when the loop sleeps again or is inside a body.
type faultyWaker struct {
	*pollertest.Model
	plan   []wakeFault
	failed bool
	again  bool // the last call has failed, so that the executor makes this one
	cannot int  // calls that failed again; after a call that has woken the loop and failed, another one may come between
	woke   bool // there was such a call
}

func (w *faultyWaker) Wake() {
	fault := wakeFault{wakes: true}
	if len(w.plan) > 0 {
		fault, w.plan = w.plan[0], w.plan[1:]
	}
	if fault.wakes {
		w.Model.Wake()
	}
	if w.again = fault.fails != nil && !w.again; fault.fails != nil {
		w.failed = true
		w.woke = w.woke || fault.wakes
		if !w.again {
			w.cannot++
		}
		time.Sleep(time.Nanosecond)
		fault.fails()
	}
}

// untilIdle returns when all other goroutines of the bubble wait, and no call of Wake is left.
func untilIdle() {
	time.Sleep(time.Second)
	synctest.Wait()
}

// TestPropG12FailedWakes: whatever the calls of Wake do, a caller that posts work wakes a loop that sleeps: it
// calls Wake, or, once the loop has failed, does without the poller. So no work is lost, and if a call of
// Wake has failed, the loop ends with its error (G15). A call that fails again is logged. Nobody wakes a loop that is inside a body.
func TestPropG12FailedWakes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		plan := rapid.SliceOfN(rapid.SampledFrom(wakeFaults), 0, 6).Draw(rt, "plan")
		steps := rapid.SliceOfN(rapid.SampledFrom([]string{"task", "long task", "listener", "post", "release"}), 1, 8).Draw(rt, "steps")
		traced := rapid.Bool().Draw(rt, "traced")
		checkInBubble(t, rt, func(t *testing.T) string { return runWakeSpec(t, plan, steps, traced) })
	})
}

func runWakeSpec(t *testing.T, plan []wakeFault, steps []string, traced bool) (wrong string) {
	p := &faultyWaker{Model: pollertest.NewModel(nil)}
	log := new(coretest.Log)
	opts := []core.Option{core.WithLogger(slog.New(slog.NewTextHandler(log, nil)))}
	if traced {
		opts = append(opts, core.WithTracer(tracerFunc(func(core.Event) {})))
	}
	l := loopOn(t, p, opts...)
	channel := mustRegisterChannel(t, l, p.Open().FD(), &fakeChannel{}) // keeps a loop that has failed
	coretest.OnLoop(t, l, func() {})
	untilIdle()
	gate, inside := make(chan struct{}), false
	posted, ran := 0, 0
	p.plan = plan
	for i, step := range steps {
		if step == "release" {
			if inside {
				gate <- struct{}{}
				untilIdle()
			}
			continue
		}
		asleep, before := !inside, l.Stats().Wakes
		accepted := true
		go func() { // a call of Wake may end it
			switch step {
			case "task":
				err := l.Execute(func() { ran++ })
				accepted = err == nil
			case "long task":
				err := l.Execute(func() { ran++; inside = true; <-gate; inside = false })
				accepted = err == nil
			case "listener":
				promise := core.NewPromise[int](l)
				promise.Future().OnDone(func(int, error) { ran++ })
				promise.TrySuccess(1)
			case "post":
				channel.Post(func() { ran++ })
			}
		}()
		untilIdle()
		if accepted {
			posted++
		}
		if woke := l.Stats().Wakes > before; accepted && woke != asleep && wrong == "" {
			wrong = fmt.Sprintf("G12: step %d of %v: the loop sleeps: %v, and the call has woken it: %v", i, steps, asleep, woke)
		}
	}
	p.plan = nil
	close(gate)
	untilIdle()
	channel.End(core.ChannelEnd{Kind: core.EndAborted})
	l.Shutdown()
	select {
	case <-l.Termination().Done():
	case <-time.After(time.Hour):
		t.Logf("G12: %v: the loop does not end", steps) // and synctest panics
	}
	err := l.Termination().Err()
	if failed := errors.Is(err, errWake) || errors.Is(err, core.ErrGoexit); wrong == "" && (ran != posted || failed != p.failed) {
		wrong = fmt.Sprintf("G12, G15: %d of %d bodies ran, and the end has %v after a failure: %v", ran, posted, err, p.failed)
	}
	if n := strings.Count(log.String(), "the poller cannot wake the loop"); n != p.cannot && !p.woke && wrong == "" {
		wrong = fmt.Sprintf("G15: %d messages say that the poller cannot wake the loop, want %d", n, p.cannot)
	}
	return wrong
}
