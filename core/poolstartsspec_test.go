package core_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"github.com/petermattis/goid"
	"pgregory.net/rapid"
)

// A poolStart is what a spawner does in one call, after some time.
type poolStart struct {
	takes time.Duration
	how   string // of poolStarts
}

var poolStarts = []string{"starts", "starts", "starts", "starts twice", "starts and fails", "fails", "fails", "panics", "exits", "runs it inline", "calls back", "calls back and fails"}

// lazyExecutor is an executor or a pool.
type lazyExecutor interface {
	core.EventExecutor
	ExecuteLazy(func()) error
}

const slowLogger = 30 * time.Minute // how long a logger takes

// A poolCall is one call of a pool, on a goroutine of its own.
type poolCall struct {
	at, takes time.Duration // of Execute: takes is the time of the task
	op        string
	size      int // of Resize
	listeners int // of a future: a round is 64 of them
}

// TestPropPoolG17Spawners: whatever the spawner of a pool or an executor does, and however long it takes, the pool ends,
// and a task runs once if it was accepted, and otherwise never. The end has an error only if no worker
// has started. An ended pool has no workers, and the listeners of its termination are on none. A spawner that calls the pool does
// not wait for itself. If the pool cannot be started for a shutdown, the logger delays neither the callers that wait for the start
// nor the end of Context (G11, G18).
func TestPropPoolG17Spawners(t *testing.T) {
	millis := func(most int) *rapid.Generator[time.Duration] {
		return rapid.Map(rapid.IntRange(0, most), func(n int) time.Duration { return time.Duration(n) * time.Millisecond })
	}
	starts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) poolStart {
		return poolStart{rapid.SampledFrom([]time.Duration{0, time.Millisecond, 40 * time.Millisecond}).Draw(t, "takes"), rapid.SampledFrom(poolStarts).Draw(t, "how")}
	}), 2, 6)
	calls := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) poolCall {
		return poolCall{
			millis(9).Draw(t, "at"), millis(3).Draw(t, "takes"),
			rapid.SampledFrom([]string{"execute", "execute", "lazy", "listeners", "listeners", "resize", "graceful"}).Draw(t, "op"),
			rapid.IntRange(1, 3).Draw(t, "size"), rapid.SampledFrom([]int{6, 6, 64, 70, 150}).Draw(t, "listeners"),
		}
	}), 3, 10)
	rapid.Check(t, func(rt *rapid.T) {
		for range 10 {
			starts, calls, wrong := starts.Draw(rt, "starts"), calls.Draw(rt, "calls"), ""
			size, end := rapid.IntRange(0, 3).Draw(rt, "size, or 0: an executor"), millis(15).Draw(rt, "shutdown at")
			synctest.Test(t, func(t *testing.T) { wrong = runPoolStarts(t, size, starts, calls, end) })
			if wrong != "" {
				rt.Fatal(wrong)
			}
		}
	})
}

