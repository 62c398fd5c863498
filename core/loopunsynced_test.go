package core_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"
)

// steppingPoller is a Model whose calls off the lock of the loop take a step before and after.
type steppingPoller struct {
	*pollertest.Model
	deaf atomic.Bool // Wake panics
}

var errPanicOfWait = errors.New("Wait is to panic")

func (p *steppingPoller) Wait(until core.Deadline) error {
	coretest.TakeStep()
	defer coretest.TakeStep()
	err := p.Model.Wait(until)
	if err == errPanicOfWait {
		panic(err)
	}
	return err
}

func (p *steppingPoller) Wake() {
	coretest.TakeStep()
	if p.deaf.Load() {
		panic("of Wake")
	}
	p.Model.Wake()
}

func (p *steppingPoller) Close() error {
	defer coretest.TakeStep()
	return p.Model.Close()
}

func (p *steppingPoller) Ready() []core.PollEvent {
	coretest.TakeStep()
	return p.Model.Ready()
}

// steppingHandler is a slog.Handler. Each record takes a step.
type steppingHandler struct{ slog.Handler }

func (steppingHandler) Enabled(context.Context, slog.Level) bool { return true }
func (h steppingHandler) WithAttrs([]slog.Attr) slog.Handler     { return h }
func (steppingHandler) Handle(context.Context, slog.Record) error {
	coretest.TakeStep()
	return nil
}

// steppingChannel ends when the loop aborts it.
type steppingChannel struct {
	registered chan struct{} // closed once reg is set
	reg        *core.Registration
}

func (*steppingChannel) Ready(core.Readiness) { coretest.TakeStep() }
func (*steppingChannel) Drain(core.Deadline)  { coretest.TakeStep() }
func (ch *steppingChannel) Abort(error) {
	go func() {
		<-ch.registered
		ch.reg.End(core.ChannelEnd{Kind: core.EndAborted, Held: "an answer"})
	}()
	coretest.TakeStep()
}

// calledLoop is an event loop with the objects of it that calls share. Each caller has a number, and descriptors of its own.
type calledLoop struct {
	*core.EventLoop
	model              *steppingPoller
	free               []*pollertest.Descriptor // two for each caller
	input, stream      *pollertest.Descriptor   // watched by plain; watched without EdgeTriggered
	meter              *core.Meter
	far, near, over    *core.Timer // near is due soon; over has run
	periodic           *core.Timer
	remove             func() bool
	plain, channel     *core.Registration
	promise, completed *core.Promise[int]
	bare, wrapped      *core.Promise[int] // without a listener; of a wrapper of the loop
	future             *core.Future[int]  // of a body that waits in the queue
}

// loopCallers is the number of goroutines that call a loop.
const loopCallers = 6

var errOfACall = errors.New("of a call")

// newCalledLoop returns a loop that has not started, sleeps, runs a body while other work waits, is in its quiet period, or has ended.
func newCalledLoop(t *testing.T, state string) *calledLoop {
	l := &calledLoop{model: &steppingPoller{Model: pollertest.NewModel(nil)}}
	opts := []core.Option{
		core.WithPoller(l.model), core.WithLogger(slog.New(steppingHandler{})), core.WithClock(steppingClock{}),
		core.WithTimersAtShutdown(core.RunTimersUntilTimeout),
		core.WithGoroutineStart(func(string) { coretest.TakeStep() }),
		core.WithSpawner(func(loop func()) error {
			coretest.TakeStep()
			go loop()
			return nil
		}),
	}
	if state == "new" {
		opts = append(opts, core.WithTracer(silentTracer{}), core.WithTimerJitter(1, rand.NewPCG(1, 2)))
	}
	loop, err := core.NewEventLoop(opts...)
	l.EventLoop = coretest.EndWithTest(t, loop, err)
	for range 2 * loopCallers {
		l.free = append(l.free, l.model.Open())
	}
	l.meter, l.promise, l.completed = l.NewMeter(), core.NewPromise[int](l), core.NewPromise[int](l)
	l.promise.Future().OnDone(func(int, error) { coretest.TakeStep() })
	l.completed.TrySuccess(1)
	l.bare, l.wrapped = core.NewPromise[int](l), core.NewPromise[int](steppingWrapper{l})
	if state == "new" {
		return l
	}
	l.use(t)
	switch state {
	case "busy":
		coretest.MustExecute(t, l, func() { coretest.Pass(5 * coretest.Step) })
		l.future = core.Submit(l, func() (int, error) { coretest.Pass(3 * coretest.Step); return 1, nil })
		coretest.Must(t, l.ExecuteAfterIteration(func() { coretest.TakeStep() }))
		coretest.Must(t, l.input.Input())
		coretest.Pass(3 * coretest.Step)
	case "ending":
		coretest.MustShutdownGracefully(t, l, 3*coretest.Step, 20*coretest.Step)
		coretest.Pass(5 * coretest.Step)
	case "ended":
		l.Shutdown()
		coretest.AwaitDone(t, l)
	}
	return l
}

