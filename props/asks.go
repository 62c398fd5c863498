package props

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"eventide/core"
	"eventide/props/history"
)

// Ask is a call that the model does not have. A step with an Ask has no Op. The harness checks
// the answer at once, by its own record of the run. The value is the name of the call, or of the
// first of several calls that belong together.
type Ask string

// The calls.
const (
	AskNow        Ask = "Executor.Now"
	AskDeadline   Ask = "Timer.Deadline"
	AskTimer      Ask = "Timer.Err" // and Timer.Done
	AskFuture     Ask = "Future.Done"
	AskWait       Ask = "Future.Wait" // with a context that is open
	AskErr        Ask = "Termination.Err"
	AskOnDone     Ask = "Termination.OnDone"
	AskLocal      Ask = "Local.Get" // and Local.Set, Local.Remove
	AskFD         Ask = "Registration.FD"
	AskOnClose    Ask = "Registration.OnClose"
	AskPost       Ask = "Registration.Post"
	AskChannels   Ask = "EventLoop.Channels"
	AskResize     Ask = "Pool.Resize"       // and Pool.Size
	AskMeter      Ask = "Executor.NewMeter" // and Meter.Read, Meter.Stack, Meter.Close
	AskArguments  Ask = "NewExecutor"       // and every other call and option, with arguments at and beyond the bounds
	AskPromise    Ask = "NewPromise"
	AskSucceed    Ask = "Promise.TrySuccess"
	AskFail       Ask = "Promise.TryFailure"
	AskKeep       Ask = "Promise.SetUncancellable"
	AskCancel     Ask = "Promise.Future" // and its Cancel
	AskListenLate Ask = "Future.OnDone"  // of the future of a promise
	AskInvoke     Ask = "InvokeAll"      // and InvokeAny
	AskRunning    Ask = "Executor.Running"
	AskElsewhere  Ask = "elsewhere" // no call: a body of another executor makes the calls of the step
)

// asksOfPromises complete a promise, change it or add a listener to it.
var asksOfPromises = []Ask{AskSucceed, AskFail, AskKeep, AskCancel, AskListenLate}

// otherAsks need no promise.
var otherAsks = []Ask{AskNow, AskDeadline, AskTimer, AskFuture, AskWait, AskErr, AskOnDone, AskLocal, AskFD, AskOnClose, AskPost, AskChannels, AskMeter, AskMeter, AskInvoke, AskArguments}

// ask makes the call of a step and records it: as a call of OpListen, because it may give
// the loop a listener to call.
func (h *harness) ask(s Step) {
	if s.Ask == AskElsewhere {
		h.elsewhere(s)
		return
	}
	if !h.has(s) {
		return // refused, not made yet, or removed by minimising
	}
	if s.Ask == AskDeadline || s.Ask == AskTimer {
		if !h.claim(s) {
			return
		}
		defer h.release(s)
	}
	inv := history.Event{Op: history.OpListen, Note: string(s.Ask)}
	h.rec.call(inv, func() history.Outcome {
		h.answerTo(s)
		return history.Returned
	})
}

