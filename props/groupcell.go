package props

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"eventide/core"
	"eventide/props/history"

	"pgregory.net/rapid"
)

// GroupCell makes calls on a group from one context in one state, and judges each answer. It is the whole
// program. The zero value makes none.
type GroupCell struct {
	Context string        `json:"context,omitempty"`
	State   history.State `json:"state,omitempty"`
	Calls   [4]string     `json:"calls,omitzero"` // methods of Group; "" is none
}

// The vehicle of a cell is a body of a child that takes groupBusy; the shutdown call comes at shutdownAt. Where the
// body does not make the calls itself, they come at groupCallsAt.
const (
	groupBusy    = 5 * time.Millisecond
	groupCallsAt = 3 * time.Millisecond
)

// groupContexts are the contexts of cells. Those of descriptors need a group of event loops, which virtual time
// does not have: NewGroup refuses WithPoller, and its loops sleep in epoll.
var groupContexts = []string{"goroutine", "task", "tail", "timer", "hook", "listener", onOtherLoop, inSpawner, "panic handler", "end listener"}

// groupCalls are the methods of Group.
var groupCalls = []string{
	"Next", "All", "Execute", "ExecuteLazy", "Schedule", "ScheduleAtFixedRate", "ScheduleWithFixedDelay", "InEventLoop", "State", "Stats",
	"Termination", "Context", "ShutdownContext", "AwaitTermination", "ShutdownGracefully", "Shutdown", "Close",
}

// groupCell generates cells.
func groupCell(t *rapid.T) GroupCell {
	c := GroupCell{Context: rapid.SampledFrom(groupContexts).Draw(t, "context")}
	c.State = rapid.SampledFrom(statesOf(c.Context)).Draw(t, "state")
	for i := range c.Calls {
		c.Calls[i] = rapid.SampledFrom(groupCalls).Draw(t, "call")
	}
	return c
}

// smaller returns the cells that are one step smaller.
func (c GroupCell) smaller() (list []GroupCell) {
	if c.Context == "" {
		return nil
	}
	for i, call := range c.Calls {
		if call != "" {
			d := c
			d.Calls[i] = ""
			list = append(list, d)
		}
	}
	return list
}

// groupRun is a run of a cell.
type groupRun struct {
	GroupCell
	g        *core.Group
	children []core.EventExecutor
	seen     func(call, context string, at core.State) // nil: no caller wants the calls
	wrong    string

	turn   int          // index of the child that Next returns
	least  core.State   // of the group
	exact  bool         // it is the state
	tasks  atomic.Int64 // that were accepted
	timers []*core.Timer
	ran    atomic.Int64
	exits  bool // the body has ended its goroutine, whose loop continues on another one
	made   bool // the calls have begun
	over   chan struct{}
}

func (r *groupRun) blame(format string, args ...any) {
	if r.wrong == "" {
		r.wrong = fmt.Sprintf("%s in a %s, state %v: ", r.Calls, r.Context, r.State) + fmt.Sprintf(format, args...)
	}
}

// runCell runs the cell of the program. It returns a violation as text, or "". seen, unless nil, gets each call.
func (p GroupProgram) runCell(seen func(call, context string, at core.State)) string {
	r := &groupRun{GroupCell: p.Cell, seen: seen, least: core.State(p.Cell.State), exact: true, over: make(chan struct{})}
	g, err := core.NewExecutorGroup(p.Children, core.WithLogger(slog.New(slog.DiscardHandler)), core.WithSpawner(r.spawn),
		core.WithPanicHandler(func(*core.PanicError) {
			if r.Context == "panic handler" {
				r.calls()
			}
		}))
	if err != nil {
		return err.Error()
	}
	r.g, r.children = g, slices.Collect(g.All())
	if len(r.children) != p.Children {
		return fmt.Sprintf("All has %d children, want %d", len(r.children), p.Children)
	}
	finish := r.vehicle()
	if r.State > history.NotStarted {
		time.Sleep(shutdownAt)
		r.stop()
		time.Sleep(groupCallsAt - shutdownAt)
	}
	if r.State == history.Terminated {
		<-g.Termination().Done()
	}
	finish()
	if r.State != history.NotStarted || r.Context == inSpawner {
		time.Sleep(2 * groupBusy) // the vehicle has made its calls
	}
	g.Shutdown()
	report, err := g.Termination().Wait(context.Background())
	if err != nil {
		r.blame("the group ends with %v", err)
	}
	select { // those of a listener come after Done
	case <-r.over:
	case <-time.After(patience):
		r.blame("no call was made")
	}
	r.end(report)
	if text := wrongSums(g, report); text != "" {
		r.blame("%s", text)
	}
	if text := unfinished(g); text != "" {
		r.blame("%s", text)
	}
	return r.wrong
}