// use starts the loop, and gives it all that the calls share. It returns when the loop sleeps.
func (l *calledLoop) use(t *testing.T) {
	var err error
	l.over = mustSchedule(t, l, 0, func() {})
	l.remove, err = l.AddShutdownHook(func() {
		coretest.TakeStep()
		_, _ = l.AddShutdownHook(func() { coretest.TakeStep() })
		coretest.TakeStep()
	})
	coretest.Must(t, err)
	l.input = l.model.Open()
	l.plain, err = l.Register(l.input.FD(), core.Readable|core.EdgeTriggered, func(core.Readiness) { coretest.TakeStep() })
	coretest.Must(t, err)
	l.stream = l.model.Open()
	_, err = l.Register(l.stream.FD(), core.Readable, func(core.Readiness) { coretest.TakeStep() })
	coretest.Must(t, err)
	l.channel = l.registerChannel(l.model.Open())
	synctest.Wait()
	coretest.Pass(20 * coretest.Step)
	l.far = mustSchedule(t, l, time.Hour, func() {})
	l.near = mustSchedule(t, l, 15*coretest.Step, func() { coretest.TakeStep() })
	l.future = core.Submit(l, func() (int, error) { return 1, nil })
	l.periodic, err = l.ScheduleWithFixedDelay(14*coretest.Step, 2*coretest.Step, func() { coretest.TakeStep() })
	coretest.Must(t, err)
	coretest.Pass(8 * coretest.Step)
}

func (l *calledLoop) registerChannel(d *pollertest.Descriptor) *core.Registration {
	ch := &steppingChannel{registered: make(chan struct{})}
	ch.reg, _ = l.RegisterChannel(d.FD(), core.Readable, ch)
	close(ch.registered)
	return ch.reg
}

// silentTracer sees what a tracer sees, and does nothing.
type silentTracer struct{}

func (silentTracer) Trace(core.Event) {}

// steppingWrapper is an executor of another package.
type steppingWrapper struct{ core.EventExecutor }

func (w steppingWrapper) InEventLoop() bool {
	coretest.TakeStep()
	return w.EventExecutor.InEventLoop()
}

// endedContext is a context that has ended.
func endedContext() context.Context {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	return ended
}

