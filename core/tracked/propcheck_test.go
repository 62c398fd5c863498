package tracked_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"eventide/core"
)

// record is a record of a log.
type record struct {
	at    time.Time
	level slog.Level
	text  string
	attrs map[string]any
}

// recorder is a slog.Handler that keeps the records.
type recorder struct {
	of     *recorder // it has the attributes of this one and more
	attrs  []slog.Attr
	broken bool // it panics with each record

	mu  sync.Mutex
	all []record
}

func (r *recorder) Enabled(context.Context, slog.Level) bool { return true }

func (r *recorder) WithGroup(string) slog.Handler { return r }

func (r *recorder) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &recorder{of: r, attrs: attrs, broken: r.broken}
}

func (r *recorder) Handle(_ context.Context, got slog.Record) error {
	one := record{got.Time, got.Level, got.Message, map[string]any{}}
	got.Attrs(func(a slog.Attr) bool { one.attrs[a.Key] = a.Value.Any(); return true })
	to := r
	for ; to.of != nil; to = to.of {
		for _, a := range to.attrs {
			one.attrs[a.Key] = a.Value.Any()
		}
	}
	to.mu.Lock()
	to.all = append(to.all, one)
	to.mu.Unlock()
	if r.broken {
		panic("of the logger")
	}
	return nil
}

func (r *recorder) records() []record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all)
}

// same compares two errors; a panic of a function has some stack of it.
func same(got, want error) bool {
	if p, ok := want.(*core.PanicError); ok && p.Stack == nil {
		q, ok := got.(*core.PanicError)
		return ok && q.Value == p.Value && bytes.Contains(q.Stack, []byte("(*living).ends"))
	}
	if r, ok := want.(*core.RejectedError); ok {
		return reflect.DeepEqual(got, error(r))
	}
	return got == want
}

// check compares everything after a step.
func (l *living) check() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.advance(now)
	l.look(len(l.calls), now)
	for _, c := range l.calls {
		over := c.decided
		if c.waits {
			over = l.state == core.StateTerminated || !c.until.IsZero() && !now.Before(c.until)
		}
		if over && !c.returned {
			l.fail("%s has not returned", c.what)
		}
	}
	for _, f := range l.all {
		if want := min(1, max(0, f.began.Unix())); int64(f.runs) != want {
			l.fail("function %q was accepted at %v, and has begun %d times", f.Name, f.began, f.runs)
		}
	}
	if l.failing != nil {
		l.fail("the handler did not get the error of %q", l.failing.Name)
		l.failing = nil
	}
	l.checkLog()
	l.checkHeard()
}

// look compares all getters, from one of them on. Requires mu.
func (l *living) look(from int, now time.Time) {
	all := []func(){
		func() {
			if got := l.g.State(); got != l.state {
				l.fail("State is %v, want %v", got, l.state)
			}
		},
		func() { l.sameReport("Report", l.g.Report(), now) },
		func() { l.sameReport("Report of the Termination", l.g.Termination().Report(), now) },
		func() {
			if got := l.g.Err(); !l.sameFailure(got) {
				l.fail("Err is %v, want that of %q: %v", got, l.firstFrom, l.first)
			}
		},
		func() {
			if got := l.g.Termination().Err(); l.state == core.StateTerminated && !l.sameFailure(got) || l.state < core.StateTerminated && got != nil {
				l.fail("the error of the Termination is %v in state %v, want at the end that of %q: %v", got, l.state, l.firstFrom, l.first)
			}
		},
		l.lookAtFunctions,
		func() { l.sameRunning("Running", l.g.Running(), l.running, now) },
		l.lookAtContext,
		func() {
			if l.term == nil {
				l.term = l.g.Termination()
			}
			if l.term != l.g.Termination() {
				l.fail("Termination is not the one of before")
			}
		},
	}
	for i := range all {
		all[(i+from)%len(all)]()
	}
}

func (l *living) lookAtFunctions() {
	var got, want []string
	for _, f := range l.g.Functions() {
		got = append(got, fmt.Sprint(f.Name, " ", f.Began))
	}
	for _, f := range oldestFirst(l.spec.running) {
		want = append(want, fmt.Sprint(f.Name, " ", f.began))
	}
	if !slices.Equal(got, want) {
		l.fail("Functions are %q, want %q", got, want)
	}
}

func (l *living) lookAtContext() {
	ctx, want := l.g.ShutdownContext(), error(nil)
	if !l.calledAt.IsZero() {
		want = core.ErrShutdown
	}
	if got := context.Cause(ctx); got != want || (ctx.Value(valueKey{}) == "value") != (l.plan.Context == "ended") {
		l.fail("the cause of ShutdownContext is %v, want %v; its value is %v", got, want, ctx.Value(valueKey{}))
	}
}

