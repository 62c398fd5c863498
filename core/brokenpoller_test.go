package core_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"
)

// leaves are the ways not to return.
var leaves = map[string]struct {
	leave func()
	want  error
}{
	"panic":  {func() { panic(errPoller) }, errPoller},
	"Goexit": {runtime.Goexit, core.ErrGoexit},
}

// sleepy is a poller whose Wait sleeps well, and fails each time.
type sleepy struct{ *pollertest.Model }

func (p sleepy) Wait(until core.Deadline) error {
	_ = p.Model.Wait(until)
	return errPoller
}

// A return of Wait with an error is no proof that the new poller works, though there was a
// reason to return: the second in a row is the end.
func TestG15APollerThatNeverWorksIsGivenUp(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l := loopOn(t, sleepy{pollertest.NewModel(nil)})
		ran, accepted := 0, 0
		for range 10 {
			if l.Execute(func() { ran++ }) == nil {
				accepted++
			}
			synctest.Wait()
		}
		if s := l.Stats(); s.State != core.StateTerminated || s.Rebuilds != 1 {
			t.Errorf("G15: no Wait has worked: state %v, %d rebuilds; want Terminated, 1", s.State, s.Rebuilds)
		}
		l.Shutdown()
		coretest.AwaitDone(t, l)
		if err := l.Termination().Err(); !errors.Is(err, errPoller) {
			t.Errorf("G15: Err %v, want the poller's", err)
		}
		if ran != accepted {
			t.Errorf("G3: accepted %d, ran %d", accepted, ran)
		}
	})
}

// exitingHandler ends the goroutine that logs a message.
type exitingHandler struct {
	slog.Handler
	lines *atomic.Int32
}

func (h exitingHandler) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h exitingHandler) Handle(context.Context, slog.Record) error {
	h.lines.Add(1)
	runtime.Goexit()
	return nil
}

// restless is a poller whose Wait panics, or fails.
type restless struct {
	core.Poller
	wait func() error
}

func (p restless) Wait(core.Deadline) error { return p.wait() }

// A logger that ends the goroutine at the log message of the failure does not end the loop.
func TestG15ALoggerThatExitsWhenTheLoopFails(t *testing.T) {
	for name, wait := range map[string]func() error{
		"panic": func() error { panic(errPoller) },
		"error": func() error { return errPoller },
	} {
		for how, spawn := range handOvers {
			t.Run(name+"/"+how, func(t *testing.T) {
				inBubble(t, func(t *testing.T) {
					var lines atomic.Int32
					logger := slog.New(exitingHandler{slog.NewTextHandler(t.Output(), nil), &lines})
					added := make(chan struct{}) // a loop that fails before it refuses the hook
					ex := coretest.NewExecutor(t, core.WithLogger(logger), withHandOver(spawn),
						core.WithPoller(restless{core.NewParkPoller(nil), func() error { <-added; return wait() }}))
					ran := false
					mustHook(t, ex, func() { ran = true })
					close(added)
					coretest.AwaitDone(t, ex)
					if err := ex.Termination().Err(); !errors.Is(err, errPoller) || !ran {
						t.Errorf("G15: Err %v, the hook ran: %v; want the poller's, true", err, ran)
					}
					if lines.Load() == 0 {
						t.Error("not exercised: nothing was logged")
					}
				})
			})
		}
	}
}

// unclosed is a poller whose Close does not return.
type unclosed struct {
	core.Poller
	leave func()
}

func (p unclosed) Close() error {
	_ = p.Poller.Close()
	p.leave()
	return nil
}

// Done is closed, and its listeners are called, whatever Close does: for a loop that has
// run, and for one that could not be started.
func TestG15APollerWhoseCloseDoesNotReturn(t *testing.T) {
	for name, c := range leaves {
		t.Run(name, func(t *testing.T) {
			for how, opts := range map[string][]core.Option{
				"ran":         nil,
				"not started": {core.WithSpawner(func(func()) error { return errSpawn })},
			} {
				inBubble(t, func(t *testing.T) {
					ex := coretest.NewExecutor(t, append(opts, core.WithPoller(unclosed{core.NewParkPoller(nil), c.leave}))...)
					heard := make(chan error, 1)
					ex.Termination().OnDone(func(_ core.Report, err error) { heard <- err })
					go ex.Shutdown() // the loop may end on it
					coretest.AwaitDone(t, ex)
					if err := ex.Termination().Err(); !errors.Is(err, c.want) || opts != nil && !errors.Is(err, errSpawn) {
						t.Errorf("G15: %s: Err %v, want %v", how, err, c.want)
					}
					synctest.Wait()
					if len(heard) != 1 {
						t.Errorf("G15: %s: %d listeners were called at the end, want 1", how, len(heard))
					}
				})
			}
		})
	}
}

