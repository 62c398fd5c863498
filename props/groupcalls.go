package props

import (
	"context"
	"errors"
	"slices"
	"time"

	"eventide/core"
	"eventide/props/history"
)

// mustNotWait returns the errors of which a call that waits returns one at once: the loop of a child waits for
// the caller. Elsewhere it returns nil.
func (r *groupRun) mustNotWait() []error {
	switch {
	case r.Context == inSpawner && r.State == history.NotStarted:
		return []error{core.ErrStarting}
	case r.Context == inSpawner: // the goroutine of the loop is ending
		return []error{core.ErrStarting, core.ErrInEventLoop}
	case r.Context == "goroutine", r.Context == onOtherLoop, r.State == history.Terminated:
		return nil
	}
	return []error{core.ErrInEventLoop}
}

func isOneOf(err error, wants []error) bool {
	return slices.ContainsFunc(wants, func(want error) bool { return errors.Is(err, want) })
}

// calls makes the calls of the cell, once.
func (r *groupRun) calls() {
	if r.made {
		return
	}
	r.made = true
	defer close(r.over)
	for _, call := range r.Calls {
		if call == "" {
			continue
		}
		at := r.g.State()
		if at < r.least || r.exact && at != r.least {
			r.blame("before %s the group is in state %v, want %v", call, at, r.least)
		}
		if r.seen != nil {
			r.seen("Group."+call, r.Context, at)
		}
		r.call(call)
	}
}

// call makes one call.
func (r *groupRun) call(call string) {
	switch call {
	case "Next":
		r.next()
	case "All":
		if all := slices.Collect(r.g.All()); !slices.Equal(all, r.children) {
			r.blame("All returns other children than before")
		}
	case "Execute":
		r.submit(func(f func()) error { return r.g.Execute(f) })
	case "ExecuteLazy":
		r.submit(func(f func()) error { return r.g.ExecuteLazy(f) })
	case "Schedule":
		r.schedule(func(f func()) (*core.Timer, error) { return r.g.Schedule(time.Hour, f) })
	case "ScheduleAtFixedRate":
		r.schedule(func(f func()) (*core.Timer, error) { return r.g.ScheduleAtFixedRate(time.Hour, time.Hour, f) })
	case "ScheduleWithFixedDelay":
		r.schedule(func(f func()) (*core.Timer, error) { return r.g.ScheduleWithFixedDelay(time.Hour, time.Hour, f) })
	case "AwaitTermination":
		ctx, stop := context.WithTimeout(context.Background(), time.Millisecond)
		defer stop()
		r.waits(call, func() error { return r.g.AwaitTermination(ctx) })
	case "Close":
		r.waits(call, r.g.Close)
		r.least, r.exact = max(r.least, core.StateShuttingDown), false
	case "ShutdownGracefully":
		if t, err := r.g.ShutdownGracefully(20*time.Millisecond, 120*time.Millisecond); err != nil || t != r.g.Termination() {
			r.blame("ShutdownGracefully returns %v, and another Termination: %v", err, t != r.g.Termination())
		}
		r.shuts(core.StateShuttingDown)
	case "Shutdown":
		if t := r.g.Shutdown(); t != r.g.Termination() {
			r.blame("Shutdown returns another Termination")
		}
		r.shuts(core.StateShutdown)
	default:
		r.query(call)
	}
}

// shuts is called after a call that leads to the state. Children without work may have come further.
func (r *groupRun) shuts(to core.State) {
	if r.least < to {
		r.least, r.exact = to, false
	}
}

