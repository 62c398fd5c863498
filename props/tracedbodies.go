package props

import (
	"fmt"

	"eventide/core"
	"eventide/props/history"
)

// tracedBodies compares the bodies that the executor traces with those that run: each body of the
// program runs inside of a traced body of its kind, and that one ends as the body of the program did.
// Guarded by recorder.mu.
type tracedBodies struct {
	open  map[int64][]tracedBody // by goroutine: a spawner may run a loop inside of another body
	ends  [history.BodyReadiness + 1]int64
	skips int64
	wrong string // the first difference
}

// tracedBody is a traced body that has not ended.
type tracedBody struct {
	kind core.Body
	ran  bool            // the body of the program has begun
	end  history.Outcome // how it ends
}

func (t *tracedBodies) fail(format string, args ...any) {
	if t.wrong == "" {
		t.wrong = fmt.Sprintf(format, args...)
	}
}

// event is the begin or the end of a traced body.
func (t *tracedBodies) event(ev core.Event) {
	stack := t.open[ev.Goroutine]
	if ev.Kind == core.EventBegin {
		t.open[ev.Goroutine] = append(stack, tracedBody{kind: ev.Body})
		return
	}
	if len(stack) == 0 {
		t.fail("the tracer gets the end of a %v, and none has begun on its goroutine", ev.Body)
		return
	}
	last := stack[len(stack)-1]
	if stack = stack[:len(stack)-1]; len(stack) == 0 {
		delete(t.open, ev.Goroutine)
	} else {
		t.open[ev.Goroutine] = stack
	}
	switch {
	case last.kind != ev.Body:
		t.fail("the tracer gets the end of a %v, and a %v runs on its goroutine", ev.Body, last.kind)
	case last.ran && ev.Outcome != last.end:
		t.fail("the tracer gets the outcome %v of a %v that has ended %v", ev.Outcome, ev.Body, last.end)
	}
	if ev.Outcome == core.OutcomeSkipped {
		t.skips++
		return
	}
	t.ends[ev.Body]++
}

// begins is the begin of a body of the program on a goroutine.
func (t *tracedBodies) begins(goroutine int64, kind core.Body) {
	stack := t.open[goroutine]
	if len(stack) == 0 || stack[len(stack)-1].kind != kind {
		t.fail("a %v begins on a goroutine on which the tracer has these bodies: %v", kind, stack)
		return
	}
	stack[len(stack)-1].ran = true
}

// finishes is the end of a body of the program.
func (t *tracedBodies) finishes(goroutine int64, end history.Outcome) {
	if stack := t.open[goroutine]; len(stack) > 0 {
		stack[len(stack)-1].end = end
	}
}

// check compares the counts with those of the report.
func (t *tracedBodies) check(r core.Report) {
	if len(t.open) > 0 {
		t.fail("the tracer has bodies that have not ended: %v", t.open)
	}
	tasks := t.ends[core.BodyTask] + t.ends[core.BodyTail]
	if tasks != r.Ran || t.skips != r.Cancelled || t.ends[core.BodyTimer] != r.TimersRun || t.ends[core.BodyHook] != r.HooksRun {
		t.fail("the tracer has %d tasks, %d skipped ones, %d timers and %d hooks that have ended, and the report %d, %d, %d and %d",
			tasks, t.skips, t.ends[core.BodyTimer], t.ends[core.BodyHook], r.Ran, r.Cancelled, r.TimersRun, r.HooksRun)
	}
}
