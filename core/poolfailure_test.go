package core_test

import (
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// zeros is a source of jitter that counts its calls.
type zeros struct{ calls atomic.Int64 }

func (z *zeros) Uint64() uint64 {
	z.calls.Add(1)
	return 0
}

// TestPoolG15AFailedPoolDrawsNoJitter: once the clock of one worker has failed, the other workers call neither the clock nor the
// source of jitter, also if a run of a periodic timer ends only then (G15).
func TestPoolG15AFailedPoolDrawsNoJitter(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		clock, source := newStopped(), &zeros{}
		p := coretest.NewPool(t, 2, core.WithClock(clock), core.WithTimerJitter(time.Second, source), core.WithLogger(slog.New(slog.DiscardHandler)))
		release := make(chan struct{})
		timer, err := p.ScheduleAtFixedRate(0, time.Hour, func() { <-release })
		coretest.Must(t, err)
		synctest.Wait()
		coretest.MustExecute(t, p, func() { clock.broken.Store(true) })
		synctest.Wait()
		before := source.calls.Load()
		close(release)
		wantClock(t, p)
		coretest.Want(t, "G15: readings of the source of jitter after the failure", source.calls.Load()-before, 0)
		coretest.WantErr(t, "G9: Err of the timer", timer.Err(), core.ErrCancelled)
	})
}

// TestPoolMeterOfAWakeUpThatFails: a wake-up whose worker then fails, because its clock panics, is a sample like any other: it ends
// as the worker wakes, and not at a later wake-up.
func TestPoolMeterOfAWakeUpThatFails(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		clock := newStopped()
		p := coretest.NewPool(t, 1, core.WithClock(clock), core.WithLogger(slog.New(slog.DiscardHandler)))
		coretest.OnLoop(t, p, func() {})
		synctest.Wait() // the worker sleeps
		meter := p.NewMeter()
		meter.Read() // wants a sample
		clock.broken.Store(true)
		var waits []time.Duration
		coretest.MustExecute(t, p, func() { waits = meter.Read().Waits })
		wantClock(t, p)
		coretest.Want(t, "samples before the task that has woken the worker", len(waits), 1)
	})
}

// contextTracer counts the wake-ups of a pool, and those in which the pool's Context has ended.
type contextTracer struct {
	pool        atomic.Pointer[core.Pool]
	wakes, late atomic.Int64
}

func (c *contextTracer) Trace(ev core.Event) {
	if p := c.pool.Load(); p != nil && ev.Kind == core.EventWake {
		c.wakes.Add(1)
		if p.Context().Err() != nil {
			c.late.Add(1)
		}
	}
}

// TestPoolG11ContextEndsWithoutTheMutex: whatever closes admission releases the pool's mutex before it ends Context. Thousands of
// contexts may be derived from Context, and no call waits until all of them have ended. The wake-up of the worker that ends the pool
// is traced with the mutex held, so Context has not ended then (G11).
func TestPoolG11ContextEndsWithoutTheMutex(t *testing.T) {
	for name, shutDown := range map[string]func(t *testing.T, p *core.Pool, clock *stopped){
		"Shutdown":     func(_ *testing.T, p *core.Pool, _ *stopped) { p.Shutdown() },
		"zero timeout": func(t *testing.T, p *core.Pool, _ *stopped) { coretest.MustShutdownGracefully(t, p, 0, 0) },
		"timeout": func(t *testing.T, p *core.Pool, clock *stopped) {
			coretest.MustShutdownGracefully(t, p, time.Minute, time.Minute)
			clock.advance(time.Hour)
		},
		"failure": func(t *testing.T, p *core.Pool, clock *stopped) {
			coretest.MustExecute(t, p, func() { clock.broken.Store(true) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				clock, tracer := newStopped(), &contextTracer{}
				p := coretest.NewPool(t, 3, core.WithClock(clock), core.WithTracer(tracer), core.WithLogger(slog.New(slog.DiscardHandler)))
				release, first := block(t, p), block(t, p)
				coretest.OnLoop(t, p, func() {})
				first()
				synctest.Wait() // two workers sleep: one for the task that fails, and one to end the pool
				tracer.pool.Store(p)
				shutDown(t, p, clock)
				synctest.Wait()
				if p.Context().Err() == nil || tracer.wakes.Load() == 0 {
					t.Errorf("not exercised: Context has ended: %v, after %d wake-ups", p.Context().Err(), tracer.wakes.Load())
				}
				coretest.Want(t, "G11: wake-ups of workers after Context has ended", tracer.late.Load(), 0)
				release()
				coretest.AwaitDone(t, p)
			})
		})
	}
}
