package process

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"time"

	"eventide/core"
)

// exit is one run of a plan.
type exit struct {
	// Set once.
	plan    *Plan
	terms   []*core.Termination // one per step: that of its executor, or nil
	log     *scribe
	signals <-chan os.Signal
	manager *supervisor
	monitor *monitor
	isReady sync.Once

	// begun ends when the exit begins, forced ends with the second signal.
	begun, forced context.Context
	begin, force  context.CancelCauseFunc

	// The goroutine of Run only.
	notReady, start *attempt
	starts          *starts // of Plan.Starts, for which start waits; nil: the plan has none
	steps           []*attempt
	whole           context.Context // ends at the deadline of the exit, or when it is forced
	preDrainCut     bool            // the deadline comes before the end of PreDrain
}

// watch receives the signals until stop returns.
func (x *exit) watch() (stop func()) {
	quit := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for second := false; ; second = true {
			select {
			case sig := <-x.signals:
				x.receive(sig, second)
			case <-quit:
				return
			}
		}
	})
	return func() { close(quit); watching.Wait() }
}

// receive handles one signal. second is true if an earlier signal was received.
func (x *exit) receive(sig os.Signal, second bool) {
	switch {
	case second:
		x.force(&SignalError{Signal: sig, Second: true})
	case x.begun.Err() != nil:
		x.log.log(slog.LevelInfo, "signal during the exit; the next one forces it", "signal", sig.String())
	default:
		x.begin(&SignalError{Signal: sig})
	}
}

// run is the life of the process.
func (x *exit) run(values context.Context) Report {
	startCtx, endStart := context.WithCancelCause(values)
	defer endStart(nil)
	x.plan.Health.begin(x.monitor)
	if !x.plan.hasStart() {
		x.ready()
	}
	defer x.manager.feed(x.monitor)()
	if x.plan.hasStart() && x.begun.Err() == nil {
		x.beginStart(startCtx)
	}
	cause := x.awaitCause()
	x.begin(cause)
	began := time.Now()
	var release context.CancelFunc
	x.whole, release = context.WithTimeoutCause(x.forced, x.plan.deadline(), ErrDeadline)
	defer release()
	x.logBegin(cause)

	x.leave(cause)
	x.turnNotReady()
	x.preDrain()
	endStart(cause)
	for i := range x.plan.Steps {
		x.step(i)
	}
	x.awaitStart()
	x.closeExecutors()

	r := x.report(cause, began)
	x.logExit(r)
	return r
}

// ready implements Ready. For a plan without Start, run calls it.
func (x *exit) ready() {
	x.isReady.Do(func() {
		if x.begun.Err() == nil {
			x.plan.Health.set(ready, nil)
			x.manager.say("READY=1")
		}
	})
}

// leave announces the exit to the health probes, to the service manager and to servers.
func (x *exit) leave(cause error) {
	x.plan.Health.set(exiting, cause)
	x.manager.say("STOPPING=1")
	for _, s := range x.plan.Steps {
		if s.onExit != nil {
			s.onExit()
		}
	}
}

// awaitCause waits for the begin of the exit and returns its cause.
func (x *exit) awaitCause() error {
	select {
	case <-x.begun.Done():
		return context.Cause(x.begun)
	case <-x.started():
		if cause := context.Cause(x.begun); cause != nil {
			return cause // the part of Plan.Starts that failed first
		}
		if x.start.err != nil {
			return x.start.err
		}
		return ErrStartReturned
	}
}

// started returns a channel that is closed when Start has returned, or nil if Start was not
// called.
func (x *exit) started() <-chan struct{} {
	if x.start == nil {
		return nil
	}
	return x.start.over
}

// startFailed reports whether Start, or every part of Starts, has returned and one has failed.
// The program is not ready then.
func (x *exit) startFailed() bool {
	return x.start != nil && x.start.isOver() && x.start.err != nil
}

// turnNotReady turns readiness off.
func (x *exit) turnNotReady() {
	if x.plan.NotReady == nil {
		return
	}
	x.notReady = x.perform("NotReady", x.plan.notReadyTime(x.left()), func(context.Context) error {
		x.plan.NotReady()
		return nil
	})
	x.logStep(x.notReady, x.notReady.report("NotReady", time.Now()))
}

// preDrain waits while the program continues to serve. It returns at once if Start has
// failed.
func (x *exit) preDrain() {
	if x.plan.PreDrain == 0 {
		return
	}
	if x.startFailed() {
		x.logStart()
		x.log.log(slog.LevelWarn, "PreDrain is skipped: Start has failed", "predrain", x.plan.PreDrain)
		return
	}
	left := x.left()
	preDrain := x.plan.preDrainTime(left)
	x.preDrainCut = preDrain >= left
	x.log.log(slog.LevelInfo, "still serving", "for", preDrain)
	x.manager.extend(preDrain)
	var over <-chan time.Time
	if !x.preDrainCut { // otherwise the deadline ends PreDrain, also if both are due at the same instant
		over = time.After(preDrain)
	}
	for started := x.started(); ; started = nil {
		select {
		case <-over:
			return
		case <-x.whole.Done():
			return
		case <-started:
			x.logStart()
		}
	}
}

