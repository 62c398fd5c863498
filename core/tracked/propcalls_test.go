package tracked_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/tracked"

	"github.com/petermattis/goid"
)

// living runs a life beside its specification. What a caller, a function, a handler or a listener
// does is entered there first, and then the group is called.
type living struct {
	plan     life
	t        *testing.T
	g        *tracked.Group
	own, log *recorder // the logger of WithLogger, and that of the group

	mu sync.Mutex // also of the fields of functions and calls
	spec
	acted   time.Time
	tied    bool   // two things happened at the same time
	wrong   string // the first difference
	term    *core.Termination
	all     []*running // that were accepted or refused
	calls   []*call
	failing *running // its error is due at the handler

	counting bool // refusals are not in rejected yet
	heard    []heard
	listens  []time.Time // when each listener was added
}

// heard is a call of a listener of the end.
type heard struct {
	listener int
	at       time.Time
	report   core.Report
	err      error
}

// fail keeps the first difference. Requires mu.
func (l *living) fail(format string, args ...any) {
	if l.wrong == "" {
		l.wrong = fmt.Sprintf("after %v: ", time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))) + fmt.Sprintf(format, args...)
	}
}

// act begins an action. It locks mu.
func (l *living) act() (now time.Time) {
	l.mu.Lock()
	now = time.Now()
	at, _, closes := l.closesAt()
	if l.tied = l.tied || l.acted.Equal(now) || closes && at.Equal(now); l.acted.Before(now) {
		l.acted = now
	}
	l.advance(now)
	return now
}

// do makes one call. In a function, f is that function and ctx its context.
func (l *living) do(s step, f *running, ctx context.Context) {
	switch s.Do {
	case "go", "try", "execute":
		l.submit(s)
	case "tie":
		l.tie(s)
	case "none":
		l.none(s.Number)
	case "limit":
		now := l.act()
		l.setLimit(s.Number, now)
		l.mu.Unlock()
		l.g.SetLimit(s.Number)
	case "graceful":
		l.callGracefully(s)
	case "shutdown":
		now := l.act()
		l.shutdown(now)
		l.mu.Unlock()
		l.sameTermination(l.g.Shutdown())
	case "close", "await":
		l.await(s, f)
	case "listen":
		l.listen()
	case "look":
		now := l.act()
		l.look(s.Number, now)
		l.mu.Unlock()
	case "context", "begun":
		l.awaitContext(s.Do, ctx)
	}
}

// newCall returns a call that is in progress. Requires mu.
func (l *living) newCall(format string, args ...any) *call {
	c := &call{what: fmt.Sprintf(format, args...)}
	l.calls = append(l.calls, c)
	return c
}

func (l *living) newFunction(s step) *running {
	f := &running{function: s.Body, bare: s.Do == "execute"}
	if f.err = errOf(f.End); f.bare && f.End != "panic" && f.End != "exit" {
		f.End, f.err = "", nil
	}
	l.all = append(l.all, f)
	return f
}

// submit calls Go, TryGo or Execute, and compares its error, and the time at which it returns.
func (l *living) submit(s step) {
	now := l.act()
	f, c := l.newFunction(s), l.newCall("%s(%q)", s.Do, s.Body.Name)
	l.admit(c, f, s.Do != "try", now)
	l.mu.Unlock()
	err := l.call(s.Do, f)
	l.mu.Lock()
	defer l.mu.Unlock()
	now = time.Now()
	l.advance(now)
	c.returned = true
	if !c.decided || !c.at.Equal(now) || !same(err, c.err) {
		l.fail("%s returns %v, want %v; it is decided: %v, since %v", c.what, err, c.err, c.decided, now.Sub(c.at))
	}
}

func (l *living) call(do string, f *running) error {
	switch do {
	case "go":
		return l.g.Go(f.Name, l.body(f))
	case "execute":
		return l.g.Execute(func() { _ = l.body(f)(nil) })
	}
	return l.g.TryGo(f.Name, l.body(f))
}

