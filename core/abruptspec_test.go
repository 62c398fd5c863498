package core_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"

	"pgregory.net/rapid"
)

// givers give a body of each kind to a loop.
var givers = map[string]func(l *core.EventLoop, m *pollertest.Model, body func()) error{
	"task": func(l *core.EventLoop, _ *pollertest.Model, body func()) error { return l.Execute(body) },
	"lazy": func(l *core.EventLoop, _ *pollertest.Model, body func()) error { return l.ExecuteLazy(body) },
	"tail": func(l *core.EventLoop, _ *pollertest.Model, body func()) error { return l.ExecuteAfterIteration(body) },
	"timer": func(l *core.EventLoop, _ *pollertest.Model, body func()) error {
		_, err := l.Schedule(0, body)
		return err
	},
	"hook": func(l *core.EventLoop, _ *pollertest.Model, body func()) error {
		_, err := l.AddShutdownHook(body)
		return err
	},
	"listener": giveListener,
	"handler":  giveHandler,
	"drain":    giveDrain,
}

func giveListener(l *core.EventLoop, _ *pollertest.Model, body func()) error {
	p := core.NewPromise[int](l)
	p.Future().OnDone(func(int, error) { body() })
	p.TrySuccess(1)
	return nil
}

func giveHandler(l *core.EventLoop, m *pollertest.Model, body func()) error {
	d := m.Open()
	_, err := l.Register(d.FD(), core.Readable, func(core.Readiness) { _ = d.Drain(); body() })
	return errors.Join(err, d.Input())
}

// giveDrain registers a channel that ends when the shutdown drains it.
func giveDrain(l *core.EventLoop, m *pollertest.Model, body func()) error {
	ch := &fakeChannel{}
	r, err := l.RegisterChannel(m.Open().FD(), 0, ch)
	ch.drain = func(core.Deadline) { r.End(core.ChannelEnd{}); body() }
	return err
}

// abruptStep gives a body to the loop, alone or together with the next ones. The body may complete a future.
type abruptStep struct {
	kind, end        string // "returns", or one of badEnds
	alone, completes bool
}

// abruptPlan is what surrounds the bodies: a tracer that panics, a logger that ends the goroutine that
// reports it, a spawner to which the loop turns when a body has ended its goroutine, and a task during which
// all bodies are given.
type abruptPlan struct {
	held     bool
	tracer   string // "", "begin", "end" or "both"
	exits    bool
	handOver string // one of handOvers
}

func (p abruptPlan) options(log *panicLog) []core.Option {
	opts := []core.Option{core.WithPanicHandler(log.handle), withHandOver(handOvers[p.handOver])}
	if p.tracer != "" {
		opts = append(opts, failingTracer(func(ev core.Event) bool {
			return ev.Kind == core.EventBegin && p.tracer != "end" || ev.Kind == core.EventEnd && p.tracer != "begin"
		}))
	}
	if p.exits {
		opts = append(opts, withExitingLogger())
	}
	return opts
}

// sortedKeys returns the keys in an order that every run has.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// TestPropG14AbruptBodies: bodies of all kinds may panic and end their goroutine, and the tracer and the
// logger may do so too: each body begins once, each panic is reported once, before the next body, tasks keep their order, the
// listeners of a future that a body completes run before the next body of another kind, a shutdown
// drains all channels before a task that waits, and the loop ends without an error (G3, G4, G9, G14, G20, G23).
func TestPropG14AbruptBodies(t *testing.T) {
	kinds, ends := sortedKeys(givers), append(sortedKeys(badEnds), "returns")
	rapid.Check(t, func(rt *rapid.T) {
		plan := abruptPlan{
			held:   rapid.Bool().Draw(rt, "held"),
			tracer: rapid.SampledFrom([]string{"", "begin", "end", "both"}).Draw(rt, "the tracer panics at"),
			exits:  rapid.Bool().Draw(rt, "the logger exits"), handOver: rapid.SampledFrom(sortedKeys(handOvers)).Draw(rt, "hand-over"),
		}
		steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) abruptStep {
			return abruptStep{rapid.SampledFrom(kinds).Draw(t, "kind"), rapid.SampledFrom(ends).Draw(t, "end"), rapid.Bool().Draw(t, "alone"), rapid.Bool().Draw(t, "completes")}
		}), 1, 10).Draw(rt, "steps")
		checkInBubble(t, rt, func(t *testing.T) string { return runAbruptSpec(t, plan, steps) })
	})
}

