package props

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"time"

	"eventide/core"
)

// argument is a call with one argument at or beyond a bound.
type argument struct {
	call string // that the error names
	good bool
	try  func() error
}

// optionsOf are the options at and beyond their bounds. An option has to be taken or refused by
// each constructor alike.
func optionsOf() []argument {
	option := func(call string, good bool, option core.Option) argument {
		return argument{call, good, func() error { _, err := core.NewExecutor(option); return err }}
	}
	return []argument{
		option("options", true, nil), option("WithName", false, core.WithName("")), option("WithName", true, core.WithName("a")),
		option("WithMaxPendingTasks", false, core.WithMaxPendingTasks(0)), option("WithMaxPendingTasks", false, core.WithMaxPendingTasks(-1)),
		option("WithMaxPendingTasks", true, core.WithMaxPendingTasks(1)), option("WithMaxPendingTasks", true, core.WithMaxPendingTasks(math.MaxInt)),
		option("WithRejectedHandler", true, core.WithRejectedHandler(nil)), option("WithRejectedHandler", true, core.WithRejectedHandler(core.RefuseWhenFull)),
		option("WithRejectedHandler", true, core.WithRejectedHandler(core.BackOff(0, 1))), option("WithRejectedHandler", true, core.WithRejectedHandler(core.BackOff(1, 0))),
		option("WithRejectedHandler", true, core.WithRejectedHandler(core.BackOff(1, 1))),
		option("WithTimersAtShutdown", false, core.WithTimersAtShutdown(core.CancelTimers-1)), option("WithTimersAtShutdown", false, core.WithTimersAtShutdown(core.RunTimersUntilTimeout+1)),
		option("WithTimersAtShutdown", true, core.WithTimersAtShutdown(core.CancelTimers)), option("WithTimersAtShutdown", true, core.WithTimersAtShutdown(core.RunTimersUntilTimeout)),
		option("WithDrain", false, core.WithDrain(core.DrainChannels-1)), option("WithDrain", false, core.WithDrain(core.CloseChannels+1)),
		option("WithDrain", true, core.WithDrain(core.DrainChannels)), option("WithDrain", true, core.WithDrain(core.CloseChannels)),
		option("WithLogger", true, core.WithLogger(nil)), option("WithLogger", true, core.WithLogger(slog.New(slog.DiscardHandler))),
		option("WithPanicHandler", true, core.WithPanicHandler(nil)), option("WithPanicHandler", true, core.WithPanicHandler(func(*core.PanicError) {})),
		option("WithSpawner", true, core.WithSpawner(nil)), option("WithSpawner", true, core.WithSpawner(func(func()) error { return nil })),
		option("WithGoroutineStart", true, core.WithGoroutineStart(nil)), option("WithGoroutineStart", true, core.WithGoroutineStart(func(string) {})),
		option("WithTracer", true, core.WithTracer(nil)), option("WithClock", true, core.WithClock(nil)), option("WithPoller", true, core.WithPoller(nil)),
		option("WithIORatio", false, core.WithIORatio(0)), option("WithIORatio", false, core.WithIORatio(101)),
		option("WithIORatio", true, core.WithIORatio(1)), option("WithIORatio", true, core.WithIORatio(100)),
		option("WithSpin", false, core.WithSpin(-1)), option("WithSpin", false, core.WithSpin(10*time.Millisecond+1)),
		option("WithSpin", true, core.WithSpin(0)), option("WithSpin", true, core.WithSpin(10*time.Millisecond)),
		option("WithBlockingEpoll", true, core.WithBlockingEpoll()),
	}
}

// constructors are the functions that make executors, with arguments that they refuse.
func constructors() []argument {
	poller := func() core.Option { return core.WithPoller(core.NewParkPoller(nil)) }
	refused := func(call string, make func() error) argument { return argument{call, false, make} }
	bad := core.WithName("")
	return []argument{
		refused("NewPool", func() error { _, err := core.NewPool(0); return err }),
		refused("NewPool", func() error { _, err := core.NewPool(1, poller()); return err }),
		refused("WithName", func() error { _, err := core.NewPool(1, bad); return err }),
		refused("NewExecutorGroup", func() error { _, err := core.NewExecutorGroup(0); return err }),
		refused("NewExecutorGroup", func() error { _, err := core.NewExecutorGroup(1, poller()); return err }),
		refused("WithName", func() error { _, err := core.NewExecutorGroup(1, bad); return err }),
		refused("NewGroup", func() error { _, err := core.NewGroup(0); return err }),
		refused("NewGroup", func() error { _, err := core.NewGroup(1, poller()); return err }),
		refused("NewEventLoop", func() error { _, err := core.NewEventLoop(poller()); return err }),
		refused("WithName", func() error { _, err := core.NewEventLoop(bad); return err }),
		{"NewPool", true, func() error { _, err := core.NewPool(1); return err }},
		{"NewExecutorGroup", true, func() error { _, err := core.NewExecutorGroup(1); return err }},
		refused("NewTermination", func() error {
			_, _, err := core.NewTermination(nil, func() core.Report { return core.Report{} })
			return err
		}),
		refused("NewTermination", func() error { _, _, err := core.NewTermination(func() error { return nil }, nil); return err }),
	}
}

