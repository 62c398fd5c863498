package core_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"testing"

	"eventide/core"

	"pgregory.net/rapid"
)

// scripted is an executor that core did not make. Each call of Execute takes the next answer of its script.
type scripted struct {
	core.EventExecutor                   // nil: a future calls no other method
	term               *core.Termination // or nil
	calls              int               // of Execute
	answers            []string
	queue              []func()
	inside             bool
	panics             []any // of Execute and of the functions that ran
}

func (s *scripted) Termination() *core.Termination { return s.term }
func (s *scripted) InEventLoop() bool              { return s.inside }

func (s *scripted) Execute(f func()) error {
	s.calls++
	answer := "queue"
	if len(s.answers) > 0 {
		answer, s.answers = s.answers[0], s.answers[1:]
	}
	switch answer {
	case "refuse":
		return errFuture
	case "call":
		f()
	case "panic":
		panic("planted in Execute")
	case "queue and panic":
		s.queue = append(s.queue, f)
		panic("planted in Execute")
	case "exit":
		runtime.Goexit()
	default:
		s.queue = append(s.queue, f)
	}
	return nil
}

// runAll runs the queue in order, each function on a goroutine that it may end.
func (s *scripted) runAll() {
	for len(s.queue) > 0 {
		f := s.queue[0]
		s.queue = s.queue[1:]
		s.inside = true
		s.do(f)
		s.inside = false
	}
}

func (s *scripted) do(f func()) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		defer func() {
			if v := recover(); v != nil {
				s.panics = append(s.panics, v)
			}
		}()
		f()
	}()
	<-over
}

// panicCounter counts the panics of listeners that are logged.
type panicCounter struct {
	slog.Handler
	panics *int
}

func (c panicCounter) Enabled(context.Context, slog.Level) bool { return true }
func (c panicCounter) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "panic in a listener" {
		*c.panics++
	}
	return nil
}

// TestPropG9ListenersOfAForeignExecutor: an executor that core did not make gets the listeners by its Execute method.
// Whether it queues them, calls them or refuses them, and however a listener ends, each listener is called once with the
// result, in order, and each panic reaches the executor or the log, but never the future (G9, G14). Execute is called once for
// the listeners that are present, and once more after each of them that does not return; a nil listener is ignored. If Execute
// panics or ends the goroutine, perhaps after it has queued its function, all listeners are called on that goroutine; the panic
// reaches the executor. Wait does not wait in a body of the executor, nor where the Termination forbids it (G18).
func TestPropG9ListenersOfAForeignExecutor(t *testing.T) {
	ends := sortedKeys(futureBodies)
	rapid.Check(t, func(t *rapid.T) {
		logged := 0
		was := slog.Default()
		slog.SetDefault(slog.New(panicCounter{slog.DiscardHandler, &logged}))
		defer slog.SetDefault(was)

		end := rapid.SampledFrom(ends).Draw(t, "the body ends by")
		listeners := rapid.SliceOfN(rapid.SampledFrom([]string{"returns", "panics", "exits", "adds", "nil"}), 0, 5).Draw(t, "listeners")
		s, forbids := &scripted{}, errFuture
		if rapid.Bool().Draw(t, "it has a Termination") {
			var forbidden error
			if rapid.Bool().Draw(t, "which forbids waits") {
				forbidden, forbids = core.ErrStarting, core.ErrStarting
			}
			s.term, _, _ = core.NewTermination(func() error { return forbidden }, func() core.Report { return core.Report{} })
		}
		var called []int
		next, wrong := 0, ""
		f := core.Submit(s, futureBodies[end])
		var listen func(how string)
		listen = func(how string) {
			if how == "nil" {
				f.OnDone(nil)
				return
			}
			n := next
			next++
			f.OnDone(func(v int, err error) {
				called = append(called, n)
				if differs := judgeFuture(keptFuture{end: end}, v, err); differs != "" {
					wrong = fmt.Sprintf("listener %d gets %d, %v: %s", n, v, err, differs)
				}
				switch how {
				case "panics":
					panic(n)
				case "exits":
					runtime.Goexit()
				case "adds":
					listen("returns")
				}
			})
		}
		for _, how := range listeners {
			listen(how)
		}
		ended, cancel := context.WithCancelCause(context.Background())
		cancel(errFuture)
		if v, err := f.Wait(ended); v != 0 || err != forbids {
			t.Fatalf("G18: Wait outside the executor: %d, %v; want %v", v, err, forbids)
		}
		s.inside = true
		if v, err := f.Wait(ended); v != 0 || err != core.ErrInEventLoop {
			t.Fatalf("G18: Wait in the executor: %d, %v; want ErrInEventLoop", v, err)
		}
		s.inside = false

		// Later calls of Execute come while a panic unwinds, and a second panic would replace it.
		s.answers = []string{rapid.SampledFrom([]string{"queue", "call", "refuse", "panic", "queue and panic", "exit"}).Draw(t, "first answer of Execute")}
		s.answers = append(s.answers, rapid.SliceOfN(rapid.SampledFrom([]string{"queue", "refuse"}), 0, 5).Draw(t, "other answers")...)
		passed := slices.DeleteFunc(slices.Clone(listeners), func(how string) bool { return how == "nil" })
		if len(passed) == 0 {
			s.answers = nil // the only call comes from this goroutine
		}
		executes, panics := 1+s.executes(passed), count(listeners, "panics")
		if len(s.answers) > 0 && strings.Contains(s.answers[0], "panic") {
			panics++
		}
		s.runAll()
		v, err := f.Wait(ended)
		if differs := judgeFuture(keptFuture{end: end}, v, err); differs != "" || f.Cancel() {
			t.Fatalf("G9: the future has %d, %v: %s", v, err, differs)
		}
		if !slices.Equal(called, firstNumbers(next)) || wrong != "" {
			t.Fatalf("G9: the listeners %v were called, want 0 to %d; %s", called, next-1, wrong)
		}
		// A Goexit while a panic unwinds ends that panic.
		if got := len(s.panics) + logged; got > panics || got < panics && !slices.Contains(listeners, "exits") {
			t.Fatalf("G14: the panics %v reached the executor, and %d the log; want %d", s.panics, logged, panics)
		}
		if s.calls != executes {
			t.Fatalf("G9: %d calls of Execute, want %d", s.calls, executes)
		}
		late := next
		listen("returns") // the executor is idle: it gets this listener too
		if s.runAll(); len(called) != late+1 || called[late] != late {
			t.Fatalf("G9: the listeners %v were called after one was added, want 0 to %d", called, late)
		}
	})
}

