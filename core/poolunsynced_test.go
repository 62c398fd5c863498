package core_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// steppingClock is the clock of the bubble. Each reading takes a step.
type steppingClock struct{}

func (steppingClock) Now() time.Time {
	coretest.TakeStep()
	return time.Now()
}

func (steppingClock) AfterFunc(d time.Duration, f func()) core.Alarm { return time.AfterFunc(d, f) }

// calledPool is a pool with the objects of it that calls share.
type calledPool struct {
	*core.Pool
	meter   *core.Meter
	timer   *core.Timer // nil, as remove is: the pool has not started
	remove  func() bool
	promise *core.Promise[int] // with a listener
}

// newCalledPool returns a pool that has not started, or whose one worker sleeps, or runs a body.
func newCalledPool(t *testing.T, state string) calledPool {
	p := calledPool{Pool: coretest.NewPool(t, 2, core.WithClock(steppingClock{}), core.WithLogger(slog.New(slog.DiscardHandler)),
		core.WithSpawner(func(loop func()) error {
			coretest.TakeStep()
			go func() {
				coretest.TakeStep()
				loop()
			}()
			return nil
		}))}
	p.meter, p.promise = p.NewMeter(), core.NewPromise[int](p)
	p.promise.Future().OnDone(func(int, error) { coretest.TakeStep() })
	if state != "new" {
		remove, err := p.AddShutdownHook(func() {})
		coretest.Must(t, err)
		p.remove, p.timer = remove, mustSchedule(t, p, time.Hour, func() {})
		synctest.Wait()
	}
	if state == "busy" {
		coretest.MustExecute(t, p, func() { coretest.Pass(20 * coretest.Step) })
		coretest.Pass(5 * coretest.Step)
	}
	return p
}

// poolCallsAtOnce are the calls. Each makes one call only: a second one would be synchronised with the first of another goroutine.
var poolCallsAtOnce = []struct {
	name string
	call func(p calledPool)
}{
	{"Execute", func(p calledPool) { _ = p.Execute(func() { coretest.TakeStep() }) }},
	{"Execute of a panic", func(p calledPool) { _ = p.TryExecute(func() { panic("of a task") }) }},
	{"Execute of Goexit", func(p calledPool) { _ = p.Execute(runtime.Goexit) }},
	{"ExecuteLazy", func(p calledPool) { _ = p.ExecuteLazy(func() {}) }},
	{"Schedule", func(p calledPool) { _, _ = p.Schedule(coretest.Step, func() { coretest.TakeStep() }) }},
	{"ScheduleAtFixedRate", func(p calledPool) { _, _ = p.ScheduleAtFixedRate(0, 3*coretest.Step, func() { coretest.TakeStep() }) }},
	{"Cancel", func(p calledPool) {
		if p.timer != nil {
			_ = p.timer.Cancel()
		}
	}},
	{"Reset", func(p calledPool) {
		if p.timer != nil {
			_ = p.timer.Reset(time.Minute)
		}
	}},
	{"Deadline", func(p calledPool) {
		if p.timer != nil {
			_ = p.timer.Deadline()
		}
	}},
	{"AddShutdownHook", func(p calledPool) { _, _ = p.AddShutdownHook(func() { coretest.TakeStep() }) }},
	{"remove", func(p calledPool) {
		if p.remove != nil {
			_ = p.remove()
		}
	}},
	{"TrySuccess", func(p calledPool) { _ = p.promise.TrySuccess(1) }},
	{"NewMeter", func(p calledPool) { _ = p.NewMeter() }},
	{"Read", func(p calledPool) { _ = p.meter.Read() }},
	{"Close of a meter", func(p calledPool) { p.meter.Close() }},
	{"Stats", func(p calledPool) { _ = p.Stats() }},
	{"Running", func(p calledPool) { _ = p.Running() }},
	{"Report", func(p calledPool) { _ = p.Termination().Report() }},
	{"String", func(p calledPool) { _ = p.String() }},
	{"Size", func(p calledPool) { _ = p.Size() }},
	{"Resize", func(p calledPool) { _ = p.Resize(1) }},
	{"AwaitTermination", func(p calledPool) {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		_ = p.AwaitTermination(ended)
	}},
	{"ShutdownContext", func(p calledPool) { _ = p.ShutdownContext() }},
	{"Shutdown", func(p calledPool) { p.Shutdown() }},
	{"ShutdownGracefully", func(p calledPool) { _, _ = p.ShutdownGracefully(coretest.Step, time.Second) }},
}

// TestPoolCallsNeedNoSynchronisation: all methods of a pool, and of its meters, timers and hooks, may be called from many
// goroutines at once. For each pair of calls, one goroutine makes the first, and others make the second, each after another part of
// the work that the first has caused. Virtual time orders the calls, and nothing else does, so the race detector sees each access
// that the pool does not guard: the test needs the detector, and no two goroutines that really run at once.
func TestPoolCallsNeedNoSynchronisation(t *testing.T) {
	for _, state := range []string{"new", "idle", "busy"} {
		for _, first := range poolCallsAtOnce {
			t.Run(state+"/"+first.name, func(t *testing.T) {
				for _, second := range poolCallsAtOnce {
					coretest.InNamedBubble(t, fmt.Sprintf("S17: %s beside %s of a pool that is %s", second.name, first.name, state), func(t *testing.T) {
						p := newCalledPool(t, state)
						coretest.CallBeside(4, func() { first.call(p) }, func(int) { second.call(p) })
						p.Shutdown()
						coretest.AwaitDone(t, p)
					})
				}
			})
		}
	}
}