// runPoolStarts makes the calls, and shuts down at end. It returns a description of the first difference, or "".
func runPoolStarts(t *testing.T, size int, starts []poolStart, calls []poolCall, end time.Duration) string {
	var made, started atomic.Int64
	var ex lazyExecutor
	var p *core.Pool
	var spawners sync.Map // ids of the goroutines that have called the spawner
	var wrong atomic.Pointer[string]
	fails := func(format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		wrong.Store(&text)
	}
	spawn := core.WithSpawner(func(loop func()) error {
		spawners.Store(goid.Get(), nil)
		s := poolStart{how: "starts"}
		if n := int(made.Add(1)); n <= len(starts) {
			s = starts[n-1]
		}
		time.Sleep(s.takes)
		switch s.how {
		case "starts":
			go loop()
		case "starts twice":
			go loop()
			go loop()
		case "starts and fails":
			go loop()
			return errors.New("no goroutine")
		case "fails":
			return errors.New("no goroutine")
		case "panics":
			panic("no goroutine")
		case "exits":
			runtime.Goexit()
		case "runs it inline":
			loop()
			return nil
		case "calls back", "calls back and fails":
			refusal := core.ErrStarting
			if ex.InEventLoop() { // a worker starts another one
				refusal = core.ErrInEventLoop
			}
			if err := ex.AwaitTermination(context.Background()); err != refusal && ex.State() < core.StateTerminated {
				fails("G18: AwaitTermination in the spawner returns %v, want %v", err, refusal)
			}
			if started.Load() == 0 {
				if err := ex.Execute(func() {}); err == nil || !errors.Is(err, core.ErrStarting) && ex.State() < core.StateShutdown {
					fails("G17: Execute in the first call of the spawner returns %v, want ErrStarting", err)
				}
			}
			if s.how == "calls back and fails" {
				return errors.New("no goroutine")
			}
			go loop()
		}
		started.Add(1)
		return nil
	})
	logger := core.WithLogger(slog.New(recordsHandler{func(message string) {
		if strings.HasSuffix(message, "could not be started for the shutdown") {
			if ex.Context().Err() == nil {
				fails("G11: Context has not ended as the logger is called")
			}
			time.Sleep(slowLogger) // of the bubble
		}
	}}))
	var err error
	if size == 0 {
		ex, err = core.NewExecutor(spawn, logger)
	} else {
		p, err = core.NewPool(size, spawn, logger)
		ex = p
	}
	coretest.Must(t, err)
	var onWorker atomic.Bool
	ex.Termination().OnDone(func(core.Report, error) {
		_, inBody := core.Current()
		onWorker.Store(ex.InEventLoop() || inBody)
	})
	chains := make([]*listenerChain, len(calls))
	ran, accepted, refused := make([]atomic.Int64, len(calls)), make([]bool, len(calls)), make([]bool, len(calls))
	var callers sync.WaitGroup
	began := time.Now()
	for i, c := range calls {
		submit := ex.Execute
		if c.op == "lazy" {
			submit = ex.ExecuteLazy
		}
		callers.Go(func() {
			defer func() {
				if _, spawns := spawners.Load(goid.Get()); !spawns && time.Since(began) >= slowLogger {
					fails("G17: call %d, %s, waits for the logger of another goroutine", i, c.op)
				}
			}()
			time.Sleep(c.at + time.Duration(i)*time.Microsecond) // no two calls at one instant
			switch c.op {
			case "execute", "lazy":
				err := submit(func() { ran[i].Add(1); time.Sleep(c.takes) }) // does not return if the spawner exits
				accepted[i], refused[i] = err == nil, err != nil
			case "listeners":
				chains[i] = &listenerChain{takes: c.takes, count: c.listeners}
				chains[i].complete(core.NewPromise[int](ex))
			case "resize":
				if p != nil {
					_ = p.Resize(c.size)
				}
			case "graceful":
				_, _ = ex.ShutdownGracefully(time.Duration(c.size-1)*time.Millisecond, 20*time.Millisecond)
			}
		})
	}
	time.Sleep(end)
	ex.Shutdown()
	select {
	case <-ex.Termination().Done():
	case <-time.After(time.Hour):
		return fmt.Sprintf("G15: the pool has not ended: %+v", ex.Stats())
	}
	callers.Wait()
	synctest.Wait() // the listeners of the termination have returned
	s, total := ex.Stats(), int64(0)
	for i := range calls {
		n := ran[i].Load()
		total += n
		if n > 1 || accepted[i] && n == 0 || refused[i] && n > 0 {
			return fmt.Sprintf("G3: task %d ran %d times; accepted %v, refused %v", i, n, accepted[i], refused[i])
		}
	}
	for _, c := range chains {
		if c != nil && (!slices.Equal(c.called, firstNumbers(c.count)) || c.nested) {
			return fmt.Sprintf("G9: listeners were called as %v, want 0 to %d in order; two at a time: %v", c.called, c.count-1, c.nested)
		}
	}
	if text := wrong.Load(); text != nil {
		return *text
	}
	switch err := ex.Termination().Err(); {
	case onWorker.Load():
		return "G18: a listener of the termination is on a worker"
	case p != nil && p.ListedWorkers() != 0:
		return fmt.Sprintf("G24: the pool has ended, and refers to %d workers", p.ListedWorkers())
	case s.Accepted != total || s.Ran != total || s.Pending != 0:
		return fmt.Sprintf("G20: %d tasks ran, and the pool has %+v", total, s)
	case s.Workers != 0 || s.Busy != 0:
		return fmt.Sprintf("G15: the pool has ended with workers: %+v", s)
	case (err != nil) != (started.Load() == 0):
		return fmt.Sprintf("G17: %d workers have started, and the pool has ended with %v", started.Load(), err)
	}
	return ""
}

// A listenerChain is listeners of one future, all but three of which are added by others.
type listenerChain struct {
	takes  time.Duration // of each listener
	count  int
	inside atomic.Bool
	nested bool
	called []int
}

// complete adds the listeners 0 to 2, and completes the promise. It does not return if the spawner exits.
func (c *listenerChain) complete(p *core.Promise[int]) {
	for i := range 3 {
		c.add(p.Future(), i)
	}
	p.TrySuccess(1)
}

// add adds listener i, which adds listener i+3.
func (c *listenerChain) add(f *core.Future[int], i int) {
	f.OnDone(func(int, error) {
		if i+3 < c.count {
			c.add(f, i+3)
		}
		c.call(i)
	})
}

func (c *listenerChain) call(i int) {
	c.nested = !c.inside.CompareAndSwap(false, true) || c.nested
	time.Sleep(c.takes)
	c.called = append(c.called, i)
	c.inside.Store(false)
}

// firstNumbers returns the numbers 0 to n-1.
func firstNumbers(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}
