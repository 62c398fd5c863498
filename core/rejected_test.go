package core_test

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// refusals counts the refusals that callers got, by the State of the RejectedError, which
// decides whether the report counts the call.
type refusals struct{ before, after atomic.Int64 }

// add enters the result of a call, and reports whether the executor has ended.
func (r *refusals) add(t testing.TB, err error) (ended bool) {
	if err == nil {
		return false
	}
	var rejected *core.RejectedError
	if !errors.As(err, &rejected) {
		t.Errorf("G5: a refusal is %v, want a *RejectedError", err)
		return true
	}
	if rejected.State < core.StateTerminated {
		r.before.Add(1)
		return false
	}
	r.after.Add(1)
	return true
}

// check compares these counts with the sealed report and with Stats.
func (r *refusals) check(t testing.TB, ex core.EventExecutor, report core.Report) {
	t.Helper()
	if got, want := report.Rejected, r.before.Load(); got != want {
		t.Errorf("G20: Report.Rejected is %d, want %d: so many calls were refused in a state before Terminated", got, want)
	}
	if got, want := ex.Stats().Rejected, r.before.Load()+r.after.Load(); got != want {
		t.Errorf("G20: Stats.Rejected is %d, want %d: so many calls were refused", got, want)
	}
	if again := ex.Termination().Report(); again != report {
		t.Errorf("G15: the sealed report has changed from %+v to %+v", report, again)
	}
}

// Callers that race the end, each until the end has refused it some times: the report
// counts the refusals whose State is before Terminated, and no other.
func TestG20TheReportCountsRefusalsBeforeTerminated(t *testing.T) {
	calls := map[string]func(ex core.EventExecutor) error{
		"Execute":     func(ex core.EventExecutor) error { return ex.Execute(func() {}) },
		"ExecuteLazy": func(ex core.EventExecutor) error { return ex.ExecuteLazy(func() {}) },
		"Submit": func(ex core.EventExecutor) error {
			f := core.Submit(ex, func() (int, error) { return 0, nil })
			if _, err := f.Wait(neverEnds); errors.Is(err, core.ErrRejected) {
				return err
			}
			return nil
		},
	}
	for name, open := range map[string]func(t *testing.T) core.EventExecutor{
		"executor": func(t *testing.T) core.EventExecutor { return coretest.NewExecutor(t) },
		"bounded": func(t *testing.T) core.EventExecutor {
			return coretest.NewExecutor(t, core.WithMaxPendingTasks(16), core.WithRejectedHandler(core.BackOff(2, time.Microsecond)))
		},
		"group": func(t *testing.T) core.EventExecutor {
			g, err := core.NewExecutorGroup(3)
			coretest.Must(t, err)
			return g
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range 1000 {
				ex := open(t)
				var seen refusals
				var callers sync.WaitGroup
				for _, call := range calls {
					callers.Go(func() {
						for late := 0; late < 20; {
							if seen.add(t, call(ex)) {
								late++
							} else if ex.State() >= core.StateShuttingDown {
								runtime.Gosched()
							}
						}
					})
				}
				ex.Shutdown()
				report := coretest.AwaitDone(t, ex)
				callers.Wait()
				seen.check(t, ex, report)
			}
		})
	}
}

// A rejected-handler returns only after the executor has ended. The call is refused because of
// the end: its error says so, and the sealed report does not count it.
func TestG20ARefusalThatIsDecidedAfterTheEnd(t *testing.T) {
	ended := make(chan struct{})
	asked := make(chan struct{})
	ex, release, _ := full(t, core.WithRejectedHandler(func(int, *core.RejectedError) (time.Duration, bool) {
		close(asked)
		<-ended
		return 0, false
	}))
	result := make(chan error, 1)
	go func() { result <- ex.Execute(func() { t.Error("G3: a refused task ran") }) }()
	coretest.Await(t, "the handler", asked)
	ex.Shutdown()
	release()
	report := coretest.AwaitDone(t, ex)
	close(ended)
	err := <-result
	var seen refusals
	if !seen.add(t, err) || !errors.Is(err, core.ErrShutdown) {
		t.Errorf("G5: a call that was refused after the end returned %v, want state Terminated, ErrShutdown", err)
	}
	seen.check(t, ex, report)
}

// The same for a tracer: the last EventAdmit of the call decides it, so there is one after
// the end that refuses it.
func TestG5ATracerSeesTheRefusalByTheEnd(t *testing.T) {
	r := &recorder{}
	ended := make(chan struct{})
	asked := make(chan struct{})
	ex, release, _ := full(t, core.WithTracer(r), core.WithRejectedHandler(func(int, *core.RejectedError) (time.Duration, bool) {
		close(asked)
		<-ended
		return 0, false
	}))
	result := make(chan error, 1)
	go func() { result <- ex.Execute(func() {}) }()
	coretest.Await(t, "the handler", asked)
	ex.Shutdown()
	release()
	coretest.AwaitDone(t, ex)
	close(ended)
	if err := <-result; !errors.Is(err, core.ErrShutdown) {
		t.Errorf("G5: got %v, want ErrShutdown", err)
	}
	done := slices.IndexFunc(r.all(), func(ev core.Event) bool { return ev.Kind == core.EventDone })
	if !slices.ContainsFunc(r.all()[max(done, 0):], func(ev core.Event) bool { return ev.Kind == core.EventAdmit && !ev.Accepted }) {
		t.Errorf("G5: events %v, want an EventAdmit after EventDone", r.text(core.EventAdmit, core.EventState, core.EventDone))
	}
}

// The report of a group is the sum of its children's: a child that has ended counts no
// refusal, whether the group has ended or not.
func TestG20G21TheReportOfAGroupCountsRefusalsOfEachChildBeforeItsEnd(t *testing.T) {
	g, err := core.NewExecutorGroup(2)
	coretest.Must(t, err)
	first, second := g.Next().(*core.Executor), g.Next().(*core.Executor)
	release := occupy(t, second)
	g.Shutdown()
	coretest.AwaitDone(t, first)
	var seen refusals
	for range 50 {
		seen.add(t, g.Execute(func() {}))
	}
	release()
	report := coretest.AwaitDone(t, g)
	if before, after := seen.before.Load(), seen.after.Load(); before != 25 || after != 25 {
		t.Errorf("G21: %d refusals by the child that had not ended and %d by the one that had, want 25 of each", before, after)
	}
	seen.check(t, g, report)
}