// step runs one step and returns when the next may begin.
func (x *exit) step(i int) {
	s := &x.plan.Steps[i]
	b := x.plan.budget(i, x.left())
	run := s.Run
	if s.Executor != nil {
		run = shutDown(s.Executor, s.Quiet, b.timeout, x.timeoutPassed(s.Name))
	}
	x.steps[i] = x.perform(s.Name, b.limit, run)
	x.logStep(x.steps[i], x.stepReport(i, time.Now()))
}

// left is the time until the deadline of the exit.
func (x *exit) left() time.Duration {
	deadline, _ := x.whole.Deadline() // it has one
	return time.Until(deadline)
}

// isOver reports whether the deadline or the second signal has ended the exit. It compares
// the deadline with the clock, because the timer of the context may be late: a step that
// began after the deadline would have no time.
func (x *exit) isOver() bool {
	if deadline, _ := x.whole.Deadline(); !time.Now().Before(deadline) {
		<-x.whole.Done()
	}
	return x.whole.Err() != nil
}

// perform runs one part of the exit and returns when the part has ended or limit has passed.
// If the exit is over, it begins nothing and returns nil.
func (x *exit) perform(name string, limit time.Duration, run func(context.Context) error) *attempt {
	if x.isOver() {
		return nil
	}
	began := time.Now()
	ctx, release := x.until(began.Add(limit))
	defer release()
	x.log.log(slog.LevelInfo, "step begins", "step", name)
	x.manager.extend(min(limit, x.left()))
	a := begin(ctx, began, run)
	a.wait(ctx, x.whole)
	return a
}

// until returns the context of a part of the exit; the context ends at end. If the deadline
// of the exit is not after end, the context has only the deadline of the exit: two timers
// due at the same instant fire in any order, and a part that may use all the time of the
// exit must not be reported as late.
func (x *exit) until(end time.Time) (context.Context, context.CancelFunc) {
	if deadline, _ := x.whole.Deadline(); !end.Before(deadline) {
		return context.WithCancel(x.whole)
	}
	return context.WithDeadlineCause(x.whole, end, ErrStepDeadline)
}

// awaitStart waits for Start to return. The context of Start ended before the first step.
func (x *exit) awaitStart() {
	if x.start == nil {
		return
	}
	ctx, release := x.until(time.Now().Add(DefaultStepDeadline))
	defer release()
	x.manager.extend(DefaultStepDeadline)
	x.start.wait(ctx, x.whole)
	x.logStart()
}

// attempts returns the attempts in the order of Report.all. A part that was not begun is
// nil.
func (x *exit) attempts() []*attempt {
	all := append([]*attempt{x.notReady}, x.steps...)
	return append(all, x.start)
}

func (x *exit) stepReport(i int, now time.Time) StepReport {
	r := x.steps[i].report(x.plan.Steps[i].Name, now)
	if term := x.terms[i]; term != nil {
		r.Work = term.Report()
		r.Lost = pending(r.Work)
	}
	if r.Outcome == StillRunning {
		r.Running = running(x.plan.Steps[i].Executor)
	}
	return r
}

// endedBy returns the reason that cut the exit short, or nil. A deadline that passes after
// every part has ended cuts nothing short.
func (x *exit) endedBy() error {
	cause := context.Cause(x.whole)
	if cause == ErrDeadline && x.inTime() {
		return nil
	}
	return cause
}

func (x *exit) inTime() bool {
	for _, a := range x.steps {
		if a == nil || !a.inTime(x.whole) {
			return false
		}
	}
	return x.notReady.inTime(x.whole) && x.start.inTime(x.whole) && !x.preDrainCut
}

func (x *exit) report(cause error, began time.Time) Report {
	now := time.Now()
	r := Report{Cause: cause, Ended: x.endedBy(), Elapsed: now.Sub(began)}
	if x.plan.NotReady != nil {
		r.NotReady = x.notReady.report("NotReady", now)
	}
	if x.plan.hasStart() {
		r.Start = x.start.report("Start", now)
		r.Starts = x.starts.reports(r.Start, now)
	}
	if r.Ended == nil && r.Start.Outcome == StillRunning {
		r.Ended = ErrStepDeadline // the only other reason to stop waiting for Start
	}
	for i := range x.plan.Steps {
		r.Steps = append(r.Steps, x.stepReport(i, now))
	}
	r.Code = r.code()
	return r
}
