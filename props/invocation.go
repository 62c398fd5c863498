package props

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"eventide/core"
	"eventide/props/history"
	"eventide/props/internal/shrink"

	"pgregory.net/rapid"
)

// Invocation is a test case for InvokeAll and InvokeAny: one call in virtual time. Times are an
// even number of milliseconds and Deadline is odd, so that the context ends at no other event.
type Invocation struct {
	Any       bool          `json:"any,omitempty"`   // InvokeAny instead of InvokeAll
	Pool      int           `json:"pool,omitempty"`  // number of workers; 0: an Executor
	Limit     int           `json:"limit,omitempty"` // of the queue, with Busy only
	Busy      time.Duration `json:"busy,omitempty"`  // how long each worker still runs another task
	Functions []Invoked     `json:"functions,omitempty"`
	Deadline  time.Duration `json:"deadline,omitempty"` // of the context; 0: none
	Shutdown  time.Duration `json:"shutdown,omitempty"` // when another goroutine calls Shutdown; 0: after the call
	Ended     bool          `json:"ended,omitempty"`    // the executor has ended before the call
	From      Caller        `json:"from,omitempty"`
	Bad       BadInvocation `json:"bad,omitempty"`
}

// Invoked is a function of an Invocation.
type Invoked struct {
	Takes time.Duration   `json:"takes,omitempty"`
	End   history.Outcome `json:"end,omitempty"` // Normal or Errored, Panicked, Exited; 0: Normal
}

// Caller is where an Invocation is made.
type Caller int

// The callers.
const (
	FromGoroutine Caller = iota
	FromBody             // of the executor: refused
	FromSpawner          // of the executor: refused
	FromListener         // of a future whose executor has ended
	callers
)

// BadInvocation is an argument of an Invocation that is refused.
type BadInvocation int

// The bad arguments.
const (
	GoodInvocation BadInvocation = iota
	NilContext
	NilExecutor
	NilFunction // the last one
	badInvocations
)

var errInvoked = errors.New("props: planned error of a function")

// Invocations generates test cases for InvokeAll and InvokeAny.
func Invocations() *rapid.Generator[Invocation] {
	return rapid.Custom(func(t *rapid.T) Invocation {
		even := rapid.Custom(func(t *rapid.T) time.Duration {
			return 2 * time.Millisecond * time.Duration(rapid.SampledFrom([]int{0, 1, 1, 2, 5}).Draw(t, "times"))
		})
		p := Invocation{
			Any:   rapid.Bool().Draw(t, "any"),
			Pool:  rapid.SampledFrom([]int{0, 0, 1, 2, 3}).Draw(t, "pool"),
			Busy:  even.Draw(t, "busy"),
			Ended: oneIn(t, 8, "ended"),
			Functions: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Invoked {
				ends := []history.Outcome{history.Normal, history.Normal, history.Errored, history.Errored, history.Panicked, history.Exited}
				return Invoked{even.Draw(t, "takes"), rapid.SampledFrom(ends).Draw(t, "end")}
			}), 0, rapid.SampledFrom([]int{4, 4, 24}).Draw(t, "most")).Draw(t, "functions"),
		}
		if p.Busy > 0 {
			p.Limit = rapid.SampledFrom([]int{0, 1, 16, 20}).Draw(t, "limit")
		}
		if oneIn(t, 3, "deadline") {
			p.Deadline = time.Millisecond + even.Draw(t, "deadline at")
		}
		if oneIn(t, 3, "shutdown") {
			p.Shutdown = 2*time.Millisecond + even.Draw(t, "shutdown at")
		}
		if oneIn(t, 6, "from") {
			p.From = Caller(rapid.IntRange(0, int(callers)-1).Draw(t, "caller"))
		}
		if p.From == FromBody || p.From == FromSpawner { // the call is refused before anything else matters
			p.Busy, p.Limit, p.Deadline, p.Shutdown, p.Ended = 0, 0, 0, 0, false
		}
		if oneIn(t, 8, "bad") {
			p.Bad = BadInvocation(rapid.IntRange(0, int(badInvocations)-1).Draw(t, "bad argument"))
		}
		return p
	})
}

func oneIn(t *rapid.T, n int, label string) bool { return rapid.IntRange(1, n).Draw(t, label) == n }

// MinimiseInvocation returns a smaller program that is still a violation, as Minimise does.
func MinimiseInvocation(p Invocation, violates func(Invocation) bool) Invocation {
	return shrink.Least(p, func(pick *shrink.Pick, p Invocation) Invocation { return shrink.One(pick, p, p.smaller()) }, violates)
}

func (p Invocation) smaller() (list []Invocation) {
	for i := range p.Functions {
		q := p
		q.Functions = slices.Delete(slices.Clone(p.Functions), i, i+1)
		list = append(list, q)
		if f := p.Functions[i]; f != (Invoked{}) {
			q.Functions = slices.Clone(p.Functions)
			q.Functions[i] = Invoked{}
			list = append(list, q)
		}
	}
	keep := func(needed bool, change func(*Invocation)) {
		if needed {
			q := p
			change(&q)
			list = append(list, q)
		}
	}
	keep(p.Pool > 0, func(q *Invocation) { q.Pool-- })
	keep(p.Limit > 0, func(q *Invocation) { q.Limit = 0 })
	keep(p.Busy > 0, func(q *Invocation) { q.Busy, q.Limit = 0, 0 })
	keep(p.Deadline > 0, func(q *Invocation) { q.Deadline = 0 })
	keep(p.Shutdown > 0, func(q *Invocation) { q.Shutdown = 0 })
	keep(p.Ended, func(q *Invocation) { q.Ended = false })
	keep(p.From > 0, func(q *Invocation) { q.From = 0 })
	return list
}