// has reports whether there is the object of which the step asks.
func (h *harness) has(s Step) bool {
	switch s.Ask {
	case AskNow:
		return h.single() != nil // a pool has no clock of its own
	case AskResize:
		return h.pooled() != nil
	case AskChannels:
		return h.fds.loop != nil
	case AskFD, AskPost, AskOnClose:
		r := h.registrationOf(s.Target)
		if r == nil {
			return false
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.reg != nil
	case AskDeadline, AskTimer:
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.timers[s.Target] != nil
	case AskFuture, AskWait:
		return h.futureOf(s.Target) != nil
	case AskSucceed, AskFail, AskKeep, AskCancel, AskListenLate:
		return h.promises.of(s.Target) != nil
	}
	return true
}

func (h *harness) answerTo(s Step) {
	switch s.Ask {
	case AskNow:
		if now, want := h.single().Now(), h.clock.reading(); !h.real && !h.rec.fails && !now.Equal(want) {
			h.blame("Now is %v, and the clock has %v", now, want)
		}
	case AskDeadline, AskTimer:
		h.askTimer(s)
	case AskFuture:
		h.askFuture(s.Target)
	case AskWait:
		h.askWait(s)
	case AskInvoke:
		h.askInvoke()
	case AskRunning:
		h.askRunning()
	case AskErr:
		t := h.ex.Termination()
		if err := t.Err(); err != nil && !isClosed(t.Done()) {
			h.blame("Termination.Err is %v, and Done is open", err)
		}
	case AskOnDone:
		h.askOnDone(s.listener())
	case AskLocal:
		h.askLocal()
	case AskFD, AskPost, AskOnClose, AskChannels:
		h.askLoop(s)
	case AskMeter:
		h.askMeter()
	case AskArguments:
		h.askArguments()
	case AskResize:
		h.askResize(s.Size)
	default:
		h.promises.ask(h, s)
	}
}

// askTimer compares the answers of a timer. After its end its deadline stays, and an error
// means that it has ended.
func (h *harness) askTimer(s Step) {
	h.mu.Lock()
	t := h.timers[s.Target]
	h.mu.Unlock()
	if s.Ask == AskDeadline {
		ended := isClosed(t.Done())
		if first, again := t.Deadline(), t.Deadline(); ended && !again.Equal(first) {
			h.blame("timer %d has ended, and its deadline moves from %v to %v", s.Target, first, again)
		}
		return
	}
	if err, ended := t.Err(), isClosed(t.Done()); err != nil && !ended {
		h.blame("timer %d has ended with %v, and its Done is open", s.Target, err)
	}
}

// askFuture compares the answers of a future: Done is closed if and only if Wait has a
// result.
func (h *harness) askFuture(id int) {
	f := h.futureOf(id)
	done := isClosed(f.Done())
	_, err := f.Wait(expired)
	open := errors.Is(err, context.Canceled) || errors.Is(err, core.ErrInEventLoop) || errors.Is(err, core.ErrStarting)
	if done && open {
		h.blame("Done of future %d is closed, and Wait returns %v", id, err)
	}
	if !open && !isClosed(f.Done()) {
		h.blame("Wait of future %d returns %v, and Done is open", id, err)
	}
}

// askOnDone adds a listener that the end of the executor must call once, with a script. Not in real time: only
// virtual time shows when core has counted the end of the script (see waitForListeners).
func (h *harness) askOnDone(script *Script) {
	if h.real {
		script = nil
	}
	h.endings.Add(1)
	t := h.ex.Termination()
	var called atomic.Bool
	t.OnDone(func(r core.Report, err error) {
		if called.Swap(true) {
			h.blame("a listener of the termination was called twice")
			return
		}
		defer h.endings.Done()
		if !isClosed(t.Done()) || !errors.Is(err, t.Err()) || r != t.Report() {
			h.blame("a listener of the termination got %+v and %v, and the termination has %+v and %v", r, err, t.Report(), t.Err())
		}
		h.userFunction(endListenerID, script)
	})
}

// askLocal uses a Local: on the loop it has the value that was set, and elsewhere it
// returns an error.
func (h *harness) askLocal() {
	local := core.NewLocal(func() int { return 1 })
	inside := h.ex.InEventLoop() || h.onOther() // a Local has a value of each loop
	first, err := local.Get()
	set := local.Set(2)
	second, _ := local.Get()
	removed := local.Remove()
	third, _ := local.Get()
	got, want := []int{first, second, third}, []int{1, 2, 1}
	if !inside {
		want = []int{0, 0, 0}
	}
	for _, err := range []error{err, set, removed} {
		if (err == nil) != inside || err != nil && !errors.Is(err, core.ErrNotInEventLoop) {
			h.blame("InEventLoop is %v, and a Local returns the error %v", inside, err)
		}
	}
	if !slices.Equal(got, want) {
		h.blame("InEventLoop is %v, and a Local has %v one after the other, want %v", inside, got, want)
	}
	_ = local.Remove()
}

// askLoop checks the answers of an event loop about its registrations.
func (h *harness) askLoop(s Step) {
	if s.Ask == AskChannels {
		h.askChannels()
		return
	}
	r := h.registrationOf(s.Target)
	r.mu.Lock()
	reg, closed := r.reg, r.closed
	r.mu.Unlock()
	switch s.Ask {
	case AskPost:
		h.askPost(reg, closed, s.listener())
		return
	case AskOnClose:
		h.onClose(s.Target, r, s.listener())
		return
	}
	if reg.FD() != h.fds.kernel.number(r.step.FD) {
		h.blame("registration %d has the descriptor %d, want %d", s.Target, reg.FD(), h.fds.kernel.number(r.step.FD))
	}
}

// checkAsks judges the promises and posts.
func (h *harness) checkAsks() {
	h.promises.check(h)
	h.posts.check(h)
}
