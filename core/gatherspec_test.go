package core

import (
	"slices"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"
)

// gatherBatch is one batch of TestPropGather.
type gatherBatch struct {
	n      int
	inLoop bool // a task of the loop submits it
}

// TestPropGather: the loop gathers for 16 steps for each task of its last batch, at most for 800, once it has
// taken three batches since its last sleep that other goroutines have let grow to 16 tasks. It does not gather
// for a bounded queue, and not behind a batch that has filled its segment of 256 tasks.
func TestPropGather(t *testing.T) {
	program := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) gatherBatch {
		return gatherBatch{rapid.SampledFrom([]int{1, 2, 15, 16, 17, 49, 50, 51, 255, 256}).Draw(t, "n"), rapid.IntRange(0, 3).Draw(t, "in loop") == 0}
	}), 1, 8)
	rapid.Check(t, func(rt *rapid.T) {
		batches := program.Draw(rt, "batches")
		limit := rapid.SampledFrom([]int{unbounded, unbounded, 1000}).Draw(rt, "limit")
		var got, want []int
		grown := 0
		for _, b := range batches {
			steps := 0
			if !b.inLoop && b.n >= 16 {
				if grown++; grown >= 3 && limit == unbounded && b.n < 256 {
					steps = min(800, 16*b.n)
				}
			}
			want = append(want, steps)
		}
		synctest.Test(t, func(t *testing.T) {
			e, err := NewExecutor(WithMaxPendingTasks(limit))
			must(t, err)
			defer func() { e.Shutdown(); <-e.Termination().Done() }()
			next := 0
			got = gathering(t, e, len(batches), func(last func()) {
				b := batches[next]
				next++
				fill := func() {
					for range b.n - 1 {
						must(t, e.Execute(func() {}))
					}
					must(t, e.Execute(last))
				}
				if b.inLoop {
					must(t, e.Execute(fill))
				} else {
					fill()
				}
			})
		})
		if !slices.Equal(got, want) {
			rt.Fatalf("after the batches %v of a queue with room for %d the loop gathers for %v steps, want %v", batches, limit, got, want)
		}
	})
}

// TestPropGatherOnlyForTasks: the loop gathers unless it shuts down, has something to take from its inbox, or
// has tail tasks to run. An event loop counts a gathering as four of the 16 turns after which it polls.
func TestPropGatherOnlyForTasks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := newExecutor(config{limit: unbounded}, nil)
		e.seen = State(rapid.IntRange(int(StateStarted), int(StateShutdown)).Draw(t, "state"))
		news, tail, events := rapid.Bool().Draw(t, "news"), rapid.Bool().Draw(t, "tail task"), rapid.Bool().Draw(t, "event loop")
		e.news.Store(news)
		if tail {
			e.tails.Push(func() {})
			e.tails.Take()
		}
		if events {
			e.io = &loopIO{}
		}
		e.gathers = rapid.IntRange(1, 800).Draw(t, "steps")
		want := uint64(0)
		if e.seen == StateStarted && !news && !tail {
			want = compute(e.gathers)
		}
		e.gather()
		if e.noise != want || e.gathers != 0 {
			t.Fatalf("state %v, news %v, tail task %v: the gathering has computed %d, want %d; %d steps are left", e.seen, news, tail, e.noise, want, e.gathers)
		}
		turns := 0
		if want != 0 {
			turns = 4
		}
		if events && e.io.turns != turns {
			t.Fatalf("the gathering counts as %d turns, want %d", e.io.turns, turns)
		}
	})
}
