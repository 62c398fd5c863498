package core_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"testing"

	"eventide/core"

	"pgregory.net/rapid"
)

// scripted is an executor that core did not make. It has no Termination. Each call of Execute takes the next answer
// of its script.
type scripted struct {
	core.EventExecutor // nil: a future calls no other method
	answers            []string
	queue              []func()
	inside             bool
	panics             []any // of Execute and of the functions that ran
}

func (s *scripted) Termination() *core.Termination { return nil }
func (s *scripted) InEventLoop() bool              { return s.inside }

func (s *scripted) Execute(f func()) error {
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
// result, in order, and each panic reaches the executor or the log, but never the future (G9, G14). A panic of Execute
// reaches the executor too. In a body of the executor Wait does not wait (G18).
func TestPropG9ListenersOfAForeignExecutor(t *testing.T) {
	ends := sortedKeys(futureBodies)
	rapid.Check(t, func(t *rapid.T) {
		logged := 0
		was := slog.Default()
		slog.SetDefault(slog.New(panicCounter{slog.DiscardHandler, &logged}))
		defer slog.SetDefault(was)

		end := rapid.SampledFrom(ends).Draw(t, "the body ends by")
		listeners := rapid.SliceOfN(rapid.SampledFrom([]string{"returns", "panics", "exits", "adds"}), 0, 5).Draw(t, "listeners")
		s := &scripted{answers: []string{"queue"}}
		var called []int
		next, wrong := 0, ""
		f := core.Submit(s, futureBodies[end])
		var listen func(how string)
		listen = func(how string) {
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
		if v, err := f.Wait(ended); v != 0 || err != errFuture {
			t.Fatalf("G18: Wait outside the executor: %d, %v; want the cause of its context", v, err)
		}
		s.inside = true
		if v, err := f.Wait(ended); v != 0 || err != core.ErrInEventLoop {
			t.Fatalf("G18: Wait in the executor: %d, %v; want ErrInEventLoop", v, err)
		}
		s.inside = false

		// Only the first answer is "call": later calls of Execute come while a panic unwinds, and a second panic would replace it.
		s.answers = []string{rapid.SampledFrom([]string{"queue", "call", "refuse"}).Draw(t, "first answer of Execute")}
		s.answers = append(s.answers, rapid.SliceOfN(rapid.SampledFrom([]string{"queue", "refuse"}), 0, 5).Draw(t, "other answers")...)
		executePanics := len(listeners) > 0 && rapid.IntRange(0, 3).Draw(t, "Execute panics") == 0
		if executePanics {
			s.answers = []string{"panic"}
		}
		s.runAll()
		v, err := f.Wait(ended)
		if differs := judgeFuture(keptFuture{end: end}, v, err); differs != "" || f.Cancel() {
			t.Fatalf("G9: the future has %d, %v: %s", v, err, differs)
		}
		if executePanics {
			if len(s.panics) != 1 || s.panics[0] != "planted in Execute" {
				t.Fatalf("the panics %v reached the executor, want that of Execute", s.panics)
			}
			return
		}
		if !slices.Equal(called, firstNumbers(next)) || wrong != "" {
			t.Fatalf("G9: the listeners %v were called, want 0 to %d; %s", called, next-1, wrong)
		}
		// A Goexit while a panic unwinds ends that panic.
		if got, want := len(s.panics)+logged, count(listeners, "panics"); got > want || got < want && !slices.Contains(listeners, "exits") {
			t.Fatalf("G14: the panics %v reached the executor, and %d the log; want %d", s.panics, logged, want)
		}
		late := next
		listen("returns") // the executor is idle: it gets this listener too
		if s.runAll(); len(called) != late+1 || called[late] != late {
			t.Fatalf("G9: the listeners %v were called after one was added, want 0 to %d", called, late)
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
