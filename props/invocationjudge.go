package props

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"eventide/core"
	"eventide/props/history"
)

// refusedBy is an expected error: an error that is one, or the text of a bad argument.
type refusedBy struct {
	is   error
	text string
}

func (a *refusedBy) matches(err error) bool {
	return err != nil && (a.is != nil && errors.Is(err, a.is) || a.text != "" && strings.Contains(err.Error(), a.text))
}

func (a *refusedBy) String() string {
	if a.is != nil {
		return a.is.Error()
	}
	return a.text
}

// refusedAtOnce returns the error of a call that submits nothing, or nil.
func (p Invocation) refusedAtOnce() *refusedBy {
	n := len(p.Functions)
	switch {
	case p.Bad == NilContext:
		return &refusedBy{text: "ctx is nil"}
	case p.Bad == NilExecutor:
		return &refusedBy{text: "ex is nil"}
	case p.Bad == NilFunction && n > 0:
		return &refusedBy{text: fmt.Sprintf("function %d of %d is nil", n-1, n)}
	case p.From == FromBody:
		return &refusedBy{is: core.ErrInEventLoop}
	case p.From == FromSpawner:
		return &refusedBy{is: core.ErrStarting}
	case p.Any && n == 0:
		return &refusedBy{text: "got 0 functions"}
	}
	return nil
}

// invocationPlan is what has to happen. Times are after the call.
type invocationPlan struct {
	accepted int             // the first functions, which are accepted
	begins   []time.Duration // of these, if nothing is cancelled
	ends     []time.Duration
	returns  time.Duration
	err      *refusedBy // nil: a success
	winners  []int      // functions whose value InvokeAny may return
	cancels  bool       // what has not begun is cancelled at the return
}

// plan computes what has to happen: a worker that is free begins the next function.
func (p Invocation) plan() invocationPlan {
	x := invocationPlan{accepted: len(p.Functions)}
	switch {
	case p.Ended:
		x.accepted = 0
	case p.Limit > 0:
		x.accepted = min(x.accepted, max(leastBound, p.Limit))
	}
	free := slices.Repeat([]time.Duration{p.Busy}, max(1, p.Pool))
	for _, f := range p.Functions[:x.accepted] {
		w := slices.Index(free, slices.Min(free))
		x.begins = append(x.begins, free[w])
		free[w] += f.Takes
		x.ends = append(x.ends, free[w])
		x.returns = max(x.returns, free[w])
	}
	if p.Any {
		p.planAny(&x)
	} else if x.accepted < len(p.Functions) {
		x.returns, x.err, x.cancels = 0, p.refusal(), true
	}
	if p.Deadline > 0 && p.Deadline < x.returns {
		x.returns, x.err, x.cancels = p.Deadline, &refusedBy{is: errDeadlineOfCall}, true
	}
	return x
}

// planAny sets the end of InvokeAny: the first success, or the last failure.
func (p Invocation) planAny(x *invocationPlan) {
	for i, f := range p.Functions[:x.accepted] {
		switch {
		case f.End != 0 && f.End != history.Normal:
			continue
		case len(x.winners) == 0 || x.ends[i] < x.ends[x.winners[0]]:
			x.winners = []int{i}
		case x.ends[i] == x.ends[x.winners[0]]:
			x.winners = append(x.winners, i)
		}
	}
	switch {
	case len(x.winners) > 0:
		x.returns, x.cancels = x.ends[x.winners[0]], true
	case x.accepted < len(p.Functions):
		x.err = p.refusal()
	default:
		x.err = &refusedBy{is: errorOf(p.Functions[0].End)}
	}
}

// refusal is the error of a function that was not accepted.
func (p Invocation) refusal() *refusedBy {
	if p.Ended {
		return &refusedBy{is: core.ErrRejected}
	}
	return &refusedBy{is: core.ErrQueueFull}
}

// errorOf returns an error that a future has whose body ended so.
func errorOf(end history.Outcome) error {
	switch end {
	case history.Errored:
		return errInvoked
	case history.Exited:
		return core.ErrGoexit
	case history.Panicked:
		return errPanicked
	}
	return nil
}

// errPanicked stands for a *core.PanicError in an answer.
var errPanicked = errors.New("a panic")

func isError(err, want error) bool {
	if want == errPanicked {
		return errors.As(err, new(*core.PanicError))
	}
	return errors.Is(err, want)
}

// leastBound is the smallest bound of a queue that core takes (G19).
const leastBound = 16