// deafening is a poller whose next calls of Wake do not return.
type deafening struct {
	core.Poller
	leave func()
	times atomic.Int32
}

func (p *deafening) Wake() {
	if p.times.Add(-1) >= 0 {
		p.leave()
	}
	p.Poller.Wake()
}

// wakers are calls that wake a sleeping loop.
var wakers = map[string]func(ex *core.Executor) error{
	"Execute":               func(ex *core.Executor) error { return ex.Execute(func() {}) },
	"ExecuteAfterIteration": func(ex *core.Executor) error { return ex.ExecuteAfterIteration(func() {}) },
	"Schedule":              func(ex *core.Executor) error { _, err := ex.Schedule(0, func() {}); return err },
	"Shutdown":              func(ex *core.Executor) error { ex.Shutdown(); return nil },
	"ShutdownGracefully":    func(ex *core.Executor) error { _, err := ex.ShutdownGracefully(0, time.Hour); return err },
}

// If Wake does not return, the work that it was called for still runs. The caller gets the
// result of its call; the loop fails.
func TestG12AWakeThatDoesNotReturn(t *testing.T) {
	for name, c := range leaves {
		for call, wake := range wakers {
			t.Run(name+"/"+call, func(t *testing.T) {
				inBubble(t, func(t *testing.T) {
					p := &deafening{Poller: core.NewParkPoller(nil), leave: c.leave}
					ex := coretest.NewExecutor(t, core.WithPoller(p))
					coretest.MustExecute(t, ex, func() {})
					synctest.Wait()
					p.times.Store(1)
					over := make(chan any, 1)
					go func() {
						defer func() { over <- recover() }()
						if err := wake(ex); err != nil {
							t.Errorf("G3: %s: %v, want nil", call, err)
						}
					}()
					if v := <-over; v != nil {
						t.Errorf("G12: %s panicked with %v: what it accepted will run", call, v)
					}
					synctest.Wait()
					if s := ex.Stats(); s.State != core.StateTerminated {
						t.Errorf("G12: state %v, %d tasks and %d timers wait; want Terminated", s.State, s.Pending, s.Timers)
					}
					coretest.AwaitDone(t, ex)
					if err := ex.Termination().Err(); !errors.Is(err, c.want) {
						t.Errorf("G15: Err %v, want %v", err, c.want)
					}
					checkConserved(t, ex.Stats())
				})
			})
		}
	}
}

// While Wake does not work the loop keeps sleeping: the next call that posts work calls Wake
// again.
func TestG12AWakeThatDoesNotReturnTwice(t *testing.T) {
	for name, c := range leaves {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				p := &deafening{Poller: core.NewParkPoller(nil), leave: c.leave}
				ex := coretest.NewExecutor(t, core.WithPoller(p))
				coretest.MustExecute(t, ex, func() {})
				synctest.Wait()
				p.times.Store(4)
				ran := 0
				for range 3 {
					go func() {
						if err := ex.Execute(func() { ran++ }); err != nil {
							t.Errorf("G3: Execute: %v, want nil", err)
						}
					}()
					synctest.Wait()
				}
				coretest.AwaitDone(t, ex)
				if err := ex.Termination().Err(); ran != 3 || !errors.Is(err, c.want) {
					t.Errorf("G12, G15: %d tasks ran, Err %v; want 3, %v", ran, err, c.want)
				} else if joined, ok := err.(interface{ Unwrap() []error }); ok && len(joined.Unwrap()) > 1 {
					t.Errorf("G15: the loop failed more than once: %v", err)
				}
			})
		})
	}
}

// The timeout wakes the loop on the goroutine of its alarm: a panic there would end the
// process.
func TestG11AWakeThatDoesNotReturnAtTheDeadline(t *testing.T) {
	if !crashes(t) {
		return
	}
	for name, c := range leaves {
		inBubble(t, func(t *testing.T) {
			p := &deafening{Poller: core.NewParkPoller(nil), leave: c.leave}
			ex := coretest.NewExecutor(t, core.WithPoller(p))
			coretest.MustShutdownGracefully(t, ex, time.Hour, 90*time.Minute)
			time.Sleep(time.Hour - 1)
			coretest.MustExecute(t, ex, func() {}) // the quiet period would end after the timeout
			synctest.Wait()
			p.times.Store(1)
			if report := coretest.AwaitDoneWithin(t, ex, 24*time.Hour); report.Elapsed != 90*time.Minute {
				t.Errorf("G11: %s: ended after %v, want 1h30m", name, report.Elapsed)
			}
			if cause := context.Cause(ex.Context()); cause != core.ErrShutdownTimeout {
				t.Errorf("G11: %s: closed for %v, want ErrShutdownTimeout", name, cause)
			}
		})
	}
}

