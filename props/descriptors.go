package props

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"eventide/core"
	"eventide/props/history"
)

// Env is something that happens to descriptors and is no call on the executor.
type Env string

// What may happen.
const (
	EnvInput   Env = "input"   // descriptor FD becomes readable
	EnvCloseFD Env = "closefd" // its owner closes it, and its number is used for another
	EnvFault   Env = "fault"   // the poller fails as Fault says
)

// Fault is a way in which a poller fails.
type Fault string

// The ways.
const (
	FaultSpurious   Fault = "spurious"    // Wait returns for no reason
	FaultStorm      Fault = "storm"       // it goes on doing so: the loop builds a new poller
	FaultStale      Fault = "stale"       // what is not watched any more is reported
	FaultFull       Fault = "full"        // a descriptor cannot be added
	FaultBroken     Fault = "broken"      // Wait fails, and a new poller works
	FaultFullBroken Fault = "full broken" // and has no room for two of the descriptors
	FaultDead       Fault = "dead"        // Wait fails, and so does every attempt to make a new one
)

// cannotWatch reports whether a registration failed because of its descriptor.
func cannotWatch(err error) bool {
	return err != nil && !errors.Is(err, core.ErrRejected) && !errors.Is(err, core.ErrRegistrationClosed)
}

// registration is what the harness knows of one.
type registration struct {
	step    Step
	mu      sync.Mutex
	reg     *core.Registration
	pending *core.ChannelEnd // it ended before RegisterChannel had returned
	drain   *time.Timer      // to end by itself
}

// descriptors are a harness's registrations.
type descriptors struct {
	loop   *core.EventLoop // nil: a program without descriptors
	kernel kernel

	mu     sync.Mutex
	byID   map[int]*registration
	timers sync.WaitGroup
}

// kernel is where descriptors come from: numbers of a script, or real ones.
type kernel interface {
	number(fd int) int
	input(fd int)
	consume(fd, id int) // by the handler of a registration
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

// register makes one of the two calls.
func (h *harness) register(s Step) history.Outcome {
	if h.fds.loop == nil {
		return history.RefusedBadArgument
	}
	r := &registration{step: s}
	h.fds.mu.Lock()
	h.fds.byID[s.ID] = r
	h.fds.mu.Unlock()
	var reg *core.Registration
	var err error
	fd := h.fds.kernel.number(s.FD)
	if s.Op == history.OpRegister {
		reg, err = h.fds.loop.Register(fd, s.Interest, func(core.Readiness) { h.readiness(s) })
	} else {
		reg, err = h.fds.loop.RegisterChannel(fd, s.Interest, &channel{h, r})
	}
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

// listen asks to be told of the end of a registration, and makes good an end that
// came before there was anything to end.
func (h *harness) listen(s Step) {
	r := h.registrationOf(s.ID)
	if r == nil {
		return
	}
	h.rec.call(history.Event{Op: history.OpListen, ID: s.ID}, func() history.Outcome {
		r.reg.OnClose(func(err error) {
			h.note(s.ID, func() {
				out := history.Normal
				if err != nil {
					out = history.Errored
				}
				h.rec.log.Add(history.Event{Kind: history.Complete, ID: s.ID, Outcome: out})
			})
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

func (h *harness) note(id int, f func()) {
	ev := history.Event{Kind: history.Begin, Body: history.BodyListener, ID: id, InLoop: h.ex.InEventLoop()}
	h.rec.log.Add(ev)
	f()
	ev.Kind, ev.Outcome = history.End, history.Normal
	h.rec.log.Add(ev)
}

// readiness is the handler of a plain descriptor, and of a channel.
func (h *harness) readiness(s Step) {
	h.fds.kernel.consume(s.FD, s.ID)
	h.body(history.BodyReadiness, s)()
}

// channel is a core.Channel that does what its step says.
type channel struct {
	h *harness
	r *registration
}

// Ready implements core.Channel.
func (c *channel) Ready(core.Readiness) { c.h.readiness(c.r.step) }

// Drain implements core.Channel.
func (c *channel) Drain(until core.Deadline) {
	c.h.asked(c.r, history.BodyDrain, c.h.sinceStart(until), func() {
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
	c.h.asked(c.r, history.BodyAbort, 0, func() {
		end := core.ChannelEnd{Kind: core.EndAborted, Discarded: int64(c.r.step.Bytes)}
		if c.r.step.Linger > 0 {
			c.h.endLater(c.r, c.r.step.Linger, end)
			return
		}
		c.h.endChannel(c.r, end)
	})
}

// asked is what a shutdown asks of a channel, as a body of the log.
func (h *harness) asked(r *registration, body history.Body, until time.Duration, do func()) {
	ev := history.Event{Kind: history.Begin, Body: body, ID: r.step.ID, InLoop: h.ex.InEventLoop(), Until: until}
	h.rec.log.Add(ev)
	do()
	end := history.Normal
	if r.step.AskedEnd != 0 {
		end = r.step.AskedEnd
	}
	ev.Kind, ev.Outcome, ev.Until = history.End, end, 0
	h.rec.log.Add(ev)
	finish(end)
}

// sinceStart is the deadline in the log's words; Never for none.
func (h *harness) sinceStart(until core.Deadline) time.Duration {
	if until.IsZero() {
		return history.Never
	}
	return until.Sub(h.start)
}

// endLater ends the channel on another goroutine, unless it has ended by then.
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

// endChannel calls End.
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

// closeRegistration is Close of a plain registration; of a channel its End.
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

// modify changes the interest.
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
		switch err := reg.Modify(s.Interest); {
		case err == nil:
			return history.Accepted
		case errors.Is(err, core.ErrRegistrationClosed):
			return history.RefusedClosed
		default:
			return history.RefusedByPoller
		}
	})
}

// happen is a step that is no call.
func (h *harness) happen(s Step) {
	if h.fds.loop == nil {
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
		panic(fmt.Sprintf("props: no such happening: %q", s.Env))
	}
}

// settle waits for the ends that are under way. The executor is done, so that none
// of them can have an effect.
func (d *descriptors) settle() {
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
