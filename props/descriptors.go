package props

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"eventide/core"
	"eventide/props/history"
	"eventide/props/interleave/control"
)

// Env is an event of a descriptor or of the poller that is not a call on the executor.
type Env string

// The events.
const (
	EnvInput   Env = "input"   // descriptor FD becomes readable
	EnvCloseFD Env = "closefd" // its owner closes it, and opens another one with the same number
	EnvFault   Env = "fault"   // the poller fails as Fault says
	EnvClock   Env = "clock"   // the clock fails as Fault says
)

// Fault is a way in which the poller fails.
type Fault string

// The faults.
const (
	FaultSpurious   Fault = "spurious"        // Wait returns without a reason
	FaultStorm      Fault = "storm"           // Wait returns without a reason again and again: the loop rebuilds its poller
	FaultStale      Fault = "stale"           // the poller reports descriptors that are no longer watched
	FaultFull       Fault = "full"            // a descriptor cannot be added
	FaultModify     Fault = "modify fails"    // the interest in a descriptor cannot be changed
	FaultBroken     Fault = "broken"          // Wait fails, and works after Reopen
	FaultFullBroken Fault = "full broken"     // the same, and two descriptors cannot be added again
	FaultDead       Fault = "dead"            // Wait and Reopen fail from now on
	FaultStuck      Fault = "stuck"           // Wait fails from now on, and Reopen does not
	FaultPoll       Fault = "poll fails"      // the next Poll of a busy loop fails
	FaultFullPoll   Fault = "full poll fails" // the same, and two descriptors cannot be added again
	FaultKeptStorm  Fault = "kept storm"      // a storm in which Reopen fails, so that the loop keeps its poller

	FaultWaitPanics  Fault = "wait panics"  // the next Wait panics
	FaultWakePanics  Fault = "wake panics"  // the next Wake panics, and the one after it works
	FaultCloseFails  Fault = "close fails"  // Close returns an error
	FaultClosePanics Fault = "close panics" // Close panics
	FaultCloseExits  Fault = "close exits"  // Close calls Goexit
)

// ends reports whether the executor may end with an error because of the fault.
func (f Fault) ends() bool {
	switch f {
	case FaultBroken, FaultFullBroken, FaultDead, FaultStuck, FaultPoll, FaultFullPoll, FaultWaitPanics, FaultWakePanics, FaultCloseFails, FaultClosePanics, FaultCloseExits:
		return true
	}
	return false
}

// cannotWatch reports whether a registration failed because of its descriptor.
func cannotWatch(err error) bool {
	return err != nil && !errors.Is(err, core.ErrRejected) && !errors.Is(err, core.ErrRegistrationClosed)
}

// registration is the harness's record of one registration.
type registration struct {
	step    Step
	mu      control.Mutex
	reg     *core.Registration
	pending *core.ChannelEnd // how it ended before RegisterChannel had returned
	drain   *time.Timer      // ends it later
	closed  bool             // its owner was notified
	asked   bool             // Drain or Abort was called; loop only
}

// descriptors holds the registrations of a harness.
type descriptors struct {
	loop   *core.EventLoop // nil: a program without descriptors
	kernel kernel          // nil: the executor has its default poller

	mu     control.Mutex
	byID   map[int]*registration
	timers sync.WaitGroup
}

// kernel provides the descriptors: scripted ones, or those of the operating system.
type kernel interface {
	number(fd int) int
	input(fd int)
	consume(fd, id int) // called by the handler of a registration
	closeFD(fd int)
	fail(Fault)
}

// number implements kernel.
func (p *poller) number(fd int) int { return fd }

func (h *harness) registrationOf(id int) *registration {
	h.fds.mu.Lock()
	defer h.fds.mu.Unlock()
	return h.fds.byID[id]
}