// callsOf are calls on the executor of the run that it refuses in every state.
func (h *harness) callsOf() []argument {
	refused := func(call string, try func() error) argument { return argument{call, false, try} }
	task, ctx := func() {}, context.Background()
	var none context.Context
	ex := h.ex
	all := []argument{
		refused("Execute", func() error { return ex.Execute(nil) }),
		refused("ExecuteLazy", func() error { return ex.ExecuteLazy(nil) }),
		refused("TryExecute", func() error { return ex.TryExecute(nil) }),
		refused("Schedule", func() error { _, err := ex.Schedule(0, nil); return err }),
		refused("ScheduleTimer", func() error { return ex.ScheduleTimer(new(core.Timer), 0, nil) }),
		refused("ScheduleTimer", func() error { return ex.ScheduleTimer(nil, 0, task) }),
		refused("ScheduleAtFixedRate", func() error { _, err := ex.ScheduleAtFixedRate(0, 1, nil); return err }),
		refused("ScheduleAtFixedRate", func() error { _, err := ex.ScheduleAtFixedRate(-1, 1, task); return err }),
		refused("ScheduleAtFixedRate", func() error { _, err := ex.ScheduleAtFixedRate(0, 0, task); return err }),
		refused("ScheduleWithFixedDelay", func() error { _, err := ex.ScheduleWithFixedDelay(0, 1, nil); return err }),
		refused("ScheduleWithFixedDelay", func() error { _, err := ex.ScheduleWithFixedDelay(-1, 1, task); return err }),
		refused("ScheduleWithFixedDelay", func() error { _, err := ex.ScheduleWithFixedDelay(0, 0, task); return err }),
		refused("AddShutdownHook", func() error { _, err := ex.AddShutdownHook(nil); return err }),
		refused("ShutdownGracefully", func() error { _, err := ex.ShutdownGracefully(-1, 0); return err }),
		refused("ShutdownGracefully", func() error { _, err := ex.ShutdownGracefully(2, 1); return err }),
		refused("ShutdownGracefully", func() error { _, err := ex.ShutdownGracefully(0, -1); return err }),
		refused("Wait", func() error { return ex.AwaitTermination(none) }),
		refused("Submit", func() error { _, err := core.Submit[int](ex, nil).Wait(ctx); return err }),
		refused("Submit", func() error {
			_, err := core.Submit(nil, func() (int, error) { return 0, nil }).Wait(ctx)
			return err
		}),
		refused("InvokeAll", func() error { _, err := core.InvokeAll[int](ctx, ex, nil); return err }),
		refused("InvokeAny", func() error { _, err := core.InvokeAny[int](ctx, ex, nil); return err }),
		refused("InvokeAll", func() error { _, err := core.InvokeAll[int](ctx, nil); return err }),
		refused("InvokeAny", func() error { _, err := core.InvokeAny[int](ctx, (*core.Pool)(nil)); return err }),
	}
	if loop := h.single(); loop != nil {
		all = append(all, refused("ExecuteAfterIteration", func() error { return loop.ExecuteAfterIteration(nil) }))
	}
	if loop := h.fds.loop; loop != nil {
		all = append(all,
			refused("Register", func() error { _, err := loop.Register(0, core.Readable, nil); return err }),
			refused("Register", func() error { _, err := loop.Register(-1, core.Readable, func(core.Readiness) {}); return err }),
			refused("Register", func() error { _, err := loop.Register(0, 1<<7, func(core.Readiness) {}); return err }),
			refused("RegisterChannel", func() error { _, err := loop.RegisterChannel(0, core.Readable, nil); return err }))
	}
	return all
}

// askArguments tries calls and options with arguments at and beyond their bounds. An error names the
// call, is no refusal, and the call has no effect: what it would add would be in the counters, and
// in no log.
func (h *harness) askArguments() {
	for _, a := range append(append(optionsOf(), constructors()...), h.callsOf()...) {
		if wrong := a.wrong(); wrong != "" {
			h.blame("%s", wrong)
		}
	}
}

// wrong returns what is wrong with the answer, or "".
func (a argument) wrong() string {
	err := a.try()
	switch {
	case a.good && err != nil:
		return fmt.Sprintf("%s with a good argument returns %v", a.call, err)
	case a.good:
	case err == nil:
		return a.call + " with a bad argument returns no error"
	case errors.Is(err, core.ErrRejected), !strings.HasPrefix(err.Error(), "core: "+a.call+": "):
		return fmt.Sprintf("%s with a bad argument returns %v", a.call, err)
	}
	return ""
}