// sameReport compares a report. Requires mu.
func (l *living) sameReport(what string, got core.Report, now time.Time) {
	l.sameRunning(what, got.Running, l.still, l.closedAt)
	got.Running = ""
	if l.counting {
		got.Rejected = l.rejected
	}
	if want := l.report(now); got != want {
		l.fail("%s is %+v, want %+v", what, got, want)
	}
}

// sameRunning compares a text about the functions that ran at a time. Requires mu.
func (l *living) sameRunning(what, text string, want []*running, at time.Time) {
	want = oldestFirst(want)
	heads := make([]string, 0, len(want)+1)
	for _, f := range want {
		heads = append(heads, fmt.Sprintf("%s runs since %s:\n", cmp.Or(f.Name, "a function without a name"), f.began.Format(time.RFC3339Nano)))
	}
	rest := text
	for i, f := range want {
		after, ok := strings.CutPrefix(rest, heads[i])
		stack, next := after, ""
		if n := strings.Index(after, "\n"+append(heads, "")[i+1]); ok && i+1 < len(want) && n >= 0 {
			stack, next = after[:n+1], after[n+1:]
		}
		if !ok || !l.isStack(stack, f, want, at) {
			l.fail("%s: want function %d as %q with its stack:\n%s", what, i, heads[i], text)
			return
		}
		rest = next
	}
	if rest != "" {
		l.fail("%s: want %q alone:\n%s", what, heads, text)
	}
}

// isStack reports whether a text is the stack of f, or of a function that looks like it. One that
// was accepted at that time may not have begun.
func (l *living) isStack(text string, f *running, among []*running, at time.Time) bool {
	for _, other := range among {
		if other.Name != f.Name || !other.began.Equal(f.began) {
			continue
		}
		if strings.HasPrefix(text, fmt.Sprintf("goroutine %d [", other.goroutine)) && strings.Contains(text, "tracked.(*Group).run(") && strings.HasSuffix(text, "\n") {
			return true
		}
		if other.began.Equal(at) && text == "(it has not begun)\n" {
			return true
		}
	}
	return false
}

// checkLog compares the log. Requires mu.
func (l *living) checkLog() {
	got := l.log.records()
	if other := l.own; other != l.log && len(other.records()) > 0 {
		l.fail("a logger that is not the group's has %v", other.records())
	}
	if len(got) != len(l.logged) {
		l.fail("the log is %v, want %v", got, l.logged)
		return
	}
	for i, want := range l.logged {
		one := got[i]
		right := one.at.Equal(want.at) && one.level == want.level && one.text == want.text && len(one.attrs) == len(want.attrs)
		for key, value := range want.attrs {
			right = right && l.sameAttr(key, one.attrs[key], value, want.at)
		}
		if !right {
			l.fail("record %d of the log is %v, want %v", i, one, want)
		}
	}
}

func (l *living) sameAttr(key string, got, want any, at time.Time) bool {
	switch key {
	case "running":
		text, _ := got.(string)
		l.sameRunning("the log", text, want.([]*running), at)
		return true
	case "error":
		err, _ := got.(error)
		return same(err, want.(error))
	case "stack":
		text, _ := got.(string)
		return strings.Contains(text, want.(string))
	}
	return got == want
}

// checkHeard compares the calls of listeners: each once, in order, at the end or when it was added.
// Requires mu.
func (l *living) checkHeard() {
	if l.state < core.StateTerminated && len(l.heard) == 0 {
		return
	}
	if l.state < core.StateTerminated || len(l.heard) != len(l.listens) {
		l.fail("%d of %d listeners were called in state %v", len(l.heard), len(l.listens), l.state)
		return
	}
	for i, h := range l.heard {
		at := l.endedAt
		if l.listens[i].After(at) {
			at = l.listens[i]
		}
		if h.listener != i || !h.at.Equal(at) || !l.sameFailure(h.err) {
			l.fail("listener %d is called as number %d, %v too late, with the error %v", h.listener, i, h.at.Sub(at), h.err)
		}
		l.sameReport("the report of a listener", h.report, h.at)
	}
}

// checkEnd compares what is left after the end.
func (l *living) checkEnd() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state != core.StateTerminated {
		l.fail("the life has ended in state %v", l.state)
	}
	for _, c := range l.calls {
		if !c.returned {
			l.fail("%s has not returned", c.what)
		}
	}
}