// register calls Register or RegisterChannel.
func (h *harness) register(s Step) history.Outcome {
	if h.fds.loop == nil {
		return history.RefusedBadArgument
	}
	r := &registration{step: s}
	h.fds.mu.Lock()
	h.fds.byID[s.ID] = r
	h.fds.mu.Unlock()
	var reg *core.Registration
	fd := h.fds.kernel.number(s.FD)
	err := h.changing("Register", func() (err error) {
		if s.Op == history.OpRegister {
			reg, err = h.fds.loop.Register(fd, s.Interest, func(core.Readiness) { h.readiness(s) })
		} else {
			reg, err = h.fds.loop.RegisterChannel(fd, s.Interest, &channel{h, r})
		}
		return err
	})
	if err != nil {
		h.fds.mu.Lock()
		delete(h.fds.byID, s.ID)
		h.fds.mu.Unlock()
		if cannotWatch(err) {
			return history.RefusedByPoller
		}
		return answer(err)
	}
	r.mu.Lock()
	r.reg = reg
	r.mu.Unlock()
	return history.Accepted
}

// listen adds a listener for the end of a registration. If a channel ended before
// RegisterChannel had returned, listen makes the call of End that was not possible then.
func (h *harness) listen(s Step) {
	r := h.registrationOf(s.ID)
	if r == nil {
		return
	}
	h.rec.call(history.Event{Op: history.OpListen, ID: s.ID}, func() history.Outcome {
		r.reg.OnClose(func(err error) {
			r.mu.Lock()
			r.closed = true
			r.mu.Unlock()
			h.closeNotice(s, err)
		})
		return history.Returned
	})
	r.mu.Lock()
	end := r.pending
	r.mu.Unlock()
	if end != nil {
		h.endChannel(r, *end)
	}
}

// readiness handles readiness of a plain registration or of a channel.
func (h *harness) readiness(s Step) {
	h.fds.kernel.consume(s.FD, s.ID)
	h.body(history.BodyReadiness, s)()
}

// channel is a core.Channel that follows its step.
type channel struct {
	h *harness
	r *registration
}

// Ready implements core.Channel.
func (c *channel) Ready(core.Readiness) { c.h.readiness(c.r.step) }

// Drain implements core.Channel.
func (c *channel) Drain(until core.Deadline) {
	c.h.shutdownCall(c.r, history.BodyDrain, c.h.sinceStart(until), func() {
		plan := c.r.step.Drain
		switch {
		case plan == 0:
			c.h.endChannel(c.r, core.ChannelEnd{Kind: core.EndDrained})
		case plan > 0:
			c.h.endLater(c.r, plan, core.ChannelEnd{Kind: core.EndDrained})
		}
	})
}

// Abort implements core.Channel.
func (c *channel) Abort(error) {
	c.h.shutdownCall(c.r, history.BodyAbort, 0, func() {
		end := core.ChannelEnd{Kind: core.EndAborted, Discarded: int64(c.r.step.Bytes)}
		if c.r.step.Linger > 0 {
			c.h.endLater(c.r, c.r.step.Linger, end)
			return
		}
		c.h.endChannel(c.r, end)
	})
}

// shutdownCall runs a call of Drain or Abort as a body of the log.
func (h *harness) shutdownCall(r *registration, body history.Body, until time.Duration, do func()) {
	ev := history.Event{Kind: history.Begin, Body: body, ID: r.step.ID, InLoop: h.ex.InEventLoop(), Until: until}
	h.rec.log.Add(ev)
	if p := h.polled; p != nil && body == history.BodyAbort {
		p.mu.Lock()
		p.use.setAborted(r.step.ID, true)
		p.mu.Unlock()
	}
	if r.step.Asked != nil && !r.asked {
		r.asked = true
		h.play(r.step.Asked, 1)
	}
	do()
	end := history.Normal
	if r.step.AskedEnd != 0 {
		end = r.step.AskedEnd
	}
	ev.Kind, ev.Outcome, ev.Until = history.End, end, 0
	h.rec.log.Add(ev)
	finish(end)
}

