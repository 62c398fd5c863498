package core

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"eventide/core/internal/poll"
)

// ErrRegistrationClosed is the error of Modify after the end of the registration.
var ErrRegistrationClosed = errors.New("core: registration is closed")

// ErrDescriptorReused is the reason for the end of a registration that was still open when its
// descriptor was closed and the same number was registered again. The Abort method of a channel
// is not called in this case: it would close the descriptor of the new registration.
var ErrDescriptorReused = errors.New("core: descriptor was closed while it was registered, and its number used again")

// Registration is a descriptor that a loop watches. Its methods may be called from any
// goroutine, and in the handler. The registration never closes the descriptor: the owner
// does, after Close. Register and RegisterChannel make registrations: the zero Registration is
// not usable.
type Registration struct {
	// An executor may have a very large number of registrations. The order of the fields
	// keeps the size at 80 bytes, which is a size class of the allocator.

	// Set once by Register.
	e      *Executor
	fd     int
	target Channel
	token  uint64

	// Guarded by e.mu.
	err     error
	onClose *[]func(error) // nil: no listeners

	// Atomic: regOpen, regRunning or regClosed. The loop moves between the first
	// two around each call of the handler; the third is final.
	state  atomic.Int32
	paused atomic.Bool // interest has neither Readable nor Writable; written with e.mu held

	isChannel bool // set once by Register

	interest Interest    // guarded by e.mu
	notified noticeLevel // loop only: the highest level of a shutdown notice that was delivered, or is being delivered
}

const (
	regOpen int32 = iota
	regRunning
	regClosed
)

// noticeLevel orders the notices of a shutdown to a registration.
type noticeLevel uint8

const (
	noticeNone noticeLevel = iota
	noticeDrain
	noticeAbort
)

// Register watches fd and calls h on the loop with its readiness. fd must be
// non-blocking; the caller keeps owning it. h is called in each turn for as long as the
// readiness lasts; with EdgeTriggered, once per change. A nil error means that the
// registration is accepted: fd is watched until Close, or until a shutdown, which closes
// the registration and calls the OnClose listeners (G3, G22). While the executor is
// ShuttingDown, a registration is accepted and closed in the next turn (R198). After admission
// has closed, it is refused with a *RejectedError.
//
// An error of the kernel names the descriptor: it is not open, cannot be polled (a regular
// file), is registered already, or the kernel has no memory left for it. With interest 0 the
// kernel is not called, so Modify returns these errors later.
func (l *EventLoop) Register(fd int, interest Interest, h func(Readiness)) (*Registration, error) {
	if h == nil {
		return nil, nilFunc("Register", "h")
	}
	r := &Registration{target: plainHandler(h)}
	if err := l.register("Register", r, fd, interest); err != nil {
		return nil, err
	}
	return r, nil
}

func (e *Executor) register(call string, r *Registration, fd int, interest Interest) error {
	if fd < 0 || fd > math.MaxInt32 {
		return argumentError(call, "fd is %d, want an open descriptor", fd)
	}
	if err := checkInterest(call, interest); err != nil {
		return err
	}
	r.e, r.fd, r.interest = e, fd, interest
	if err := e.lockOpen(OpRegister); err != nil {
		return err
	}
	replaced, err := e.addOrUnlock(r)
	e.traceAdmit(OpRegister, err == nil)
	if err != nil {
		e.mu.Unlock()
		return fmt.Errorf("core: %s: descriptor %d: %w", call, fd, err)
	}
	if e.shutdown.called {
		e.io.unnotified = append(e.io.unnotified, r)
		e.announceNews()
		e.unlockAndWake()
	} else {
		e.mu.Unlock()
	}
	if replaced != nil {
		replaced.close(ErrDescriptorReused, ChannelEnd{})
	}
	return nil
}

// addOrUnlock calls add. If the poller panics, it releases mu, and the tables are unchanged
// (G15). Requires mu.
func (e *Executor) addOrUnlock(r *Registration) (replaced *Registration, err error) {
	returned := false
	defer func() {
		if !returned {
			e.mu.Unlock()
		}
	}()
	replaced, err = e.io.add(r)
	returned = true
	return replaced, err
}

func checkInterest(call string, interest Interest) error {
	if interest&^poll.InterestMask != 0 {
		return argumentError(call, "interest is %#x, want a combination of Readable, Writable and EdgeTriggered", uint8(interest))
	}
	return nil
}

// FD returns the descriptor.
func (r *Registration) FD() int { return r.fd }

