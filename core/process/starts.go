package process

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"eventide/core"
)

// Part is one of several functions that together are the application: see Plan.Starts.
type Part struct {
	// Name identifies the part in logs, errors and reports. Names must be unique in
	// Plan.Starts; a step may have the same name.
	Name string

	// Start has the contract of Plan.Start, with the differences that Plan.Starts describes.
	Start func(ctx context.Context) error
}

// PartError is the failure of one part of Plan.Starts.
type PartError struct {
	Part string
	Err  error // the error that its Start returned, a *core.PanicError, or core.ErrGoexit
}

func (e *PartError) Error() string { return fmt.Sprintf("process: start %q: %v", e.Part, e.Err) }

// Unwrap returns Err.
func (e *PartError) Unwrap() error { return e.Err }

// starts are the parts of a plan while they run.
type starts struct {
	// Set once.
	x     *exit
	parts []*startedPart

	unready atomic.Int64 // parts that have neither called Ready nor returned nil
	running atomic.Int64
	ended   sync.WaitGroup
}

// startedPart is one part that was begun.
type startedPart struct {
	name    string
	attempt *attempt
	settled sync.Once // its first call of Ready, or its return of nil
}

// startKey is the context key under which the context of Start holds a startContext.
type startKey struct{}

// startContext is the value that Ready and Exiting look up in the context of Start.
type startContext struct {
	x     *exit
	ready func()
}

// startOf returns the startContext of ctx. call is the name of the caller, for the error.
func startOf(ctx context.Context, call string) (startContext, error) {
	if ctx == nil {
		return startContext{}, fmt.Errorf("process: %s: ctx is nil, want the context of Plan.Start", call)
	}
	start, ok := ctx.Value(startKey{}).(startContext)
	if !ok {
		return startContext{}, fmt.Errorf("process: %s: ctx is not the context of Plan.Start, want it or one derived from it", call)
	}
	return start, nil
}

// beginStart calls Plan.Start, or each of Plan.Starts, on goroutines of their own.
func (x *exit) beginStart(ctx context.Context) {
	if x.plan.Start != nil {
		ctx = context.WithValue(ctx, startKey{}, startContext{x, x.ready})
		x.start = begin(ctx, time.Now(), withoutCause(x.plan.Start))
		return
	}
	x.starts = &starts{x: x}
	x.starts.begin(ctx)
	x.start = begin(ctx, time.Now(), x.starts.wait)
}

// begin begins all parts.
func (s *starts) begin(ctx context.Context) {
	parts := s.x.plan.Starts
	s.unready.Store(int64(len(parts)))
	s.running.Store(int64(len(parts)))
	for _, part := range parts {
		p := &startedPart{name: part.Name}
		s.parts = append(s.parts, p)
		own := context.WithValue(ctx, startKey{}, startContext{s.x, func() { s.settle(p) }})
		p.attempt = begin(own, time.Now(), withoutCause(part.Start))
		s.ended.Go(func() {
			<-p.attempt.over
			s.end(p, p.attempt.err)
		})
	}
}

// settle counts a part as ready. With the last part the program is ready.
func (s *starts) settle(p *startedPart) {
	p.settled.Do(func() {
		if s.unready.Add(-1) == 0 {
			s.x.ready()
		}
	})
}

// end handles the end of a part. A failure begins the exit while other parts run; it is logged
// first, so that the log has the failure before its consequences. If no part is left, the
// return of wait begins the exit, so that the exit sees that the program serves no traffic.
func (s *starts) end(p *startedPart, err error) {
	running := s.running.Add(-1)
	switch {
	case err != nil:
		s.x.logPart(p.name, err)
		if running > 0 {
			s.x.begin(&PartError{Part: p.name, Err: err})
		}
	case running > 0: // with the last part the program ends: it must not become ready just before
		s.settle(p)
	}
}

// wait returns when end has handled the end of every part. Its error is the *PartError of the
// only failure, or joins all failures. If the exit has not begun by then, there is one at most:
// end begins the exit for each failure but that of the last part.
func (s *starts) wait(context.Context) error {
	s.ended.Wait()
	var errs []error
	for _, p := range s.parts {
		if p.attempt.err != nil {
			errs = append(errs, &PartError{Part: p.name, Err: p.attempt.err})
		}
	}
	if len(errs) == 1 {
		return errs[0]
	}
	return errors.Join(errs...)
}

// reports returns a report of each part, or nil for a plan without parts.
func (s *starts) reports(whole StepReport, now time.Time) (all []StepReport) {
	if s == nil {
		return nil
	}
	for _, p := range s.parts {
		r := p.attempt.report(p.name, now)
		r.DeadlinePassed = r.Outcome == StillRunning && whole.DeadlinePassed
		all = append(all, r)
	}
	return all
}

// logPart logs the failure of a part at once. logStart logs Start as a whole, once all
// parts have ended or after the steps.
func (x *exit) logPart(name string, err error) {
	args := []any{"start", name, "error", err}
	var panicked *core.PanicError
	if errors.As(err, &panicked) {
		args = append(args, "stack", string(panicked.Stack))
	}
	x.log.log(slog.LevelError, "start failed", args...)
}