// loopCallsAtOnce are the calls of a loop that has been used or not. k is the number of the caller. Each makes one call only: a
// second one would be synchronised with the first of another goroutine.
var loopCallsAtOnce = []loopCall{
	{"Execute", func(l *calledLoop, _ int) { _ = l.Execute(func() { coretest.TakeStep() }) }},
	{"Execute of a panic", func(l *calledLoop, _ int) { _ = l.Execute(func() { panic("of a task") }) }},
	{"Execute of Goexit", func(l *calledLoop, _ int) { _ = l.Execute(runtime.Goexit) }},
	{"ExecuteLazy", func(l *calledLoop, _ int) { _ = l.ExecuteLazy(func() {}) }},
	{"ExecuteAfterIteration", func(l *calledLoop, _ int) { _ = l.ExecuteAfterIteration(func() {}) }},
	{"Submit", func(l *calledLoop, _ int) { _ = core.Submit(l, func() (int, error) { return 1, nil }) }},
	{"Schedule", func(l *calledLoop, _ int) { _, _ = l.Schedule(coretest.Step, func() { coretest.TakeStep() }) }},
	{"ScheduleWithFixedDelay", func(l *calledLoop, _ int) { _, _ = l.ScheduleWithFixedDelay(0, 3*coretest.Step, func() {}) }},
	{"AddShutdownHook", func(l *calledLoop, _ int) { _, _ = l.AddShutdownHook(func() { coretest.TakeStep() }) }},
	{"Register", func(l *calledLoop, k int) {
		_, _ = l.Register(l.free[2*k].FD(), core.Readable, func(core.Readiness) {})
	}},
	{"RegisterChannel", func(l *calledLoop, k int) { l.registerChannel(l.free[2*k+1]) }},
	{"Channels", func(l *calledLoop, _ int) {
		for range l.Channels() {
			break
		}
	}},
	{"TrySuccess", func(l *calledLoop, _ int) { _ = l.promise.TrySuccess(1) }},
	{"TryFailure", func(l *calledLoop, _ int) { _ = l.promise.TryFailure(errOfACall) }},
	{"SetUncancellable", func(l *calledLoop, _ int) { _ = l.promise.SetUncancellable() }},
	{"Cancel of a promise", func(l *calledLoop, _ int) { _ = l.promise.Future().Cancel() }},
	{"Done of a promise", func(l *calledLoop, _ int) { _ = l.promise.Future().Done() }},
	{"OnDone of a promise", func(l *calledLoop, _ int) { l.promise.Future().OnDone(func(int, error) {}) }},
	{"Wait for a promise", func(l *calledLoop, _ int) { _, _ = l.promise.Future().Wait(endedContext()) }},
	{"OnDone of a completed promise", func(l *calledLoop, _ int) { l.completed.Future().OnDone(func(int, error) { coretest.TakeStep() }) }},
	{"TrySuccess without a listener", func(l *calledLoop, _ int) { _ = l.bare.TrySuccess(1) }},
	{"OnDone of a promise without a listener", func(l *calledLoop, _ int) { l.bare.Future().OnDone(func(int, error) {}) }},
	{"TrySuccess of a wrapper", func(l *calledLoop, _ int) { _ = l.wrapped.TrySuccess(1) }},
	{"Wait for a promise of a wrapper", func(l *calledLoop, _ int) { _, _ = l.wrapped.Future().Wait(endedContext()) }},
	{"NewMeter", func(l *calledLoop, _ int) { _ = l.NewMeter() }},
	{"Read", func(l *calledLoop, _ int) { _ = l.meter.Read() }},
	{"Close of a meter", func(l *calledLoop, _ int) { l.meter.Close() }},
	{"Stack", func(l *calledLoop, _ int) { _ = l.meter.Stack(core.RunningBody{}) }},
	{"Stats", func(l *calledLoop, _ int) { _ = l.Stats() }},
	{"Running", func(l *calledLoop, _ int) { _ = l.Running() }},
	{"Report", func(l *calledLoop, _ int) { _ = l.Termination().Report() }},
	{"OnDone of the termination", func(l *calledLoop, _ int) { l.Termination().OnDone(func(core.Report, error) { coretest.TakeStep() }) }},
	{"AwaitTermination", func(l *calledLoop, _ int) { _ = l.AwaitTermination(endedContext()) }},
	{"ShutdownContext", func(l *calledLoop, _ int) { _ = l.ShutdownContext() }},
	{"Shutdown", func(l *calledLoop, _ int) { l.Shutdown() }},
	{"ShutdownGracefully", func(l *calledLoop, _ int) { _, _ = l.ShutdownGracefully(coretest.Step, 2*coretest.Step) }},
	{"ShutdownGracefully at once", func(l *calledLoop, _ int) { _, _ = l.ShutdownGracefully(0, 0) }},
}

// loopObjectCallsAtOnce are calls of objects that a loop that has not started does not have.
var loopObjectCallsAtOnce = []loopCall{
	{"ScheduleTimer", func(l *calledLoop, _ int) { _ = l.ScheduleTimer(l.over, coretest.Step, func() {}) }},
	{"Cancel", func(l *calledLoop, _ int) { _ = l.far.Cancel() }},
	{"Reset", func(l *calledLoop, _ int) { _ = l.far.Reset(coretest.Step) }},
	{"Cancel of the near timer", func(l *calledLoop, _ int) { _ = l.near.Cancel() }},
	{"Deadline", func(l *calledLoop, _ int) { _ = l.near.Deadline() }},
	{"Done of a timer", func(l *calledLoop, _ int) { _ = l.near.Done() }},
	{"Err of a timer", func(l *calledLoop, _ int) { _ = l.near.Err() }},
	{"Cancel of the periodic timer", func(l *calledLoop, _ int) { _ = l.periodic.Cancel() }},
	{"Reset of the periodic timer", func(l *calledLoop, _ int) { _ = l.periodic.Reset(coretest.Step) }},
	{"Deadline of the periodic timer", func(l *calledLoop, _ int) { _ = l.periodic.Deadline() }},
	{"Cancel of a future", func(l *calledLoop, _ int) { _ = l.future.Cancel() }},
	{"remove", func(l *calledLoop, _ int) { _ = l.remove() }},
	{"Input", func(l *calledLoop, _ int) { _ = l.input.Input() }},
	{"Modify to nothing", func(l *calledLoop, _ int) { _ = l.plain.Modify(0) }},
	{"Modify", func(l *calledLoop, _ int) { _ = l.plain.Modify(core.Readable | core.Writable | core.EdgeTriggered) }},
	{"Close of a registration", func(l *calledLoop, _ int) { _ = l.plain.Close() }},
	{"OnClose", func(l *calledLoop, _ int) { l.plain.OnClose(func(error) { coretest.TakeStep() }) }},
	{"Post", func(l *calledLoop, _ int) { _ = l.channel.Post(func() { coretest.TakeStep() }) }},
	{"End", func(l *calledLoop, _ int) { l.channel.End(core.ChannelEnd{Kind: core.EndDrained}) }},
}