// judge compares the run with the plan. atReturn says which futures were complete at the return.
func (r *invoking) judge(atReturn []bool, report core.Report, busy int) string {
	others := int64(busy)
	if r.From == FromSpawner || r.From == FromBody {
		others++
	}
	if want := r.refusedAtOnce(); want != nil {
		if !want.matches(r.err) || r.took != 0 || len(r.futures) > 0 {
			return fmt.Sprintf("the call returned %v after %v with %d futures, want %v at once", r.err, r.took, len(r.futures), want)
		}
		return r.sums(report, others, 0)
	}
	x := r.plan()
	if text := r.judgeReturn(x); text != "" {
		return text
	}
	tie := x.cancels && slices.Contains(x.begins, x.returns) // the loop and the cancels meet
	for i := range r.Functions {
		n := int(r.ran[i].Load())
		least, most := 1, 1
		switch {
		case i >= x.accepted || x.cancels && x.begins[i] >= x.returns && !tie:
			least, most = 0, 0
		case x.cancels && x.begins[i] >= x.returns:
			least = 0
		}
		if n < least || n > most {
			return fmt.Sprintf("function %d ran %d times, want %d to %d", i, n, least, most)
		}
		if text := r.judgeFuture(x, i, n == 1, atReturn); text != "" {
			return text
		}
	}
	refused := int64(len(r.Functions) - x.accepted)
	if !r.Any {
		refused = min(refused, 1)
	}
	if n := r.ex.Stats().Rejected; n != refused { // the report does not count those after the end
		return fmt.Sprintf("Stats counts %d refusals, want %d", n, refused)
	}
	return r.sums(report, others, int64(x.accepted))
}

// judgeReturn judges when the call returned, and what.
func (r *invoking) judgeReturn(x invocationPlan) string {
	switch {
	case r.took != x.returns:
		return fmt.Sprintf("the call returned %v after %v, want after %v", r.err, r.took, x.returns)
	case x.err == nil && r.err != nil:
		return fmt.Sprintf("the call returned %v, want no error", r.err)
	case x.err != nil && !(x.err.matches(r.err) || x.err.is != nil && isError(r.err, x.err.is)):
		return fmt.Sprintf("the call returned %v, want %v", r.err, x.err)
	case r.Any && x.err == nil && !slices.Contains(x.winners, r.value):
		return fmt.Sprintf("InvokeAny returned the value of function %d, want of one of %v", r.value, x.winners)
	case r.Any && len(x.winners) == 0 && x.err.is != errDeadlineOfCall:
		return r.judgeJoined(x)
	case !r.Any && len(r.futures) != min(len(r.Functions), x.accepted+1):
		return fmt.Sprintf("InvokeAll returned %d futures, want %d", len(r.futures), min(len(r.Functions), x.accepted+1))
	}
	return ""
}

// judgeJoined judges the error of InvokeAny without a success: it has that of each function.
func (r *invoking) judgeJoined(x invocationPlan) string {
	joined, ok := r.err.(interface{ Unwrap() []error })
	if !ok || len(joined.Unwrap()) != len(r.Functions) {
		return fmt.Sprintf("InvokeAny returned %v, want the errors of %d functions", r.err, len(r.Functions))
	}
	for i, f := range r.Functions[:x.accepted] {
		if !isError(r.err, errorOf(f.End)) {
			return fmt.Sprintf("InvokeAny returned %v, which lacks the error of function %d", r.err, i)
		}
	}
	return ""
}

// judgeFuture judges the i-th future of InvokeAll, which has ended.
func (r *invoking) judgeFuture(x invocationPlan, i int, ran bool, atReturn []bool) string {
	if r.Any || i >= len(r.futures) {
		return ""
	}
	select {
	case <-r.futures[i].Done():
	default:
		return fmt.Sprintf("future %d is not complete after the end of the executor", i)
	}
	v, err := r.futures[i].Wait(context.Background())
	want := errorOf(r.Functions[i].End)
	switch {
	case i >= x.accepted:
		want = r.refusal().is
	case !ran:
		want = core.ErrCancelled
	}
	switch running := ran && x.begins[i] < x.returns && x.ends[i] > x.returns; {
	case want != nil && !isError(err, want) || want == nil && (err != nil || v != i):
		return fmt.Sprintf("future %d has the value %d and the error %v, want %v", i, v, err, want)
	case !running && !atReturn[i] && !(ran && x.cancels && x.begins[i] >= x.returns):
		return fmt.Sprintf("future %d was not complete when InvokeAll returned", i)
	case running && atReturn[i]:
		return fmt.Sprintf("future %d was complete when InvokeAll returned, while its function ran", i)
	}
	return ""
}

// sums compares the report with what was accepted: other tasks and functions.
func (r *invoking) sums(report core.Report, others, accepted int64) string {
	ran, panicked := others, int64(0)
	for i := range r.ran {
		n := int64(r.ran[i].Load())
		ran += n
		if r.Functions[i].End == history.Panicked {
			panicked += n
		}
	}
	if report.Accepted != others+accepted || report.Ran != ran || report.Cancelled != report.Accepted-ran {
		return fmt.Sprintf("the report counts %d accepted, %d run, %d cancelled; want %d, %d, %d",
			report.Accepted, report.Ran, report.Cancelled, others+accepted, ran, others+accepted-ran)
	}
	if report.Panicked != panicked {
		return fmt.Sprintf("the report counts %d panics, want %d", report.Panicked, panicked)
	}
	return ""
}
