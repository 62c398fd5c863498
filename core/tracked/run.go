package tracked

import (
	"context"
	"log/slog"
	"runtime/debug"
	"time"

	"eventide/core"

	"github.com/petermattis/goid"
)

// refusal counts a call after the close, and returns its error; before the close it
// returns nil. Requires mu.
func (g *Group) refusal() error {
	if g.state < core.StateShutdown {
		return nil
	}
	return g.refuse(g.shutdown.cause)
}

// refuse counts a refusal and returns its error. Requires mu.
func (g *Group) refuse(reason error) error {
	if g.shutdown.ended { // the report is sealed without this refusal, so its state must be Terminated (G20)
		<-g.term.Done() // closed at once, without mu
	}
	state := g.stateNow()
	if state != core.StateTerminated { // core.Report.Rejected counts refusals before Done only
		g.counts.rejected++
	}
	return &core.RejectedError{State: state, Reason: reason}
}

// belowLimit reports whether another function may begin. While it may, no call waits. Requires mu.
func (s *shared) belowLimit() bool { return s.limit < 0 || len(s.running) < s.limit }

// accept accepts f: from now on the group does not end before f has returned. Requires
// mu.
func (g *Group) accept(f *function) {
	f.began = time.Now()
	g.running[f] = struct{}{}
	g.counts.accepted++
	if g.state == core.StateNotStarted {
		g.state = core.StateStarted
	}
	g.stopQuiet()
}

// acceptWaiting accepts the waiting calls that the limit now allows. Requires mu. A closed group has none.
func (g *Group) acceptWaiting() {
	for len(g.waiting) > 0 && g.belowLimit() {
		w := g.waiting[0]
		g.accept(w.f)
		g.waiting = g.waiting[1:]
		close(w.over)
	}
}

// refuseWaiting refuses all waiting calls, because the group is closed. Requires mu.
func (g *Group) refuseWaiting() {
	for _, w := range g.waiting {
		w.refused = g.refusal()
		close(w.over)
	}
	g.waiting = nil
}

// run is the goroutine of an accepted function.
func (g *Group) run(one *function, f func(context.Context) error) {
	g.mu.Lock()
	one.goroutine = goid.Get()
	g.mu.Unlock()
	var err error
	panicked := false                  // not known by err: f may return the *core.PanicError of a future
	defer func() { g.returned(one) }() // deferred, because the handler may panic or call Goexit
	defer func() {
		if err != nil {
			g.failed(one.name, err, panicked)
		}
	}()
	defer func() {
		if v := recover(); v != nil {
			err, panicked = &core.PanicError{Value: v, Stack: debug.Stack()}, true
		}
	}()
	err = core.ErrGoexit // the error unless f returns or panics
	err = f(g.ctx)
}

// failed stores the first error, and passes each error to the handler or the logger. A
// panic of the handler is logged, so that the group can still end.
func (g *Group) failed(name string, err error, panicked bool) {
	g.mu.Lock()
	if g.firstErr == nil {
		g.firstErr, g.firstFrom = err, name
	}
	if panicked {
		g.counts.panicked++
	}
	g.mu.Unlock()
	if g.cfg.onError == nil {
		g.logFailure(name, err, panicked)
		return
	}
	defer func() {
		if v := recover(); v != nil {
			g.log(slog.LevelError, "error handler panicked", "function", name, "error", err, "panic", v, "stack", string(debug.Stack()))
		}
	}()
	g.cfg.onError(name, err)
}

// logFailure logs the error of a function, and the stack of its panic.
func (g *Group) logFailure(name string, err error, panicked bool) {
	args := []any{"function", name, "error", err}
	if of, is := err.(*core.PanicError); is && panicked {
		args = append(args, "stack", string(of.Stack))
	}
	g.log(slog.LevelError, "function failed", args...)
}

// log writes to the user's logger, and ignores a panic of the logger.
func (g *Group) log(level slog.Level, text string, args ...any) {
	defer func() { _ = recover() }()
	logger := g.cfg.logger
	if logger == nil {
		logger = slog.Default()
	}
	if g.cfg.name != "" {
		logger = logger.With("group", g.cfg.name)
	}
	logger.Log(context.Background(), level, "tracked: "+text, args...)
}

// returned counts the end of an accepted function, and ends a closed group after the last
// one.
func (g *Group) returned(f *function) {
	g.mu.Lock()
	delete(g.running, f)
	g.counts.ran++
	g.acceptWaiting()
	g.idle()
	g.unlockAndEnd()
}