func runAbruptSpec(t *testing.T, plan abruptPlan, steps []abruptStep) string {
	var log panicLog
	m := pollertest.NewModel(nil)
	l := loopOn(t, m, plan.options(&log)...)
	coretest.OnLoop(t, l, func() {})
	want := core.Report{Ran: 2} // with the last one
	gate := make(chan struct{})
	if plan.held {
		want.Ran++
		coretest.MustExecute(t, l, func() { <-gate })
		synctest.Wait()
	}
	var begun, tasks, early, late []int
	panicked, open := 0, 0 // open: channels that have not been drained
	owed := 0              // listeners of futures that are complete
	var wantTasks []int
	for i, s := range steps {
		end := badEnds[s.end]
		isTask := s.kind == "task" || s.kind == "lazy"
		err := givers[s.kind](l, m, func() {
			begun = append(begun, i)
			if len(log.all()) != panicked {
				late = append(late, i)
			}
			panicked += int(end.panicked)
			if owed > 0 && s.kind != "listener" {
				early = append(early, i)
			}
			if s.completes && s.kind != "listener" {
				owed++
				_ = giveListener(l, m, func() { owed-- })
			}
			switch {
			case isTask:
				tasks = append(tasks, i)
			case s.kind == "drain":
				open--
			}
			if end.body != nil {
				end.body()
			}
		})
		if err != nil {
			return fmt.Sprintf("step %d: %v", i, err)
		}
		want.Panicked += end.panicked
		switch {
		case isTask:
			wantTasks = append(wantTasks, i)
			want.Ran++
		case s.kind == "tail":
			want.Ran++
		case s.kind == "drain":
			open++
		case s.kind == "timer":
			want.TimersRun++
		case s.kind == "hook":
			want.HooksRun++
		}
		if s.alone {
			synctest.Wait()
		}
	}
	close(gate)
	synctest.Wait()
	left := -1                                              // of the channels
	coretest.Must(t, l.ExecuteLazy(func() { left = open })) // wakes nobody: the shutdown does
	err := l.Close()
	got := l.Termination().Report()
	slices.Sort(begun)
	for i := range steps {
		if len(begun) != len(steps) || begun[i] != i {
			return fmt.Sprintf("G3: the bodies %d have begun, want each of %d once", begun, len(steps))
		}
	}
	if !slices.Equal(tasks, wantTasks) {
		return fmt.Sprintf("G4: the tasks began in the order %d, want %d", tasks, wantTasks)
	}
	if left != 0 {
		return fmt.Sprintf("G23: the last task ran before %d channels were drained", left)
	}
	if len(late) > 0 {
		return fmt.Sprintf("G14: bodies %d began before the report of an earlier panic", late)
	}
	if len(early) > 0 || owed != 0 {
		return fmt.Sprintf("G9: bodies %d began before the listeners of an earlier one, and %d listeners did not run", early, owed)
	}
	if got.Ran != want.Ran || got.TimersRun != want.TimersRun || got.HooksRun != want.HooksRun || got.Panicked != want.Panicked {
		return fmt.Sprintf("G20: the report is %+v, want %+v", got, want)
	}
	if n := len(log.all()); int64(n) != want.Panicked || err != nil {
		return fmt.Sprintf("G14: %d panics were reported, want %d; Close: %v", n, want.Panicked, err)
	}
	return ""
}
