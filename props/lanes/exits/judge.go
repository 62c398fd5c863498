//go:build linux

package exits

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"eventide/core"
	"eventide/core/process"
	"eventide/props/lanes/exits/calls/net"
)

// nameOf names the error of a part or the cause of an exit, as the specification does.
func nameOf(err error) string {
	var sig *process.SignalError
	var part *process.PartError
	var panicked *core.PanicError
	if both, ok := err.(interface{ Unwrap() []error }); ok && len(both.Unwrap()) == 2 && both.Unwrap()[1] == errEnd {
		return "joined"
	}
	var cut *process.CutError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &cut):
		var names []string
		for _, one := range cut.Requests {
			names = append(names, cutName(one.Kind, one.What, one.Began))
		}
		return strings.Join(names, ", ")
	case err == context.DeadlineExceeded, err == context.Canceled:
		return "late"
	case err == errClose:
		return "close"
	case errors.Is(err, process.ErrStopped):
		return "stopped"
	case errors.As(err, &sig):
		if sig.Second {
			return "second signal " + sig.Signal.String()
		}
		return "signal " + sig.Signal.String()
	case errors.As(err, &part):
		return fmt.Sprintf("part %s: %s", part.Part, nameOf(part.Err))
	case errors.As(err, &panicked):
		if panicked.Value == errEnd && len(panicked.Stack) > 0 {
			return endsPanic
		}
	case errors.Is(err, core.ErrGoexit):
		return endsGoexit
	case err == process.ErrStartReturned:
		return "returned"
	case err == errContext:
		return "context"
	case err == errEnd:
		return endsFailed
	}
	return fmt.Sprintf("%T %v", err, err)
}

// judge compares the report with the specification.
func (r *run) judge(got process.Report, took time.Duration) {
	x, p := r.want, r.p
	if p.Logger == "blocks" {
		took -= min(took, r.flushed(took)) // the last lines have had their time
	}
	if took != x.now {
		r.violate("Run returns after %v, want %v", took, x.now)
	}
	check := func(what string, got, want any) {
		if !reflect.DeepEqual(got, want) {
			r.violate("the report: %s is %v, want %v", what, got, want)
		}
	}
	check("Err", got.Err, error(nil))
	check("Cause", nameOf(got.Cause), x.cause)
	for _, err := range []error{got.Cause, got.Ended} {
		if sig := (*process.SignalError)(nil); errors.As(err, &sig) {
			check("the text of a signal", sig.Error(), map[bool]string{false: "process: signal: ", true: "process: second signal: "}[sig.Second]+sig.Signal.String())
		}
	}
	check("Elapsed", got.Elapsed, x.now-x.begin)
	check("the number of steps", len(got.Steps), len(p.Steps))
	check("the number of parts", len(got.Starts), len(x.parts))
	lost, unclean := int64(0), false
	var running, notBegun []string
	row := func(name string, s process.StepReport, w *row) {
		r.judgeRow(name, s, w)
		unclean = unclean || s.DeadlinePassed || s.Outcome == process.Failed || s.Outcome == process.StillRunning || s.Lost > 0 || s.Work.ChannelsHeld > 0
		lost += s.Lost
		if s.Outcome == process.StillRunning && (name != "Start" || len(x.parts) == 0) {
			running = append(running, name)
		}
		if s.Outcome == process.NotBegun && name != "NotReady" && name != "Start" {
			notBegun = append(notBegun, name)
		}
	}
	if p.NotReady >= 0 {
		row("NotReady", got.NotReady, x.notReady)
		if x.notReady == nil {
			notBegun = append(notBegun, "NotReady")
		}
	} else {
		check("NotReady", got.NotReady, process.StepReport{})
	}
	for i := range got.Steps {
		name := fmt.Sprint("step ", i)
		row(name, got.Steps[i], x.steps[i])
		r.judgeWork(i, got.Steps[i], x.steps[i])
		r.judgeCut(i, got.Steps[i])
	}
	if len(p.starts()) > 0 {
		row("Start", got.Start, x.start)
		if x.start == nil {
			notBegun = append(notBegun, "Start")
		}
		for i := range got.Starts {
			r.judgeRow(fmt.Sprint(i), got.Starts[i], x.part(i))
			if got.Starts[i].Outcome == process.StillRunning {
				running = append(running, got.Starts[i].Name)
			}
		}
	} else {
		check("Start", got.Start, process.StepReport{})
	}
	check("Lost()", got.Lost(), lost)
	check("StillRunning()", got.StillRunning(), running)
	check("NotBegun()", got.NotBegun(), notBegun)
	cancelled := 0
	for _, s := range p.Steps {
		cancelled += s.Figures.Cancelled + s.Figures.TimersCancelled
	}
	check("Cancelled()", got.Cancelled(), int64(cancelled))
	r.judgeEnd(got, unclean)
	r.judgeLog(got)
}