// lingeringChannel ends when its owner ends it.
type lingeringChannel struct{}

func (lingeringChannel) Ready(core.Readiness) {}
func (lingeringChannel) Drain(core.Deadline)  {}
func (lingeringChannel) Abort(error)          {}

// A loop whose poller is broken still sleeps until its channels have ended, and its tracer hears of
// the end of each sleep.
func TestG12TheSleepsOfALoopWithoutItsPollerAreTraced(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var r recorder
		m := pollertest.NewModel(nil)
		l := loopOn(t, sleepy{m}, core.WithTracer(&r))
		first := mustRegisterChannel(t, l, m.Open().FD(), lingeringChannel{})
		second := mustRegisterChannel(t, l, m.Open().FD(), lingeringChannel{})
		synctest.Wait()
		for range 2 { // the second error is the end
			_ = l.Execute(func() {})
			synctest.Wait()
		}
		first.End(core.ChannelEnd{Kind: core.EndAborted})
		synctest.Wait()
		second.End(core.ChannelEnd{Kind: core.EndAborted})
		coretest.AwaitDone(t, l)
		if sleeps := sleepsWithEnds(t, &r); sleeps < 4 {
			t.Errorf("G12: %d sleeps, want 4 or more", sleeps)
		}
	})
}

// sleepsWithEnds returns the number of sleeps that the tracer has heard of. It fails the test if
// one has no end.
func sleepsWithEnds(t *testing.T, r *recorder) (sleeps int) {
	t.Helper()
	asleep := false
	for _, ev := range r.all() {
		switch ev.Kind {
		case core.EventPark:
			if asleep {
				t.Errorf("G12: another sleep begins after %d sleeps, and the tracer has not heard that the last one ended", sleeps)
			}
			asleep, sleeps = true, sleeps+1
		case core.EventUnpark:
			asleep = false
		}
	}
	if asleep {
		t.Errorf("G12: the last of %d sleeps has no end", sleeps)
	}
	return sleeps
}

// A sleep also ends if the poller's Wait panics or calls runtime.Goexit.
func TestG12ASleepThatAPanicCutsShortHasAnEnd(t *testing.T) {
	for name, c := range leaves {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				var r recorder
				p := &faulty{Poller: core.NewParkPoller(nil)}
				p.wait = func() error {
					if p.waits.Load() > 100 { // the loop must not go on for ever
						return io.ErrUnexpectedEOF
					}
					c.leave()
					return nil
				}
				ex := coretest.NewExecutor(t, core.WithPoller(p), core.WithTracer(&r))
				coretest.MustExecute(t, ex, func() {})
				synctest.Wait()
				p.broken.Store(true)
				coretest.MustExecute(t, ex, func() {})
				coretest.AwaitDone(t, ex)
				if sleeps := sleepsWithEnds(t, &r); sleeps < 2 {
					t.Errorf("G12: %d sleeps, want 2 or more", sleeps)
				}
				if err := ex.Termination().Err(); !errors.Is(err, c.want) {
					t.Errorf("G15: Err %v, want %v", err, c.want)
				}
			})
		})
	}
}

// fugitive is a poller for descriptors whose Wait does not return once.
type fugitive struct {
	*pollertest.Model
	leave func()
	armed atomic.Bool
}

func (p *fugitive) Wait(until core.Deadline) error {
	if p.armed.Swap(false) {
		p.leave()
	}
	return p.Model.Wait(until)
}

// A poller whose Wait panics or calls runtime.Goexit is not reopened.
func TestG15AWaitThatDoesNotReturnIsNotRepaired(t *testing.T) {
	for name, c := range leaves {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				p := &fugitive{Model: pollertest.NewModel(nil), leave: c.leave}
				l := loopOn(t, p)
				coretest.OnLoop(t, l, func() {})
				synctest.Wait()
				p.armed.Store(true)
				coretest.OnLoop(t, l, func() {})
				coretest.AwaitDone(t, l)
				coretest.WantErr(t, "G15: Err", l.Termination().Err(), c.want)
				coretest.Want(t, "calls of Reopen", p.Count(pollertest.Reopen), 0)
			})
		})
	}
}