// Exercises reports whether the program has the premise of G9.
func (p Invocation) Exercises() bool { return len(p.Functions) > 0 && p.refusedAtOnce() == nil }

// Violation returns the violation for a text that Run returned.
func (p Invocation) Violation(text string) history.Violation {
	return history.Violation{Guarantee: "G9", Predicate: "InvocationProperty", Sentence: "every future ends", Text: text}
}

// invoking is a run of an Invocation.
type invoking struct {
	Invocation
	ex      core.EventExecutor
	ran     []atomic.Int32 // of each function
	made    time.Time      // the call
	futures []*core.Future[int]
	value   int
	err     error
	took    time.Duration
}

// Run runs the program in the caller's bubble, and returns a violation as text, or "".
func (p Invocation) Run() string {
	r := &invoking{Invocation: p, ran: make([]atomic.Int32, len(p.Functions))}
	if err := r.create(); err != nil {
		return err.Error()
	}
	busy := r.occupy()
	if p.Ended {
		<-r.ex.Shutdown().Done()
	}
	if p.Shutdown > 0 {
		stop := time.AfterFunc(p.Shutdown, func() { r.ex.Shutdown() })
		defer stop.Stop()
	}
	r.callFrom()
	atReturn := r.completed()
	report, err := r.ex.Shutdown().Wait(context.Background())
	if err != nil {
		return fmt.Sprintf("ended with %v", err)
	}
	return r.judge(atReturn, report, busy)
}

// create makes the executor.
func (r *invoking) create() (err error) {
	opts := []core.Option{core.WithLogger(slog.New(slog.DiscardHandler))}
	if r.Limit > 0 {
		opts = append(opts, core.WithMaxPendingTasks(r.Limit))
	}
	if r.From == FromSpawner {
		opts = append(opts, core.WithSpawner(func(loop func()) error {
			if r.made.IsZero() {
				r.invoke()
			}
			go loop()
			return nil
		}))
	}
	if r.Pool > 0 {
		r.ex, err = core.NewPool(r.Pool, opts...)
	} else {
		r.ex, err = core.NewExecutor(opts...)
	}
	return err
}

// occupy gives each worker a task that ends Busy after the call, and returns how many tasks.
func (r *invoking) occupy() int {
	if r.Busy == 0 || r.Ended {
		return 0
	}
	n := max(1, r.Pool)
	var begun sync.WaitGroup // a task that has begun takes no room
	begun.Add(n)
	for range n {
		if err := r.ex.Execute(func() { begun.Done(); time.Sleep(r.Busy) }); err != nil {
			panic(err) // the executor is new
		}
	}
	begun.Wait()
	return n
}

// callFrom makes the call where the program says, and waits for it.
func (r *invoking) callFrom() {
	switch r.From {
	case FromBody:
		<-core.Submit(r.ex, func() (int, error) { r.invoke(); return 0, nil }).Done()
	case FromSpawner:
		<-core.Submit(r.ex, func() (int, error) { return 0, nil }).Done()
	case FromListener:
		home, err := core.NewExecutor(core.WithLogger(slog.New(slog.DiscardHandler)))
		if err != nil {
			panic(err) // there is no option that could be wrong
		}
		<-home.Shutdown().Done()
		core.Submit(home, func() (int, error) { return 0, nil }).OnDone(func(int, error) { r.invoke() })
	default:
		r.invoke()
	}
}

// invoke makes the call.
func (r *invoking) invoke() {
	r.made = time.Now()
	var ctx context.Context
	if r.Bad != NilContext {
		ctx = context.Background()
		if r.Deadline > 0 {
			c, stop := context.WithTimeoutCause(ctx, r.Deadline, errDeadlineOfCall)
			defer stop()
			ctx = c
		}
	}
	ex := r.ex
	if r.Bad == NilExecutor {
		nils := []core.EventExecutor{nil, (*core.Executor)(nil), (*core.EventLoop)(nil), (*core.Group)(nil), (*core.Pool)(nil)}
		ex = nils[len(r.Functions)%len(nils)]
	}
	fs := make([]func() (int, error), len(r.Functions))
	for i, f := range r.Functions {
		fs[i] = func() (int, error) { return r.body(i, f) }
	}
	if r.Bad == NilFunction && len(fs) > 0 {
		fs[len(fs)-1] = nil
	}
	if r.Any {
		r.value, r.err = core.InvokeAny(ctx, ex, fs...)
	} else {
		r.futures, r.err = core.InvokeAll(ctx, ex, fs...)
	}
	r.took = time.Since(r.made)
}

var errDeadlineOfCall = errors.New("props: the context of the call has ended")

func (r *invoking) body(i int, f Invoked) (int, error) {
	r.ran[i].Add(1)
	time.Sleep(f.Takes)
	switch f.End {
	case history.Panicked:
		panic(plannedPanic)
	case history.Exited:
		runtime.Goexit()
	case history.Errored:
		return 0, errInvoked
	}
	return i, nil
}

// completed returns which of the futures of InvokeAll are complete now.
func (r *invoking) completed() []bool {
	done := make([]bool, len(r.futures))
	for i, f := range r.futures {
		select {
		case <-f.Done():
			done[i] = true
		default:
		}
	}
	return done
}