// Modify replaces the interest. Zero pauses the registration: no call of the handler begins
// until Modify sets another interest. Any other interest takes effect when the loop polls next:
// an event that the loop has already collected is still delivered. After Modify the handler is
// called for readiness that still lasts, also with EdgeTriggered.
//
// After the end Modify returns ErrRegistrationClosed. Other errors mean that the poller
// refused; that a newer registration has the same descriptor number
// (ErrDescriptorReused); that the poller was rebuilt and this registration could not
// be moved into the new one; or that the loop has failed and ends (G15). In the last two
// cases the registration is about to end, and the OnClose listeners get the reason.
func (r *Registration) Modify(interest Interest) error {
	if err := checkInterest("Modify", interest); err != nil {
		return err
	}
	replaced, err := r.modify(interest)
	if err != nil {
		return err
	}
	if replaced != nil {
		replaced.close(ErrDescriptorReused, ChannelEnd{})
	}
	return nil
}

// modify unlocks in a deferred call, so that mu is released even if the poller panics;
// the tables are unchanged then (G15).
func (r *Registration) modify(interest Interest) (replaced *Registration, err error) {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	if r.state.Load() == regClosed {
		return nil, ErrRegistrationClosed
	}
	if replaced, err = r.e.io.modify(r, interest); err != nil {
		return nil, &prefixedError{fmt.Sprintf("core: Modify: descriptor %d", r.fd), err}
	}
	return replaced, nil
}

// Close ends the registration. When it returns, the descriptor is not watched, no further
// call of the handler begins, and the owner may close the descriptor. If the caller is
// not the loop, one call of the handler may still be running. Only the first Close has an
// effect. The error is always nil. It implements io.Closer.
func (r *Registration) Close() error {
	r.close(nil, ChannelEnd{Kind: EndAborted})
	return nil
}

// OnClose calls listener once on the loop when the registration has ended: with nil after
// Close, with the cause of the shutdown that ended it, or with the error that made the
// loop end it. If the registration has ended already, the listener is called on the loop,
// or on the caller if the loop has ended. A nil listener is ignored.
func (r *Registration) OnClose(listener func(error)) {
	if listener == nil {
		return
	}
	r.e.mu.Lock()
	if r.state.Load() != regClosed {
		if r.onClose == nil {
			r.onClose = new([]func(error))
		}
		*r.onClose = append(*r.onClose, listener)
		r.e.mu.Unlock()
		return
	}
	err := r.err
	r.e.mu.Unlock()
	r.e.postInternalOrRun(func() { listener(err) })
}

// Post runs work on the loop, behind work posted before, and returns true; it returns
// false if the registration has ended or work is nil. A channel uses it to run code on its
// loop, even after admission has closed: work is not a task, takes no room in a bounded
// queue, and does not restart a quiet period.
func (r *Registration) Post(work func()) bool {
	if work == nil {
		return false
	}
	e := r.e
	e.mu.Lock()
	if r.state.Load() == regClosed {
		e.mu.Unlock()
		return false
	}
	// work will run, because the loop does not end before this registration.
	e.addInternal(work)
	e.unlockAndWake()
	return true
}

// begin reports whether the handler may be called. After true, the call has begun in the
// sense of Close. Loop only.
func (r *Registration) begin() bool {
	return !r.paused.Load() && r.state.CompareAndSwap(regOpen, regRunning)
}

// finishRun undoes begin, unless the registration has ended meanwhile. Loop only.
func (r *Registration) finishRun() { r.state.CompareAndSwap(regRunning, regOpen) }

// close ends the registration with the reason err. The poller is called last: even if it
// panics, the registration has ended and mu is released (G15).
func (r *Registration) close(err error, end ChannelEnd) {
	e := r.e
	e.mu.Lock()
	if r.state.Load() == regClosed {
		e.mu.Unlock()
		return
	}
	r.state.Store(regClosed)
	r.err = err
	var listeners []func(error)
	if r.onClose != nil {
		listeners, r.onClose = *r.onClose, nil
	}
	watched := e.io.remove(r)
	e.countEnd(r, end)
	for _, listener := range listeners {
		e.addInternal(func() { listener(err) })
	}
	if e.cfg.tracer != nil {
		e.trace(Event{Kind: EventRegistrationClosed, Reason: err})
	}
	defer e.unlockAfterEnd(len(listeners) > 0)
	if watched {
		e.io.unwatch(r.fd)
	}
}

// unlockAfterEnd wakes the loop after the end of a registration, if the loop may depend on
// it. posted says that internal tasks were added for listeners. Requires mu, and releases it.
func (e *Executor) unlockAfterEnd(posted bool) {
	if e.shutdown.called || posted {
		e.announceNews() // the loop may be waiting for this end before it terminates
		e.unlockAndWake()
		return
	}
	e.mu.Unlock()
}

// countEnd counts the end of a channel, if a shutdown has begun. Requires mu.
func (e *Executor) countEnd(r *Registration, end ChannelEnd) {
	if !r.isChannel || !e.shutdown.called {
		return
	}
	switch end.Kind {
	case EndUncounted:
	case EndDrained:
		e.io.drained++
	default:
		e.io.aborted++
		if end.Held != "" {
			e.io.held.add(end.Held, end.HeldSince)
		}
	}
	e.io.discarded += max(end.Discarded, 0)
	e.io.refused += max(end.Refused, 0)
}