// flushed is how long Run waits for a handler that blocks.
func (r *run) flushed(took time.Duration) time.Duration {
	if took >= r.want.now+heedTime {
		return heedTime
	}
	return 0
}

// part is the row of a part; its deadline has passed if that of the whole has and it has not ended.
func (x *exit) part(i int) *row {
	w := *x.parts[i]
	w.late = x.start.late && w.end > x.now
	w.undecided = w.end == x.now
	return &w
}

// endsAtTheDeadline reports whether the last part ends at the time of the deadline: then either of
// them may come first.
func (x *exit) endsAtTheDeadline() bool {
	if len(x.steps) == 0 {
		return x.preDrainCut
	}
	last := x.steps[len(x.steps)-1]
	return last != nil && last.end == x.deadline
}

// judgeEnd compares why the exit has ended, and its code.
func (r *run) judgeEnd(got process.Report, unclean bool) {
	x := r.want
	ended, code := "", 0
	switch {
	case x.now >= x.forced:
		ended, code = "second signal "+x.forcedBy.String(), 128+number(x.forcedBy)
	case x.now >= x.deadline && got.Ended == nil && x.endsAtTheDeadline():
		code = map[bool]int{true: 1}[unclean]
	case x.now >= x.deadline:
		ended, code = fmt.Sprintf("%T %v", process.ErrDeadline, process.ErrDeadline), 1
	case got.Start.Outcome == process.StillRunning:
		ended, code = fmt.Sprintf("%T %v", process.ErrStepDeadline, process.ErrStepDeadline), 1
	case unclean:
		code = 1
	}
	if nameOf(got.Ended) != ended || got.Code != code {
		r.violate("the report: Ended is %q and the code %d, want %q and %d", nameOf(got.Ended), got.Code, ended, code)
	}
}

// judgeRow compares one part. Of a part that ends when the exit does, either order may be reported.
func (r *run) judgeRow(name string, got process.StepReport, w *row) {
	x := r.want
	want := process.StepReport{Name: name}
	failure := ""
	switch {
	case w == nil:
	case w.end > x.now:
		want.Outcome, want.Elapsed = process.StillRunning, x.now-w.begin
	case w.failure != "":
		want.Outcome, want.Elapsed, failure = process.Failed, w.end-w.begin, w.failure
	default:
		want.Outcome, want.Elapsed = process.Done, w.end-w.begin
	}
	if w != nil {
		want.DeadlinePassed = w.late
	}
	if w != nil && (w.undecided || w.end == x.now) && got.Outcome == process.StillRunning {
		want.Outcome, failure = process.StillRunning, ""
	}
	failed := nameOf(got.Err)
	if name == "Start" && len(x.parts) > 0 && want.Outcome == process.Failed {
		failed, failure = "", "" // each part is compared
		if got.Err == nil {
			r.violate("the report: parts have failed, and Start has no error")
		}
	}
	if got.Name != want.Name || got.Outcome != want.Outcome || got.DeadlinePassed != want.DeadlinePassed || got.Elapsed != want.Elapsed || failed != failure {
		r.violate("the report: %s: %v, deadline passed %v, after %v, error %q; want %v, %v, %v, %q",
			got.Name, got.Outcome, got.DeadlinePassed, got.Elapsed, failed, want.Outcome, want.DeadlinePassed, want.Elapsed, failure)
	}
}