// tie calls TryGo at the instant at which the group closes: it is accepted before that, or refused.
func (l *living) tie(s step) {
	l.mu.Lock()
	l.acted = time.Now()
	f := l.newFunction(s)
	f.Last += time.Second // it does not end at once, either
	l.mu.Unlock()
	err := l.g.TryGo(f.Name, l.body(f))
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	c := &call{}
	if before := l.state < core.StateShutdown && l.below(); err == nil && before {
		l.accept(c, f, now)
		l.advance(now)
		return
	}
	if full := (&core.RejectedError{State: l.state, Reason: tracked.ErrLimit}); l.state < core.StateShutdown && !l.below() && same(err, full) {
		l.refuse(c, tracked.ErrLimit, now)
		l.advance(now)
		return
	}
	l.advance(now)
	if l.admit(c, f, false, now); !same(err, c.err) {
		l.fail("TryGo at the close returns %v, want %v", err, c.err)
	}
}

// none calls Go, TryGo or Execute with a nil function, which is an error in every state.
func (l *living) none(n int) {
	l.act()
	l.mu.Unlock()
	calls := map[string]func() error{
		"Go": func() error { return l.g.Go("none", nil) }, "TryGo": func() error { return l.g.TryGo("none", nil) }, "Execute": func() error { return l.g.Execute(nil) },
	}
	name := []string{"Go", "TryGo", "Execute"}[n%3]
	err := calls[name]()
	l.mu.Lock()
	defer l.mu.Unlock()
	if want := "tracked: " + name + ": f is nil, want a function"; err == nil || err.Error() != want || errors.Is(err, core.ErrRejected) {
		l.fail("%s(nil) returns %v, want %q", name, err, want)
	}
}

func (l *living) callGracefully(s step) {
	now := l.act()
	want := ""
	switch {
	case s.Quiet < 0:
		want = fmt.Sprintf("tracked: ShutdownGracefully: quiet is %v, want 0 or more", s.Quiet)
	case s.Timeout < s.Quiet:
		want = fmt.Sprintf("tracked: ShutdownGracefully: timeout is %v, want at least quiet, which is %v", s.Timeout, s.Quiet)
	default:
		l.gracefully(s.Quiet, s.Timeout, now)
	}
	l.mu.Unlock()
	term, err := l.g.ShutdownGracefully(s.Quiet, s.Timeout)
	if want == "" {
		l.sameTermination(term)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if got := fmt.Sprint(err); want == "" && err != nil || want != "" && (got != want || term != nil) {
		l.fail("ShutdownGracefully(%v, %v) returns %v, %v, want %q", s.Quiet, s.Timeout, term, err, want)
	}
}

func (l *living) sameTermination(term *core.Termination) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.term == nil {
		l.term = term
	}
	if term == nil || term != l.term || l.g.Termination() != term {
		l.fail("got another Termination than before, or none")
	}
}