// query makes a call that changes nothing.
func (r *groupRun) query(call string) {
	inside, t := r.mustNotWait() != nil, r.g.Termination()
	switch call {
	case "InEventLoop":
		if is := r.g.InEventLoop(); is != inside && r.Context != inSpawner {
			r.blame("InEventLoop is %v", is)
		}
	case "State":
		if s := r.g.State(); s < r.least || r.exact && s != r.least {
			r.blame("State is %v, want %v", s, r.least)
		}
	case "Stats":
		if s, tasks := r.g.Stats(), r.tasks.Load(); s.State < r.least || s.Accepted != tasks || s.Ran > s.Accepted {
			r.blame("%d tasks were accepted in state %v, and Stats has %+v", tasks, r.least, s)
		}
	case "Termination":
		if again := r.g.Termination(); again != t || isClosed(t.Done()) != (r.g.State() == core.StateTerminated) {
			r.blame("Termination is another one, or Done closed at the wrong time, in state %v", r.g.State())
		}
	case "Context":
		ended := r.g.Context().Err() != nil
		if ended && r.exact && r.least < core.StateShutdown || !ended && core.State(r.State) >= core.StateShutdown {
			r.blame("Context has ended: %v", ended)
		}
	case "ShutdownContext":
		if ended := r.g.ShutdownContext().Err() != nil; ended != (r.least >= core.StateShuttingDown) {
			r.blame("ShutdownContext has ended: %v, and the state is at least %v", ended, r.least)
		}
	}
}

// submit makes a call that submits a task to the next child.
func (r *groupRun) submit(execute func(func()) error) {
	accepted := r.accepts()
	if err := execute(func() { r.ran.Add(1) }); r.answered(err, accepted) {
		r.tasks.Add(1)
	}
}

// schedule makes a call that gives a timer to the next child.
func (r *groupRun) schedule(schedule func(func()) (*core.Timer, error)) {
	accepted := r.accepts()
	t, err := schedule(func() { r.blame("a timer of an hour runs") })
	if (t == nil) != (err != nil) {
		r.blame("a timer is %v, with the error %v", t, err)
	}
	if r.answered(err, accepted) {
		r.timers = append(r.timers, t)
	}
}

// accepts takes a turn, and reports the error of a call that submits to that child, and whether it is certain.
func (r *groupRun) accepts() (want refusal) {
	child := r.turn
	r.turn = (r.turn + 1) % len(r.children)
	switch {
	case r.least >= core.StateShutdown:
		return refusal{core.ErrShutdown, true}
	case r.Context == inSpawner && r.State == history.NotStarted && child == 0:
		return refusal{core.ErrStarting, r.exact}
	case r.Context != inSpawner && r.least == core.StateNotStarted:
		r.exact = false // the group starts with its last child
	}
	return refusal{nil, r.exact || r.least < core.StateShuttingDown}
}

// refusal is an expected error.
type refusal struct {
	is      error
	certain bool
}

// answered judges the error of a submission, and reports whether that was accepted.
func (r *groupRun) answered(err error, want refusal) bool {
	switch {
	case err != nil && !errors.Is(err, core.ErrRejected):
		r.blame("a submission returns %v", err)
	case !want.certain:
	case want.is == nil && err != nil, want.is != nil && err == nil:
		r.blame("a submission returns %v, want %v", err, want.is)
	case want.is == core.ErrStarting && !errors.Is(err, want.is):
		r.blame("a submission returns %v, want %v", err, want.is)
	}
	return err == nil
}

// waits makes a call that waits for the end. AwaitTermination gives up after a millisecond.
func (r *groupRun) waits(call string, wait func() error) {
	ended, from := isClosed(r.g.Termination().Done()), time.Now()
	err := wait()
	took, done := time.Since(from), isClosed(r.g.Termination().Done())
	switch refused := r.mustNotWait(); {
	case ended:
		if err != nil || took != 0 {
			r.blame("%s returns %v after %v, and the group had ended", call, err, took)
		}
	case refused != nil:
		if !isOneOf(err, refused) || took != 0 {
			r.blame("%s returns %v after %v, want %v at once", call, err, took, refused)
		}
	case err == nil && !done, err != nil && call == "Close":
		r.blame("%s returns %v, and the group has ended: %v", call, err, done)
	case err != nil && (!errors.Is(err, context.DeadlineExceeded) || took != time.Millisecond):
		r.blame("%s returns %v after %v", call, err, took)
	}
	if took > 0 {
		r.exact = false // the vehicle continues
	}
	if done {
		r.least, r.exact = core.StateTerminated, true
	}
}
