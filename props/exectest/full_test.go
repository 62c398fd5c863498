package exectest_test

import (
	"errors"
	"slices"
	"time"

	"eventide/props/exectest"
	"eventide/props/history"

	"github.com/petermattis/goid"
)

// full is simple with everything that the kit can ask for.
type full struct {
	*simple
	hooks  []*hook  // guarded by simple.mu, as the rest
	timers []*alarm // those that wait, by deadline and age
}

type hook struct {
	run            func()
	begun, removed bool
	late           bool // added after the close, by a hook
}

type alarm struct {
	due   time.Time
	run   func()
	begun bool
	gone  bool
}

func newFull(f flaw) *full {
	e := &full{simple: newSimple(f)}
	e.atStop = e.stop
	e.atIdle = func() {
		if f != starvesTimers || len(e.queue) == 0 {
			e.due()
		}
	}
	return e
}

// stop cancels the timers and hands the hooks to the loop. Lock held.
func (e *full) stop() {
	for _, a := range e.timers {
		a.gone = true
	}
	hooks := e.hooks
	if e.flaw == hookSkipped && len(hooks) > 0 {
		hooks = hooks[:len(hooks)-1]
	}
	for _, h := range hooks {
		e.pushHook(h)
	}
}

func (e *full) pushHook(h *hook) {
	e.push(item{run: h.run, hook: h, skip: func() bool {
		h.begun = !h.removed
		return h.removed
	}})
}

func (e *full) AddShutdownHook(f func()) (func() bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	h := &hook{run: f}
	from := e.current.hook
	switch {
	case e.closed && (e.loop != goid.Get() || from == nil || from.late):
		return nil, errClosed
	case e.shutting || e.flaw == hookEarly:
		h.late = e.closed
		e.pushHook(h)
	default:
		e.hooks = append(e.hooks, h)
	}
	return func() bool { return e.remove(h) }, nil
}

func (e *full) remove(h *hook) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	removed := !h.begun && !h.removed && !e.ended
	h.removed = h.removed || removed
	return removed
}

func (e *full) Schedule(delay time.Duration, f func()) (func() bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, errClosed
	}
	delay = max(delay, 0)
	if e.flaw == timerEarly && delay > 0 {
		delay -= time.Millisecond
	}
	a := &alarm{due: time.Now().Add(delay), run: f, gone: e.shutting}
	at := slices.IndexFunc(e.timers, func(b *alarm) bool {
		return b.due.After(a.due) || e.flaw == timersUnordered && b.due.Equal(a.due)
	})
	if at < 0 {
		at = len(e.timers)
	}
	e.timers = slices.Insert(e.timers, at, a)
	time.AfterFunc(delay, e.fire)
	return func() bool { return e.cancel(a) }, nil
}

func (e *full) cancel(a *alarm) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if a.begun || a.gone {
		return false
	}
	a.gone = e.flaw != cancelLies
	return true
}

// fire is called at each deadline.
func (e *full) fire() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.running {
		e.due()
	}
}

// due hands the timers that are due to the loop. Lock held.
func (e *full) due() {
	for len(e.timers) > 0 && !e.timers[0].due.After(time.Now()) {
		a := e.timers[0]
		e.timers = e.timers[1:]
		e.push(item{run: a.run, skip: func() bool {
			a.begun = !a.gone
			return a.gone
		}})
	}
}

func (e *full) ShutdownNow() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.flaw == closesLate {
		time.AfterFunc(time.Millisecond, e.closeNow)
		return
	}
	e.shutNow()
}

func (e *full) closeNow() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.shutNow()
}

func (e *full) shutNow() {
	if !e.shutting {
		e.shutting = true
		e.atStop()
	}
	e.closed = true
	e.settle()
}

func (e *full) InEventLoop() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.loop == goid.Get() && (e.flaw != insideDenied || e.begun > 1)
}

func (e *full) State() history.State {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.ended || e.flaw == terminatedBefore && e.closed:
		return history.Terminated
	case e.flaw == stateGoesBack && e.shutting && e.running:
		return history.Started
	case e.closed:
		return history.Shutdown
	case e.shutting:
		return history.ShuttingDown
	case e.accepted > 0 || len(e.hooks) > 0:
		return history.Started
	default:
		return history.NotStarted
	}
}

func (e *full) Stats() history.Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	return history.Stats{Accepted: e.accepted, Ran: e.ran, Pending: e.accepted - e.ran, Rejected: e.rejected}
}

// future is the outcome of a submitted task.
type future struct {
	done    chan struct{}
	err     error
	refused bool
}

var errAbrupt = errors.New("full: the task panicked or exited")

func (e *full) Submit(task func() error) exectest.Future {
	f := &future{done: make(chan struct{}), err: errAbrupt}
	err := e.Execute(func() {
		if e.flaw != futureForgotten {
			defer func() { close(f.done) }()
		}
		f.err = task()
		if e.flaw == futureForgotten {
			close(f.done)
		}
	})
	if err != nil {
		f.err, f.refused = err, true
		close(f.done)
	}
	return f
}

func (f *future) Done() <-chan struct{} { return f.done }
func (f *future) Refused() bool         { return f.refused }

func (f *future) Err() error { return f.err }
