package core_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"

	"pgregory.net/rapid"
)

// boundRound is one round of the property of the bound: tail tasks and then tasks fill the queue
// while a task or a tail task runs, and then some bodies are let go. If the loop sleeps, held delays the end
// of its sleep until the queue is full: then it takes both batches at once, and the listener runs before any
// task of them.
type boundRound struct {
	behindTail, listener, held bool
	tails, passes              int
}

// TestPropG19TheBoundIsExact: a task is accepted if and only if fewer tasks than the bound have been
// accepted and have not begun, wherever they wait: in the queues, or in the batches that the loop has taken.
func TestPropG19TheBoundIsExact(t *testing.T) {
	some := rapid.SampledFrom([]int{0, 1, 2, 255, 256, 257, 300})
	rounds := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) boundRound {
		return boundRound{
			behindTail: rapid.Bool().Draw(t, "behind a tail task"), listener: rapid.Bool().Draw(t, "listener"),
			held:  rapid.Bool().Draw(t, "held"),
			tails: some.Draw(t, "tails"), passes: some.Draw(t, "passes"),
		}
	}), 1, 4)
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.OneOf(rapid.IntRange(16, 40), rapid.IntRange(500, 800), rapid.IntRange(512, 800)).Draw(rt, "limit")
		program := rounds.Draw(rt, "rounds")
		checkInBubble(t, rt, func(t *testing.T) string { return runBoundSpec(t, limit, program) })
	})
}

// runBoundSpec returns a description of the first difference, or "".
func runBoundSpec(t *testing.T, limit int, program []boundRound) (wrong string) {
	poller := &gated{Model: pollertest.NewModel(nil), found: make(chan struct{}), gate: make(chan struct{})}
	ex := coretest.NewExecutor(t, core.WithMaxPendingTasks(limit), core.WithPoller(poller))
	accepted, begun, refused, inside := 1, 1, 0, 0
	gate := make(chan struct{}) // each body waits for it
	wait := func() { inside++; <-gate; inside-- }
	body := func() { begun++; wait() }
	coretest.OnLoop(t, ex, func() {})
	synctest.Wait() // the loop sleeps
	offer := func(call string, give func(func()) error) {
		room := accepted-begun < limit
		err := give(body)
		switch {
		case (err == nil) != room || err != nil && !errors.Is(err, core.ErrQueueFull):
			wrong = fmt.Sprintf("G19: %s with %d accepted, %d begun and a bound of %d: %v", call, accepted, begun, limit, err)
		case room:
			accepted++
		default:
			refused++
		}
	}
	for _, r := range program {
		held := r.held && inside == 0 && accepted == begun
		poller.armed.Store(held)
		if r.behindTail {
			offer("ExecuteAfterIteration", ex.ExecuteAfterIteration)
		} else {
			offer("Execute", ex.Execute)
		}
		if held {
			<-poller.found
		}
		synctest.Wait() // the loop is inside a body, or inside the poller
		for range r.tails {
			offer("ExecuteAfterIteration", ex.ExecuteAfterIteration)
		}
		for accepted-begun < limit && wrong == "" {
			offer("Execute", ex.Execute)
		}
		offer("ExecuteLazy of a full queue", ex.ExecuteLazy)
		if r.listener {
			p := core.NewPromise[int](ex)
			p.Future().OnDone(func(int, error) { wait() })
			p.TrySuccess(1)
		}
		if held {
			poller.gate <- struct{}{}
			synctest.Wait()
			offer("Execute", ex.Execute)
		}
		for range r.passes {
			select {
			case gate <- struct{}{}:
			default: // the loop sleeps
			}
			synctest.Wait()
			offer("Execute", ex.Execute)
			offer("Execute", ex.Execute)
			synctest.Wait()
		}
		if wrong != "" {
			break
		}
	}
	close(gate)
	coretest.Must(t, ex.Close())
	if s := ex.Stats(); wrong == "" && (int(s.Ran) != accepted || int(s.Rejected) != refused || begun != accepted) {
		wrong = fmt.Sprintf("G20: %d ran and %d were refused, %d begun; want %d, %d, %d", s.Ran, s.Rejected, begun, accepted, refused, accepted)
	}
	return wrong
}