// executes specifies how often the listeners are passed to Execute.
func (s *scripted) executes(listeners []string) (calls int) {
	for i := 0; len(listeners) > 0; i++ {
		calls++
		if i < len(s.answers) && s.answers[i] != "queue" && s.answers[i] != "call" {
			break // all are called on this goroutine
		}
		bad := slices.IndexFunc(listeners, func(how string) bool { return how == "panics" || how == "exits" })
		if bad < 0 {
			break
		}
		if listeners = listeners[bad+1:]; len(listeners) == 0 {
			return calls + 1
		}
	}
	return calls
}

// TestPropG13RoundsOfListeners: a foreign executor gets the listeners in rounds. A round has the listeners that are present as
// it begins, and up to 64 in all with those that are added meanwhile. If Execute panics at one of the rounds, that round is run on
// the goroutine of the panic, and Execute gets the next one (G9, G13).
func TestPropG13RoundsOfListeners(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		present := rapid.SampledFrom([]int{1, 2, 63, 64, 65, 100}).Draw(t, "present")
		added := rapid.SampledFrom([]int{0, 1, 62, 63, 64, 65, 127, 128, 129, 200}).Draw(t, "added one by the other")
		s := &scripted{}
		f := core.Submit(s, func() (int, error) { return 7, nil })
		calls := 0
		var add func(int, error)
		add = func(int, error) {
			if calls++; calls < present+added {
				f.OnDone(add)
			}
		}
		for range present - 1 {
			f.OnDone(func(int, error) { calls++ })
		}
		f.OnDone(add)
		rounds := 1
		for left := added - (max(present, 64) - present); left > 0; left -= 64 {
			rounds++
		}
		panicking := rapid.IntRange(0, rounds).Draw(t, "the round at which Execute panics")
		for range panicking {
			s.answers = append(s.answers, "queue")
		}
		if panicking > 0 {
			s.answers[panicking-1] = "panic"
		}
		if s.runAll(); s.calls != 1+rounds || len(s.panics) != min(1, panicking) || calls != present+added {
			t.Fatalf("G13: %d of %d listeners were called in %d rounds, and %v panicked; want %d rounds", calls, present+added, s.calls-1, s.panics, rounds)
		}
	})
}

func count(all []string, one string) (n int) {
	for _, s := range all {
		if s == one {
			n++
		}
	}
	return n
}