// stop brings the group to the state.
func (r *groupRun) stop() {
	switch r.State {
	case history.ShuttingDown:
		_, _ = r.g.ShutdownGracefully(20*time.Millisecond, 120*time.Millisecond)
	case history.Shutdown, history.Terminated:
		_, _ = r.g.ShutdownGracefully(0, shutdownAt)
	}
}

// busy submits a body that takes groupBusy. A call of the spawner may have it refused.
func (r *groupRun) busy(submit func(func()) error, then func()) {
	err := submit(func() {
		defer r.ran.Add(1)
		time.Sleep(groupBusy)
		then()
	})
	if err == nil {
		r.tasks.Add(1)
	}
}

// vehicle begins the body of the context on the next child. finish makes the calls of contexts that are no body.
func (r *groupRun) vehicle() (finish func()) {
	if r.State == history.NotStarted {
		return r.unstarted()
	}
	for range r.children { // the state of the group is the least of theirs
		r.tasks.Add(1)
		_ = r.next().Execute(func() { r.ran.Add(1) })
	}
	child := r.next().(*core.Executor)
	then, finish := func() {}, func() {}
	switch r.Context {
	case "goroutine":
		finish = r.calls
	case onOtherLoop:
		finish = r.elsewhere
	case "end listener":
		r.g.Termination().OnDone(func(core.Report, error) { r.calls() })
	case "listener":
		promise := core.NewPromise[int](child)
		promise.Future().OnDone(func(int, error) { r.calls() })
		if r.State == history.Terminated {
			finish = func() { promise.TrySuccess(promised) }
		} else {
			then = func() { promise.TrySuccess(promised) }
		}
	case inSpawner: // the body ends the goroutine of the loop
		then = func() { r.exits = true; runtime.Goexit() }
	case "panic handler":
		if r.State == history.Terminated {
			finish = func() { offLoopPanic(child) }
		} else {
			then = func() { panic(plannedPanic) }
		}
	case "hook":
		_, _ = child.AddShutdownHook(func() { time.Sleep(groupBusy); r.calls() })
		return finish
	case "timer":
		_, _ = child.Schedule(0, func() { time.Sleep(groupBusy); r.calls() })
		return finish
	case "tail":
		r.busy(child.ExecuteAfterIteration, r.calls)
		return finish
	case "task":
		then = r.calls
	}
	r.busy(child.Execute, then)
	return finish
}

// offLoopPanic makes a listener panic on the caller.
func offLoopPanic(ended *core.Executor) {
	promise := core.NewPromise[int](ended)
	promise.Future().OnDone(func(int, error) { panic(plannedPanic) })
	promise.TrySuccess(promised)
}

// unstarted makes the calls before any child has started, or in the spawner of the first.
func (r *groupRun) unstarted() (finish func()) {
	switch r.Context {
	case inSpawner:
		return func() { r.busy(r.next().Execute, func() {}) }
	case onOtherLoop:
		return r.elsewhere
	}
	return r.calls
}

func (r *groupRun) elsewhere() {
	other, err := core.NewExecutor(core.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		panic(err) // there is no option that could be wrong
	}
	done := core.Submit(other, func() (int, error) { r.calls(); return 0, nil })
	<-done.Done()
	_ = other.Close()
}

// spawn makes the calls in the start of the first child, or in its start after the end of a goroutine.
func (r *groupRun) spawn(loop func()) error {
	if r.Context == inSpawner && (r.State == history.NotStarted || r.exits) {
		r.calls()
	}
	go loop()
	return nil
}

// next takes a turn.
func (r *groupRun) next() core.EventExecutor {
	child := r.g.Next()
	if want := r.children[r.turn]; child != want {
		r.blame("Next returns another child than child %d", r.turn)
	}
	r.turn = (r.turn + 1) % len(r.children)
	return child
}

// end judges the report: accepted tasks have run, and timers were cancelled.
func (r *groupRun) end(report core.Report) {
	if ran, tasks := r.ran.Load(), r.tasks.Load(); ran != tasks || report.Accepted != tasks || report.Ran != tasks || report.Cancelled != 0 {
		r.blame("%d tasks were accepted and %d ran, and the report has %d, %d, and %d cancelled", tasks, ran, report.Accepted, report.Ran, report.Cancelled)
	}
	for _, t := range r.timers {
		if !isClosed(t.Done()) || !errors.Is(t.Err(), core.ErrCancelled) {
			r.blame("a timer has ended: %v, with %v", isClosed(t.Done()), t.Err())
		}
	}
	if n := int64(len(r.timers)); report.TimersCancelled != n {
		r.blame("%d timers were accepted, and the report has %d as cancelled", n, report.TimersCancelled)
	}
}
