package subjects

import (
	"errors"
	"math"
	"slices"
	"time"

	"eventide/props/exectest"
	"eventide/props/history"

	"github.com/petermattis/goid"
)

// Full is simple with everything that the kit can ask for.
type Full struct {
	*Simple
	hooks  []*hook  // guarded by simple.mu, as the rest
	timers []*alarm // those that wait, by deadline and age
	handed []*alarm // those that are due and wait for the loop
	ages   int
}

type hook struct {
	run            func()
	begun, removed bool
	late           bool // added after the close, by a hook
}

type alarm struct {
	due   time.Time
	age   int // timers with equal deadlines run in the order of their ages
	moved int // how often Reset has moved it
	run   func()
	begun bool
	gone  bool
}

func NewFull(f Flaw) *Full {
	e := &Full{Simple: NewSimple(f)}
	e.atStop = e.stop
	e.atIdle = func() {
		if f != StarvesTimers || len(e.queue) == 0 {
			e.due()
		}
	}
	return e
}

// stop cancels the timers and hands the hooks to the loop. Lock held.
func (e *Full) stop() {
	for _, a := range e.timers {
		a.gone = true
		if a.due.After(e.until) {
			e.until = a.due
		}
	}
	for _, a := range e.handed {
		a.gone = !a.begun
	}
	hooks := e.hooks
	if e.flaw == HooksReversed {
		hooks = slices.Clone(hooks)
		slices.Reverse(hooks)
	}
	if e.flaw == HookSkipped && len(hooks) > 0 {
		hooks = hooks[:len(hooks)-1]
	}
	for _, h := range hooks {
		e.pushHook(h)
	}
}

func (e *Full) pushHook(h *hook) {
	e.push(item{run: h.run, hook: h, skip: func() bool {
		h.begun = !h.removed
		return h.removed
	}})
}

func (e *Full) AddShutdownHook(f func()) (func() bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	h := &hook{run: f}
	from := e.current.hook
	switch {
	case e.closed && (e.loop != goid.Get() || from == nil || from.late):
		return nil, errClosed
	case e.shutting || e.flaw == HookEarly:
		h.late = e.closed
		e.pushHook(h)
	default:
		e.hooks = append(e.hooks, h)
	}
	return func() bool { return e.remove(h) }, nil
}

func (e *Full) remove(h *hook) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	removed := !h.begun && !h.removed && !e.ended || e.flaw == RemoveLies && h.begun
	h.removed = h.removed || removed
	return removed
}

func (e *Full) Schedule(delay time.Duration, f func()) (func() bool, error) {
	t, err := e.ScheduleTimer(delay, f)
	if err != nil {
		return nil, err
	}
	return t.Cancel, nil
}

func (e *Full) ScheduleTimer(delay time.Duration, f func()) (exectest.Timer, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, errClosed
	}
	if e.flaw == DelayOverflows && delay.Milliseconds() > math.MaxInt32 {
		delay = time.Millisecond
	}
	delay = max(delay, 0)
	if e.flaw == TimerEarly && delay > 0 {
		delay -= time.Millisecond
	}
	e.ages++
	a := &alarm{due: time.Now().Add(delay), age: e.ages, run: f, gone: e.shutting}
	if e.flaw == TimersBeside {
		time.AfterFunc(delay, func() { e.beside(a) })
	} else {
		e.wait(a)
	}
	return timer{e, a}, nil
}

// wait puts the alarm among those that wait. Lock held.
func (e *Full) wait(a *alarm) {
	at := slices.IndexFunc(e.timers, func(b *alarm) bool {
		return b.due.After(a.due) || b.due.Equal(a.due) && (e.flaw == TimersUnordered || b.age > a.age)
	})
	if at < 0 {
		at = len(e.timers)
	}
	e.timers = slices.Insert(e.timers, at, a)
	time.AfterFunc(time.Until(a.due), e.fire)
}

// timer is a timer of a Full.
type timer struct {
	e *Full
	a *alarm
}

func (t timer) Cancel() bool                   { return t.e.cancel(t.a) }
func (t timer) Reset(delay time.Duration) bool { return t.e.reset(t.a, delay) }

func (e *Full) reset(a *alarm, delay time.Duration) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case a.begun || a.gone:
		return e.flaw == ResetTooLate && a.begun
	case e.flaw == TimersBeside:
		return false
	case e.flaw == ResetIgnored:
		return true
	case e.flaw == ResetTwice:
		e.ages++
		e.wait(&alarm{due: time.Now().Add(max(delay, 0)), age: e.ages, run: a.run})
		return true
	}
	e.timers = slices.DeleteFunc(e.timers, func(b *alarm) bool { return b == a })
	a.moved++
	a.due = time.Now().Add(max(delay, 0))
	if e.flaw != ResetLoses {
		e.wait(a)
	}
	return true
}

func (e *Full) cancel(a *alarm) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if a.begun || a.gone {
		return e.flaw == CancelTwice && !a.begun
	}
	a.gone = e.flaw != CancelLies
	return true
}

// beside runs a timer without the loop.
func (e *Full) beside(a *alarm) {
	e.mu.Lock()
	a.gone = a.gone || e.shutting
	a.begun = !a.gone
	e.mu.Unlock()
	if a.begun {
		defer func() { _ = recover() }()
		a.run()
	}
}

// fire is called at each deadline.
func (e *Full) fire() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.running {
		e.due()
	}
}

// due hands the timers that are due to the loop. Lock held.
func (e *Full) due() {
	for len(e.timers) > 0 && !e.timers[0].due.After(time.Now()) {
		a := e.timers[0]
		e.timers = e.timers[1:]
		e.handed = append(slices.DeleteFunc(e.handed, func(b *alarm) bool { return b.begun || b.gone }), a)
		moved := a.moved
		e.push(item{run: a.run, skip: func() bool {
			if a.moved != moved {
				return true // Reset has moved it while it waited for the loop
			}
			a.begun = !a.gone
			return a.gone
		}})
	}
}

func (e *Full) ShutdownNow() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.flaw == ClosesLate {
		time.AfterFunc(time.Millisecond, e.closeNow)
		return
	}
	e.shutNow()
}

func (e *Full) closeNow() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.shutNow()
}

func (e *Full) shutNow() {
	if !e.shutting {
		e.shutting = true
		e.atStop()
	}
	e.closed = true
	e.settle()
}

func (e *Full) InEventLoop() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.loop == goid.Get() && (e.flaw != InsideDenied || e.begun > 1)
}

func (e *Full) State() history.State {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.ended || e.flaw == TerminatedBefore && e.closed:
		return history.Terminated
	case e.flaw == StateGoesBack && e.shutting && e.running:
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

func (e *Full) Stats() history.Stats {
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

func (e *Full) Submit(task func() error) exectest.Future {
	f := &future{done: make(chan struct{}), err: errAbrupt}
	if e.flaw == PanicIsSuccess {
		f.err = nil
	}
	err := e.Execute(func() {
		if e.flaw != FutureForgotten {
			defer func() { close(f.done) }()
		}
		f.err = task()
		if e.flaw == FutureForgotten {
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
