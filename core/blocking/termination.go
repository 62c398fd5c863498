package blocking

import (
	"context"

	"eventide/core"
)

// Termination is the end of a Group: one per group, the same pointer every time,
// with the methods of core.Termination. It is read-only, and completes once (Netty's
// was set twice, caf91b9c06; G15). All methods may be called from any goroutine, at
// any time.
type Termination struct {
	group *Group
	ended *core.Promise[ending]
}

type ending struct {
	report core.Report
	err    error
}

func newTermination(g *Group) *Termination {
	t := &Termination{group: g, ended: core.NewPromise[ending](nil)}
	t.ended.SetUncancellable()
	return t
}

// Done returns a channel that is closed when every executor of the group has
// terminated and its report is sealed; with it State is Terminated.
func (t *Termination) Done() <-chan struct{} { return t.ended.Future().Done() }

func (t *Termination) isDone() bool {
	select {
	case <-t.Done():
		return true
	default:
		return false
	}
}

// sealed may be called once Done is closed.
func (t *Termination) sealed() ending {
	e, _ := t.ended.Future().Wait(context.Background())
	return e
}

// Err returns nil before Done is closed and after an orderly end, the deadline
// included (Report.TimedOut tells); else the joined errors of the executors.
func (t *Termination) Err() error {
	if !t.isDone() {
		return nil
	}
	return t.sealed().err
}

// Report returns the sum of the executors' reports: what the shutdown has done so
// far, or the sealed one.
func (t *Termination) Report() core.Report {
	if t.isDone() {
		return t.sealed().report
	}
	return t.group.report()
}

// Wait waits until Done is closed and returns the sealed report and Err; or, if ctx
// ends first, the report so far and the cause of ctx. Inside an executor of the
// group it returns core.ErrInEventLoop at once, inside the spawner of one
// core.ErrStarting, as it would wait for itself (G18).
func (t *Termination) Wait(ctx context.Context) (core.Report, error) {
	if ctx == nil {
		return t.Report(), argumentError("Wait", "ctx is nil, want a context")
	}
	if t.isDone() {
		return t.Report(), t.Err()
	}
	if err := t.group.waitError(); err != nil {
		return t.Report(), err
	}
	select {
	case <-t.Done():
		return t.Report(), t.Err()
	case <-ctx.Done():
		return t.Report(), context.Cause(ctx)
	}
}

// OnDone calls listener once Done is closed: on the goroutine that closes it, in the
// order added; or, if it is closed, at once, on the caller. A nil listener is
// ignored. A panic in one is contained, and does not keep the others from being
// called.
func (t *Termination) OnDone(listener func(core.Report, error)) {
	if listener == nil {
		return
	}
	t.ended.Future().OnDone(func(e ending, _ error) { listener(e.report, e.err) })
}

// complete closes Done. Only the first call has an effect.
func (t *Termination) complete(report core.Report, err error) {
	t.ended.TrySuccess(ending{report, err})
}