// sinceStart converts the deadline to a time of the log; Never means none.
func (h *harness) sinceStart(until core.Deadline) time.Duration {
	if until.IsZero() {
		return history.Never
	}
	return until.Sub(h.start)
}

// endLater ends the channel later, on another goroutine, unless it has ended by then.
func (h *harness) endLater(r *registration, after time.Duration, end core.ChannelEnd) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.drain != nil && r.drain.Stop() {
		h.fds.timers.Done()
	}
	h.fds.timers.Add(1)
	r.drain = time.AfterFunc(after, func() {
		defer h.fds.timers.Done()
		h.endChannel(r, end)
	})
}

// endChannel calls End, or keeps end for listen if the registration is not known yet.
func (h *harness) endChannel(r *registration, end core.ChannelEnd) {
	r.mu.Lock()
	reg := r.reg
	if reg == nil {
		r.pending = &end
	}
	r.mu.Unlock()
	if reg == nil {
		return
	}
	inv := history.Event{Op: history.OpEnd, ID: r.step.ID, Bytes: int(end.Discarded)}
	switch end.Kind {
	case core.EndDrained:
		inv.Outcome = history.Drained
	case core.EndAborted:
		inv.Outcome = history.Aborted
	}
	h.rec.call(inv, func() history.Outcome { reg.End(end); return history.Returned })
}

// closeRegistration calls Close of a plain registration, or End of a channel.
func (h *harness) closeRegistration(id int) {
	r := h.registrationOf(id)
	if r == nil {
		return
	}
	r.mu.Lock()
	reg := r.reg
	r.mu.Unlock()
	switch {
	case reg == nil:
	case r.step.Op == history.OpRegisterChannel:
		h.endChannel(r, core.ChannelEnd{Kind: core.EndAborted, Discarded: int64(r.step.Bytes)})
	default:
		h.rec.call(history.Event{Op: history.OpEnd, ID: id}, func() history.Outcome { return answerOfClose(reg.Close()) })
	}
}

func answerOfClose(err error) history.Outcome {
	if err != nil {
		return history.Errored
	}
	return history.Returned
}

// modify changes the interest of a registration.
func (h *harness) modify(s Step) {
	r := h.registrationOf(s.Target)
	if r == nil {
		return
	}
	r.mu.Lock()
	reg := r.reg
	r.mu.Unlock()
	if reg == nil {
		return
	}
	h.rec.call(history.Event{Op: history.OpModify, ID: s.Target}, func() history.Outcome {
		switch err := h.changing("Modify", func() error { return reg.Modify(s.Interest) }); {
		case err == nil:
			return history.Accepted
		case errors.Is(err, core.ErrRegistrationClosed):
			return history.RefusedClosed
		default:
			return history.RefusedByPoller
		}
	})
}

// apply applies an Env step.
func (h *harness) apply(s Step) {
	if s.Env == EnvClock {
		h.clock.fail(s.Fault)
		return
	}
	if h.fds.kernel == nil || h.fds.loop == nil && s.Env != EnvFault {
		return
	}
	switch s.Env {
	case EnvInput:
		h.fds.kernel.input(s.FD)
	case EnvCloseFD:
		h.fds.kernel.closeFD(s.FD)
	case EnvFault:
		h.fds.kernel.fail(s.Fault)
	default:
		panic(fmt.Sprintf("props: no such event: %q", s.Env))
	}
}

// stopTimers stops the pending ends of channels, and waits for the ones that have begun. The
// executor has terminated, so they have no effect.
func (d *descriptors) stopTimers() {
	d.mu.Lock()
	for _, r := range d.byID {
		r.mu.Lock()
		if r.drain != nil && r.drain.Stop() {
			d.timers.Done()
		}
		r.drain = nil
		r.mu.Unlock()
	}
	d.mu.Unlock()
	d.timers.Wait()
}
