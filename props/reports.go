package props

import (
	"bytes"
	"context"
	"log/slog"
	"maps"
	"runtime"
	"time"

	"eventide/core"
	"eventide/props/history"
	"eventide/props/interleave/control"
)

// Handler is what the panic handler of a program does.
type Handler string

// The handlers. HandlerNone is that of a program without one: the logger gets the panics.
const (
	HandlerNone  Handler = ""
	HandlerPlain Handler = "plain"  // returns
	HandlerPanic Handler = "panics" // which is only logged
	HandlerExit  Handler = "exits"  // calls Goexit, if it is on the loop
	HandlerCalls Handler = "calls"  // makes the calls of the program, or submits a task
	HandlerSlow  Handler = "slow"   // takes slowHandler, if it is on the loop
)

// Reports counts what an executor has reported: to the panic handler, and to the logger by message.
type Reports struct {
	Handled       int
	HandlerPanics int
	Logged        map[string]int
}

// reporter is the logger and the panic handler of a run.
type reporter struct {
	h  *harness
	mu control.Mutex
	r  Reports

	rebuilds int // that were logged
}

// plannedPanic is the value of each panic of a program.
const plannedPanic = "props: planned panic"

// slowHandler is how long a slow panic handler takes: a point of no grid, so that its end ties with nothing.
const slowHandler = 3*time.Millisecond + 17*time.Nanosecond

// rebuilt is logged for each rebuild of the poller.
const rebuilt = "the poller was rebuilt"

// handler returns the panic handler of a program. It is in the log as a listener. The first call makes the
// calls of the program, if it has any.
func (r *reporter) handler(p Program) func(*core.PanicError) {
	does := p.Handler
	return func(got *core.PanicError) {
		if got.Value != plannedPanic || !bytes.Contains(got.Stack, []byte("props.finish")) {
			r.h.blame("the panic handler got the value %v and the stack %s", got.Value, got.Stack)
		}
		inside := r.h.ex.InEventLoop()
		r.mu.Lock()
		r.r.Handled++
		first := r.r.Handled == 1
		if does == HandlerPanic {
			r.r.HandlerPanics++
		}
		r.mu.Unlock()
		ev := history.Event{Kind: history.Begin, Body: history.BodyListener, ID: handlerID, InLoop: inside}
		r.h.rec.log.Add(ev)
		exits := does == HandlerExit && inside && !r.h.rec.calling()
		switch {
		case does == HandlerCalls && first && len(p.Handling) > 0:
			r.h.steps(p.Handling, false)
		case does == HandlerCalls:
			r.h.call(r.h.extraTask())
		case does == HandlerSlow && inside:
			time.Sleep(slowHandler)
		}
		ev.Kind, ev.Outcome = history.End, history.Normal
		if exits {
			ev.Outcome = history.Exited
		}
		r.h.rec.log.Add(ev)
		switch {
		case exits:
			runtime.Goexit()
		case does == HandlerPanic:
			panic("props: the panic handler panics")
		}
	}
}

// take returns what has been reported so far.
func (r *reporter) take() Reports {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.r
	out.Logged = maps.Clone(r.r.Logged)
	return out
}

// Enabled implements slog.Handler.
func (r *reporter) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (r *reporter) Handle(_ context.Context, record slog.Record) error {
	if record.Level < slog.LevelWarn {
		r.h.blame("%q is logged at level %v, want at least Warn", record.Message, record.Level)
	}
	r.lookAtRecord(record.Message)
	if p := r.h.polled; p != nil && record.Message == rebuilt {
		p.mu.Lock()
		p.use.logged(record)
		p.mu.Unlock()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.r.Logged == nil {
		r.r.Logged = map[string]int{}
	}
	r.r.Logged[record.Message]++
	if record.Message == rebuilt {
		r.rebuilds++
	}
	return nil
}

// lookAtRecord calls the methods that report the executor's state, as the logger of a service might, and
// gives a loop that has failed a listener to call.
// A failure and a timeout are logged when Context has ended.
func (r *reporter) lookAtRecord(message string) {
	if r.h.ex == nil || r.h.rec.fails {
		return
	}
	if r.h.ex.InEventLoop() {
		r.h.lookAround()
	}
	if message == "the loop failed" {
		s := r.h.extraTask()
		s.Op, s.Ask, s.Body = 0, AskPromise, &Script{Listen: true}
		r.h.call(s)
		r.h.call(Step{Ask: AskSucceed, Target: s.ID})
	}
	ended := message == "the loop failed" || message == "the pool failed" || message == "timeout of the graceful shutdown passed"
	if ended && !isClosed(r.h.ex.Context().Done()) {
		r.h.blame("%q is logged, and Context has not ended", message)
	}
}

// WithAttrs implements slog.Handler. Each record names the executor.
func (r *reporter) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, a := range attrs {
		if a.Key == "executor" && r.h.ex != nil && a.Value.String() != r.h.ex.Name() {
			r.h.blame("a record of the logger names the executor %v, want %s", a.Value, r.h.ex.Name())
		}
	}
	return r
}

// WithGroup implements slog.Handler.
func (r *reporter) WithGroup(string) slog.Handler { return r }