// await calls Close, AwaitTermination, or Wait of the Termination. Inside of a function they
// return at once.
func (l *living) await(s step, f *running) {
	now := l.act()
	if s.Do == "close" {
		l.gracefully(0, core.DefaultShutdownTimeout, now)
	}
	c := l.newCall("%s %d", s.Do, s.Number)
	c.waits = true
	l.mu.Unlock()
	ctx, cancel := context.WithTimeoutCause(context.Background(), s.Timeout, errOfContext)
	defer cancel()
	if s.Do == "await" {
		c.until = now.Add(s.Timeout)
	}
	var err error
	var report core.Report
	var none context.Context
	reported := false
	switch {
	case s.Do == "close":
		err = l.g.Close()
	case s.Number == 1:
		err = l.g.AwaitTermination(none)
	case s.Number%2 == 0:
		err = l.g.AwaitTermination(ctx)
	default:
		report, err = l.g.Termination().Wait(ctx)
		reported = true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c.returned = true
	returned := time.Now()
	l.advance(returned)
	l.awaited(s, f, c, now, returned, err)
	if reported {
		l.sameReport("the report of Wait", report, returned)
	}
}

// awaited compares the result of a wait that began and returned then. Requires mu.
func (l *living) awaited(s step, f *running, c *call, began, returned time.Time, err error) {
	at, right := began, false
	switch {
	case s.Do == "await" && s.Number == 1:
		right = err != nil && strings.Contains(err.Error(), "ctx is nil, want a context")
	case f != nil:
		right = err == core.ErrInEventLoop
	case l.state == core.StateTerminated && (c.until.IsZero() || l.endedAt.Before(c.until) || !l.endedAt.After(began)):
		if at = l.endedAt; at.Before(began) {
			at = began
		}
		right = l.sameFailure(err)
	default:
		at, right = c.until, err == errOfContext
	}
	if !right || !returned.Equal(at) {
		l.fail("%s in a function: %v, returns %v after %v, want another error, or a return after %v", c.what, f != nil, err, returned.Sub(began), at.Sub(began))
	}
}

// listen adds a listener of the end.
func (l *living) listen() {
	now := l.act()
	n := len(l.listens)
	l.listens = append(l.listens, now)
	l.mu.Unlock()
	l.g.Termination().OnDone(func(r core.Report, err error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.heard = append(l.heard, heard{n, time.Now(), r, err})
	})
}

// awaitContext waits for the end of the context of a function, or for the begin of the shutdown.
func (l *living) awaitContext(which string, ctx context.Context) {
	if which == "begun" || ctx == nil {
		which, ctx = "begun", l.g.ShutdownContext()
	}
	began := time.Now()
	<-ctx.Done()
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.advance(now)
	at, cause := l.closedAt, l.cause
	if which == "begun" {
		at, cause = l.calledAt, core.ErrShutdown
	}
	if at.Before(began) {
		at = began
	}
	if !now.Equal(at) || context.Cause(ctx) != cause {
		l.fail("the context %q ends after %v with %v, want after %v with %v", which, now.Sub(began), context.Cause(ctx), at.Sub(began), cause)
	}
}

// body is the function that runs f.
func (l *living) body(f *running) func(context.Context) error {
	return func(ctx context.Context) error {
		l.begins(f, ctx)
		for _, s := range f.Steps {
			time.Sleep(s.Wait)
			l.do(s, f, ctx)
		}
		time.Sleep(f.Last)
		return l.ends(f)
	}
}

func (l *living) begins(f *running, ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f.goroutine = goid.Get()
	f.runs++
	if ctx == nil {
		return // of Execute
	}
	if value := ctx.Value(valueKey{}); (value == "value") != (l.plan.Context == "ended" && !l.plan.Zero) {
		l.fail("the context of a function has the value %v", value)
	}
	if l.closedAt.IsZero() && ctx.Err() != nil && l.state < core.StateShuttingDown {
		l.fail("the context of a function has ended before the close: %v", context.Cause(ctx))
	}
}

// ends ends the function as it says.
func (l *living) ends(f *running) error {
	now := l.act()
	f.ended = now
	l.fails(f, now)
	if f.err != nil && l.handled {
		l.failing = f // the handler continues
	} else {
		l.returns(f, now)
	}
	l.mu.Unlock()
	switch f.End {
	case "panic":
		panic("of the function")
	case "exit":
		runtime.Goexit()
	}
	return f.err
}

// handle is the error handler: its function still counts as running.
func (l *living) handle(name string, err error) {
	l.mu.Lock()
	now, f := time.Now(), l.failing
	if f == nil || f.Name != name || !same(err, f.err) || f.goroutine != goid.Get() || !f.ended.Equal(now) {
		l.fail("the handler gets %q and %v, want those of the function that has ended: %+v", name, err, f)
		l.mu.Unlock()
		return
	}
	l.failing = nil
	l.look(0, now)
	if l.plan.Handler == "shuts" {
		l.shutdown(now)
		l.mu.Unlock()
		l.sameTermination(l.g.Shutdown())
		l.mu.Lock()
	}
	if l.plan.Handler == "panics" {
		l.spec.log(now, slog.LevelError, "error handler panicked", map[string]any{"function": name, "error": f.err, "panic": "of the handler", "stack": "(*living).handle"})
	}
	l.returns(f, now)
	l.mu.Unlock()
	switch l.plan.Handler {
	case "panics":
		panic("of the handler")
	case "exits":
		runtime.Goexit()
	}
}
