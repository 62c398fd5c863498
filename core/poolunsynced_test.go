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

// poolStep is how long each reading of the clock, each call of the spawner, each start of a goroutine and each body takes in
// TestPoolCallsNeedNoSynchronisation.
const poolStep = 10 * time.Millisecond

// steppingClock is the clock of the bubble. Each reading takes a step.
type steppingClock struct{}

func (steppingClock) Now() time.Time {
	time.Sleep(poolStep) // of the bubble
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
			time.Sleep(poolStep) // of the bubble
			go func() {
				time.Sleep(poolStep) // of the bubble
				loop()
			}()
			return nil
		}))}
	p.meter, p.promise = p.NewMeter(), core.NewPromise[int](p)
	p.promise.Future().OnDone(func(int, error) { time.Sleep(poolStep) })
	if state != "new" {
		remove, err := p.AddShutdownHook(func() {})
		coretest.Must(t, err)
		p.remove, p.timer = remove, mustSchedule(t, p, time.Hour, func() {})
		synctest.Wait()
	}
	if state == "busy" {
		coretest.MustExecute(t, p, func() { time.Sleep(20 * poolStep) })
		time.Sleep(5 * poolStep)
	}
	return p
}

// poolCallsAtOnce are the calls. Each makes one call only: a second one would be synchronised with the first of another goroutine.
var poolCallsAtOnce = []struct {
	name string
	call func(p calledPool)
}{
	{"Execute", func(p calledPool) { _ = p.Execute(func() { time.Sleep(poolStep) }) }},
	{"Execute of a panic", func(p calledPool) { _ = p.TryExecute(func() { panic("of a task") }) }},
	{"Execute of Goexit", func(p calledPool) { _ = p.Execute(runtime.Goexit) }},
	{"ExecuteLazy", func(p calledPool) { _ = p.ExecuteLazy(func() {}) }},
	{"Schedule", func(p calledPool) { _, _ = p.Schedule(poolStep, func() { time.Sleep(poolStep) }) }},
	{"ScheduleAtFixedRate", func(p calledPool) { _, _ = p.ScheduleAtFixedRate(0, 3*poolStep, func() { time.Sleep(poolStep) }) }},
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
	{"AddShutdownHook", func(p calledPool) { _, _ = p.AddShutdownHook(func() { time.Sleep(poolStep) }) }},
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
	{"ShutdownGracefully", func(p calledPool) { _, _ = p.ShutdownGracefully(poolStep, time.Second) }},
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
						coretest.CallBeside(poolStep, 4, func() { first.call(p) }, func(int) { second.call(p) })
						p.Shutdown()
						coretest.AwaitDone(t, p)
					})
				}
			})
		}
	}
}
