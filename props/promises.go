package props

import (
	"errors"
	"slices"
	"sync"

	"eventide/core"
	"eventide/props/history"
)

// promises are the promises of a program, by label.
type promises struct {
	mu      sync.Mutex
	byID    map[int]*promise
	offLoop int // position of the first listener that ran off a loop that had existed; 0: none
}

// promise is one promise with the record by which its answers are checked: one call completes
// it, and its listeners run with that result, once each, one at a time, in the order in which
// they were added, and on the loop until the loop has ended (G9).
type promise struct {
	id int
	p  *core.Promise[int]

	mu      sync.Mutex
	won     int   // calls that completed it
	err     error // the error of the call that completed it
	kept    bool  // SetUncancellable has returned true
	started bool  // the loop existed before each call so far
	clock   int   // orders the calls of OnDone
	running bool  // a listener runs

	listeners []*promiseListener
}

type promiseListener struct {
	script        *Script
	added, waited int // clock before and after the call of OnDone; waited 0: it has not returned
	calls         int
}

// errFailed is the error of TryFailure in programs.
var errFailed = errors.New("props: the promise fails")

// promised is the value of TrySuccess in programs.
const promised = 7

func (ps *promises) ask(h *harness, s Step) {
	started := h.looped.Load() || h.ex.State() == core.StateStarted
	if s.Ask == AskPromise {
		p := &promise{id: s.ID, p: core.NewPromise[int](h.ex), started: started}
		ps.mu.Lock()
		if ps.byID == nil {
			ps.byID = map[int]*promise{}
		}
		ps.byID[s.ID] = p
		ps.mu.Unlock()
		if s.Body.Listen {
			p.listen(h, s.listener())
		}
		return
	}
	p := ps.of(s.Target)
	p.mu.Lock()
	p.started = p.started && started
	kept := p.kept
	p.mu.Unlock()
	f := p.p.Future()
	switch s.Ask {
	case AskSucceed:
		p.completed(h, p.p.TrySuccess(promised), nil)
	case AskFail:
		p.completed(h, p.p.TryFailure(errFailed), errFailed)
	case AskCancel:
		cancelled := f.Cancel()
		if cancelled && kept {
			h.blame("promise %d was cancelled after SetUncancellable", p.id)
		}
		if cancelled {
			p.completed(h, true, core.ErrCancelled)
		}
	case AskKeep:
		keeps := p.p.SetUncancellable()
		_, err := f.Wait(expired)
		if cancelled := isClosed(f.Done()) && errors.Is(err, core.ErrCancelled); cancelled == keeps && !h.ex.InEventLoop() {
			h.blame("SetUncancellable of promise %d returns %v, and it ended with %v", p.id, keeps, err)
		}
		p.mu.Lock()
		p.kept = p.kept || keeps
		p.mu.Unlock()
	case AskListenLate:
		p.listen(h, s.listener())
	}
}

// of returns the promise of a label, or nil.
func (ps *promises) of(id int) *promise {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return ps.byID[id]
}

// listener returns the script of the listener of a step, or nil.
func (s Step) listener() *Script {
	if s.Body == nil {
		return nil
	}
	return s.Body.Listener
}

// completed is called after a call that completes the promise, with its answer.
func (p *promise) completed(h *harness, won bool, err error) {
	if !isClosed(p.p.Future().Done()) {
		h.blame("promise %d is not complete after a call that completes it", p.id)
	}
	if !won {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.won++
	p.err = err
	if p.won > 1 {
		h.blame("promise %d was completed twice", p.id)
	}
	if slices.ContainsFunc(p.listeners, func(l *promiseListener) bool { return l.waited != 0 && l.calls == 0 }) {
		h.rec.log.Add(history.Event{Kind: history.Observe, Op: history.OpListen, ID: p.id})
	}
}

// listen adds a listener. A nil script does nothing.
func (p *promise) listen(h *harness, script *Script) {
	l := &promiseListener{script: script}
	p.mu.Lock()
	p.clock++
	l.added = p.clock
	p.listeners = append(p.listeners, l)
	p.mu.Unlock()
	p.p.Future().OnDone(func(v int, err error) { p.call(h, l, v, err) })
	p.mu.Lock()
	p.clock++
	l.waited = p.clock
	p.mu.Unlock()
}

// call is the listener.
func (p *promise) call(h *harness, l *promiseListener, v int, err error) {
	if h.gaveUp.Load() {
		select {}
	}
	p.mu.Lock()
	started := p.started
	l.calls++
	switch {
	case l.calls > 1:
		h.blame("a listener of promise %d was called twice", p.id)
	case p.running:
		h.blame("two listeners of promise %d run at once", p.id)
	case p.overtakes(l):
		h.blame("a listener of promise %d overtakes one that was added before it", p.id)
	}
	p.running = true
	p.mu.Unlock()
	if (err == nil) != (v == promised) || !isClosed(p.p.Future().Done()) {
		h.blame("a listener of promise %d got %d and %v", p.id, v, err)
	}
	inside := h.ex.InEventLoop()
	off := !inside && started
	if state := h.ex.State(); off && state < core.StateShutdown {
		h.blame("a listener of promise %d ran outside the loop in state %v", p.id, state)
	}
	defer func() {
		p.mu.Lock()
		p.running = false
		p.mu.Unlock()
	}()
	ev := history.Event{Kind: history.Begin, Body: history.BodyListener, ID: p.id, InLoop: inside}
	if n := h.rec.log.Add(ev); off {
		h.promises.ranOff(n)
	}
	end := history.Normal
	if l.script != nil {
		end = h.endOf(l.script, inside)
	}
	ev.Kind, ev.Outcome = history.End, end
	h.rec.log.Add(ev)
	finish(end)
}

// overtakes reports whether a listener that was added before l has not been called.
// Requires mu.
func (p *promise) overtakes(l *promiseListener) bool {
	for _, other := range p.listeners {
		if other.waited != 0 && other.waited < l.added && other.calls == 0 {
			return true
		}
	}
	return false
}

// ranOff notes that a listener ran at position n outside the loop, which has ended then.
// (The state need not be Terminated yet: it is so only when Done is closed.)
func (ps *promises) ranOff(n int) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.offLoop == 0 || n < ps.offLoop {
		ps.offLoop = n
	}
}

// checkOffLoop blames a listener that ran outside the loop before the loop had ended.
// Requires mu.
func (ps *promises) checkOffLoop(h *harness) {
	if ps.offLoop == 0 {
		return
	}
	for _, e := range h.rec.log.Events()[ps.offLoop:] {
		if e.Kind == history.Begin && e.InLoop {
			h.blame("a listener of a promise ran outside the loop at #%d, and the loop began another body at #%d", ps.offLoop, e.N)
			return
		}
	}
}

// check judges the promises after the end.
func (ps *promises) check(h *harness) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.checkOffLoop(h)
	for _, p := range ps.byID {
		p.mu.Lock()
		_, err := p.p.Future().Wait(expired)
		switch {
		case (p.won > 0) != isClosed(p.p.Future().Done()):
			h.blame("%d calls completed promise %d", p.won, p.id)
		case p.won > 0 && !errors.Is(err, p.err):
			h.blame("promise %d ended with %v, want %v", p.id, err, p.err)
		}
		for _, l := range p.listeners {
			if p.won > 0 && l.calls != 1 {
				h.blame("promise %d is complete, and a listener was called %d times", p.id, l.calls)
			}
		}
		p.mu.Unlock()
	}
}
