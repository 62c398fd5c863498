package props

import (
	"time"

	"eventide/core"
	"eventide/internal/vocabulary"
	"eventide/props/history"
	"eventide/props/interleave/control"

	"github.com/petermattis/goid"
)

// recorder writes one history: the calls and bodies of the program and, as the
// executor's Tracer, the events of core.
type recorder struct {
	log   *history.Log
	fails bool // set once: a call may end in a panic of the clock, and then it has had no effect

	parked int // position of the last begin of a sleep; written with the executor's mutex held, and read by its loop

	mu     control.Mutex
	calls  map[int64]pendingCall // by goroutine: the call that it makes
	last   map[int]int           // by descriptor: the registration that was added last
	older  map[int]int           // by registration: the previous one of the same descriptor number
	token  map[uint64]int        // by token: the registration
	lost   []int                 // Invokes of calls that a panic of the clock has ended
	bodies tracedBodies
	over   map[int]bool // channels that have ended
	timers int          // that have ended with ErrCancelled
	chans  map[int]bool // registrations that are channels, and were watched from the beginning
}

type pendingCall struct {
	invoke int
	op     history.Op
	id     int
}

func newRecorder(buf []history.Event, now func() time.Duration) *recorder {
	return &recorder{
		log: history.NewIn(buf, now), calls: map[int64]pendingCall{},
		last: map[int]int{}, older: map[int]int{}, token: map[uint64]int{}, over: map[int]bool{}, chans: map[int]bool{},
		bodies: tracedBodies{open: map[int64][]tracedBody{}},
	}
}

// call records a call around f, and returns the outcome of f.
func (r *recorder) call(inv history.Event, f func() history.Outcome) history.Outcome {
	g := goid.Get()
	inv.Kind = history.Invoke
	n := r.log.Add(inv)
	outer, nested := r.enterCall(g, pendingCall{n, inv.Op, inv.ID})
	out, panicked := history.Outcome(0), false
	if r.fails {
		out, panicked = withoutPanic(f)
	} else {
		out = f()
	}
	r.leaveCall(g, outer, nested)
	if panicked {
		r.lose(n)
	}
	r.log.Add(history.Event{Kind: history.Return, Op: inv.Op, ID: inv.ID, Call: n, Outcome: out})
	return out
}

func (r *recorder) enterCall(g int64, c pendingCall) (outer pendingCall, nested bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	outer, nested = r.calls[g]
	r.calls[g] = c
	return outer, nested
}

func (r *recorder) lose(invoke int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost = append(r.lost, invoke)
}

// events returns the log. A call that a panic of the clock has ended is in it as an ask, which changes
// nothing: if it has had an effect all the same, the log makes no sense.
func (r *recorder) events() []history.Event {
	events := r.log.Take()
	for _, n := range r.lost {
		for i := n - 1; i < len(events); i++ {
			e := &events[i]
			switch {
			case e.N == n:
				*e = history.Event{N: n, At: e.At, G: e.G, Kind: e.Kind, Op: history.OpListen, Note: "panics"}
			case e.Call == n && (e.Kind == history.Return || e.Kind == history.Admit):
				e.Op, e.ID = history.OpListen, 0
			}
		}
	}
	return events
}

// calling reports whether the goroutine is inside a call.
func (r *recorder) calling() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, inside := r.calls[goid.Get()]
	return inside
}

func (r *recorder) leaveCall(g int64, outer pendingCall, nested bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if nested {
		r.calls[g] = outer
	} else {
		delete(r.calls, g)
	}
}

// bodyBegins is the begin of a body of the program, on its goroutine.
func (r *recorder) bodyBegins(kind history.Body) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bodies.begins(goid.Get(), kind)
}

// checkBodies blames a difference between the traced bodies and those of the program.
func (r *recorder) checkBodies(h *harness) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bodies.check(h.ex.Termination().Report()); r.bodies.wrong != "" {
		h.blame("%s", r.bodies.wrong)
	}
}

// insideBody reports whether a body runs on the goroutine.
func (r *recorder) insideBody() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.bodies.open[goid.Get()]) > 0
}

func (r *recorder) bodyEnds(end history.Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bodies.finishes(goid.Get(), end)
}

// Trace implements core.Tracer.
func (r *recorder) Trace(ev core.Event) {
	switch ev.Kind {
	case core.EventBegin, core.EventEnd:
		r.mu.Lock()
		r.bodies.event(ev)
		r.mu.Unlock()
	case core.EventAdmit:
		r.admit(ev)
	case core.EventState:
		r.log.Add(history.Event{Kind: history.Transit, From: ev.From, To: ev.To, Cause: cause(ev.Reason), Note: text(ev.Reason)})
	case core.EventPark:
		r.parked = r.log.Add(history.Event{
			Kind: history.Park, To: ev.To,
			Deadline: orNever(ev.Until), Next: orNever(ev.NextTimer), Queued: ev.Queued,
		})
	case core.EventUnpark:
		r.log.Add(history.Event{Kind: history.Unpark})
	case core.EventWake:
		r.log.Add(history.Event{Kind: history.Wake})
	case core.EventTimerCancelled:
		r.mu.Lock()
		r.timers++
		r.mu.Unlock()
	case core.EventPollerClosed:
		r.log.Add(history.Event{Kind: history.Closed})
	case core.EventRegistrationClosed:
		r.ended(ev)
	case core.EventDone:
		r.log.Add(history.Event{Kind: history.Done})
	}
}

// admit records the moment at which the executor decided the call that this goroutine
// makes.
func (r *recorder) admit(ev core.Event) {
	r.mu.Lock()
	c, known := r.calls[ev.Goroutine]
	r.mu.Unlock()
	if !known {
		return // the harness's own shutdown call
	}
	out := history.Refused
	if ev.Accepted {
		out = history.Accepted
	}
	switch ev.Op {
	case core.OpCancelTimer, core.OpResetTimer, core.OpRemoveShutdownHook:
		out = vocabulary.Truth(ev.Accepted)
	case core.OpShutdown, core.OpShutdownGracefully:
		out = vocabulary.Truth(ev.Accepted)
	}
	r.log.Add(history.Event{Kind: history.Admit, Op: c.op, ID: c.id, Call: c.invoke, Outcome: out})
}

func orNever(d time.Duration) time.Duration {
	if d < 0 {
		return history.Never
	}
	return d
}