type loopCall struct {
	name string
	call func(l *calledLoop, k int)
}

// TestLoopCallsNeedNoSynchronisation: all methods of an event loop, and of its timers, hooks, meters, futures and registrations, may
// be called from many goroutines at once. It works as TestPoolCallsNeedNoSynchronisation does.
func TestLoopCallsNeedNoSynchronisation(t *testing.T) {
	for _, state := range []string{"new", "idle", "busy", "ending", "ended"} {
		calls := loopCallsAtOnce
		if state != "new" {
			calls = append(calls[:len(calls):len(calls)], loopObjectCallsAtOnce...)
		}
		for _, first := range calls {
			t.Run(state+"/"+first.name, func(t *testing.T) {
				for _, second := range calls {
					coretest.InNamedBubble(t, fmt.Sprintf("S17: %s beside %s of a loop that is %s", second.name, first.name, state), func(t *testing.T) {
						callLoopAtOnce(t, newCalledLoop(t, state), first, second, 0)
					})
				}
			})
		}
	}
}

// loopWorkAtOnce begins what a loop does by itself for a while.
var loopWorkAtOnce = []loopCall{
	{"shuts down", func(l *calledLoop, _ int) { _, _ = l.ShutdownGracefully(3*coretest.Step, time.Second) }},
	{"times out", func(l *calledLoop, _ int) { _, _ = l.ShutdownGracefully(3*coretest.Step, 8*coretest.Step) }},
	{"ends", func(l *calledLoop, _ int) { l.Shutdown() }},
	{"rebuilds its poller", func(l *calledLoop, _ int) { l.model.Fail(pollertest.Wait, errOfACall) }},
	{"fails", func(l *calledLoop, _ int) { l.model.Fail(pollertest.Wait, errOfACall, errOfACall) }},
	{"fails by a panic", func(l *calledLoop, _ int) { l.model.Fail(pollertest.Wait, errPanicOfWait) }},
	{"cannot be woken", func(l *calledLoop, _ int) { l.model.deaf.Store(true) }},
	{"polls while it is busy", func(l *calledLoop, _ int) {
		turns := 0
		var task func()
		task = func() {
			coretest.TakeStep()
			if turns++; turns < 20 {
				_ = l.Execute(task)
			}
		}
		_ = l.Execute(task)
		_ = l.stream.Input()
	}},
}

// TestCallsNeedNoSynchronisationWithTheLoop: no method of an event loop, and of its timers, hooks, meters, futures and registrations,
// needs synchronisation with the work of the loop itself, such as its end or a failure of its poller. It works as
// TestLoopCallsNeedNoSynchronisation does.
func TestCallsNeedNoSynchronisationWithTheLoop(t *testing.T) {
	calls := append(loopCallsAtOnce[:len(loopCallsAtOnce):len(loopCallsAtOnce)], loopObjectCallsAtOnce...)
	for _, work := range loopWorkAtOnce {
		for _, state := range []string{"idle", "busy"} {
			t.Run(state+"/"+work.name, func(t *testing.T) {
				for _, call := range calls {
					for delay := time.Duration(0); delay < 30; delay += loopCallers - 1 {
						name := fmt.Sprintf("S17: %s beside a loop that was %s and %s", call.name, state, work.name)
						coretest.InNamedBubble(t, name, func(t *testing.T) { callLoopAtOnce(t, newCalledLoop(t, state), work, call, delay*coretest.Step) })
					}
				}
			})
		}
	}
}

// callLoopAtOnce makes the first call, and the second after the delay, and again after each step.
func callLoopAtOnce(t *testing.T, l *calledLoop, first, second loopCall, delay time.Duration) {
	coretest.CallBeside(loopCallers-1, func() { first.call(l, 0) }, func(k int) {
		coretest.Pass(delay)
		second.call(l, k+1)
	})
	l.model.deaf.Store(false)
	if l.channel != nil {
		_ = l.channel.Post(func() {}) // wakes a loop that a call could not wake
	}
	l.Shutdown()
	coretest.AwaitDone(t, l)
	coretest.Pass(2 * loopCallers * coretest.Step) // listeners of the end run
	if s := l.Stats(); s.Pending != 0 || s.Timers != 0 || s.Registrations != 0 || s.Accepted != s.Ran+s.Cancelled {
		t.Errorf("G20: the loop has ended, and its counts are %+v", s)
	}
}