// hasExecutor reports whether the step has an executor, and not a function.
func (s *Step) hasExecutor() bool { return s.members() > 0 }

// members is how many executors a step has.
func (s *Step) members() int {
	return map[string]int{"executor": 1, "group": 2, "own": 1}[s.Kind]
}

// ran returns how many tasks of one executor of step i have ended at a time.
func (p *Program) ran(i int, at time.Duration) int64 {
	return int64(min(p.Steps[i].Tasks, int(at/p.Steps[i].length(i))))
}

// judgeWork compares the work of the step's executor.
func (r *run) judgeWork(i int, got process.StepReport, w *row) {
	s, x := &r.p.Steps[i], r.want
	n := int64(s.members())
	accepted, ran := n*int64(s.Tasks), n*r.p.ran(i, x.now)
	if s.Kind == "own" {
		r.judgeOwn(i, got, w)
		return
	}
	if !s.hasExecutor() {
		if got.Work != (core.Report{}) || got.Lost != 0 || got.Running != "" {
			r.violate("the report: step %d has no executor, and its work is %+v, lost %d, running %q", i, got.Work, got.Lost, got.Running)
		}
		return
	}
	if got.Work.Accepted != accepted || got.Work.Ran != ran || got.Lost != accepted-ran {
		r.violate("the report: step %d: accepted %d, ran %d, lost %d, want %d, %d, %d", i, got.Work.Accepted, got.Work.Ran, got.Lost, accepted, ran, accepted-ran)
	}
	if works := ran < accepted && got.Outcome == process.StillRunning; works != (got.Running != "") {
		r.violate("the report: step %d: %v, %d of %d tasks have run, and Running is %q", i, got.Outcome, ran, accepted, got.Running)
	}
	if w != nil && w.end < x.now && w.timedOut != "" && fmt.Sprint(got.Work.TimedOut) != w.timedOut {
		r.violate("the report: step %d: TimedOut is %v, want %s", i, got.Work.TimedOut, w.timedOut)
	}
	if w != nil {
		if timeout := w.timeout; got.Work.Timeout != timeout || got.Work.Quiet != ms(s.Quiet) {
			r.violate("the report: step %d: the executor was given a quiet period of %v and a timeout of %v, want %v and %v", i, got.Work.Quiet, got.Work.Timeout, ms(s.Quiet), timeout)
		}
	}
	if got.Work.Rejected != 0 || got.Work.Panicked != 0 || got.Work.Cancelled != 0 {
		r.violate("the report: step %d: %+v, want no refused, panicked and cancelled tasks", i, got.Work)
	}
	if err := r.executor(i).Execute(func() {}); err == nil {
		r.violate("G5: step %d: its executor accepts tasks after the exit", i)
	}
}

// judgeManager compares what the service manager was told.
func (r *run) judgeManager(got []net.Datagram) {
	x, m := r.want, r.p.Manager
	var want, told []string
	if m.Address != "" && !m.Broken {
		want = append(append(want, x.said...), r.watchdog()...)
	}
	for _, d := range got {
		if d.Text == "WATCHDOG=1" && d.At.Sub(r.began) >= x.now {
			continue // at the time of the end, either comes first
		}
		told = append(told, fmt.Sprintf("%v %s", d.At.Sub(r.began), d.Text))
		if to := strings.Replace(m.Address, "@", "\x00", 1); d.To != to {
			r.violate("the service manager at %q was told something, want %q", d.To, to)
		}
	}
	slices.Sort(want)
	slices.Sort(told)
	if !slices.Equal(want, told) {
		r.violate("the service manager was told %q, want %q", told, want)
	}
}
