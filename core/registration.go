package core

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"eventide/core/internal/poll"
)

// ErrRegistrationClosed is returned by calls on a registration that has ended.
var ErrRegistrationClosed = errors.New("core: registration is closed")

// ErrDescriptorReused is why a registration ended whose descriptor was closed
// without it, and whose number was then registered again. A channel is not asked to
// abort then: it would close a descriptor that is another's now.
var ErrDescriptorReused = errors.New("core: descriptor was closed while it was registered, and its number used again")

// Registration is a descriptor that a loop watches. Its methods may be called from
// any goroutine, from the handler too. It never closes the descriptor: that is its
// owner's to do, after Close.
type Registration struct {
	// There are many of these: the order is that which takes the least room, and
	// 80 bytes are what the allocator has.

	// Set once by Register.
	e      *Executor
	fd     int
	target Channel
	token  uint64

	// Guarded by e.mu.
	err     error
	onClose *[]func(error) // nil: nobody wants to hear of it

	// Atomic: regOpen, regRunning or regClosed. The loop moves between the first
	// two around each call of the handler; the third is final.
	state  atomic.Int32
	paused atomic.Bool // the interest is nothing; set with e.mu held

	isChannel bool // set once by Register

	// Guarded by e.mu.
	interest Interest
	notified noticeLevel // the highest level of a shutdown notice that the loop has given it, or is about to give
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

// Register watches fd, which must be non-blocking and stays its caller's, and
// calls h on the loop with what it is ready for: again and again for as long as it
// is, unless interest is EdgeTriggered. A nil error means that the registration is
// accepted: it is watched until Close, or until a shutdown, which closes it and
// says so to OnClose (G3, G22). One that is made while the executor is
// ShuttingDown is accepted and closed in the next turn (R198); after the close it
// is refused.
//
// The other errors name the descriptor: one that is not open, cannot be polled
// (a regular file), is registered already, or that the kernel has no room for. With
// no interest the kernel is not asked: then Modify is what returns them.
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
		e.hasNews()
		e.unlockAndWake()
	} else {
		e.mu.Unlock()
	}
	if replaced != nil {
		replaced.close(ErrDescriptorReused, ChannelEnd{})
	}
	return nil
}

// addOrUnlock is add. If the poller panics, nothing has changed, and the panic leaves
// without the lock (G15). Requires mu.
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

// Modify replaces the interest; zero pauses: no call of the handler begins until
// the next Modify, and what was ready then is told after it. Any other counts from the
// next look at the poller on: an event that the loop has in hand is still delivered. An
// edge-triggered registration hears again of what is ready. It returns
// ErrRegistrationClosed after the end. An error of another kind says that the poller
// refused, that a newer registration has the number (ErrDescriptorReused), or that the
// poller was built anew without this one: then it is about to end, as OnClose will tell.
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

// modify is deferred out of the lock: a poller that panics does not keep it, and has
// changed nothing (G15).
func (r *Registration) modify(interest Interest) (replaced *Registration, err error) {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	if r.state.Load() == regClosed {
		return nil, ErrRegistrationClosed
	}
	if replaced, err = r.e.io.modify(r, interest); err != nil {
		return nil, fmt.Errorf("core: Modify: descriptor %d: %w", r.fd, err)
	}
	return replaced, nil
}

// Close ends the registration. When it returns the descriptor is not watched, no
// call of the handler begins any more, and the owner may close the descriptor; if
// the caller is not the loop, one call may be running, and find it closed. Only the
// first Close has an effect. The error is always nil; io.Closer.
func (r *Registration) Close() error {
	r.close(nil, ChannelEnd{Kind: EndAborted})
	return nil
}

// OnClose calls listener once when the registration has ended, on the loop: with
// nil after Close, with the cause of the shutdown that ended it, or with the error
// for which the loop had to give it up. If it has ended, the listener is called
// soon, or, if the loop is gone, on the caller. Nil listeners are ignored.
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

// Post runs work on the loop, in order, and reports true; or false if the
// registration has ended. It is how a channel gets onto its loop when it has to,
// after the close too: work is no task, takes no room in a bounded queue, and
// does not restart a quiet period.
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
	// The loop does not end before this registration, so that work runs.
	e.addInternal(work)
	e.unlockAndWake()
	return true
}

// begin reports whether the handler may be called. From here on its call has begun,
// in the sense of Close. Loop only.
func (r *Registration) begin() bool {
	return !r.paused.Load() && r.state.CompareAndSwap(regOpen, regRunning)
}

// finishRun undoes begin, unless the registration has ended meanwhile. Loop only.
func (r *Registration) finishRun() { r.state.CompareAndSwap(regRunning, regOpen) }

// close ends the registration for the reason err. The poller is asked last, and whether
// it returns or not, the registration has ended and the lock is free (G15).
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
		e.io.forget(r.fd)
	}
}

// unlockAfterEnd requires mu, and releases it. A registration has ended.
func (e *Executor) unlockAfterEnd(noted bool) {
	if e.shutdown.called || noted {
		e.hasNews() // it may have been what the end was waiting for
		e.unlockAndWake()
		return
	}
	e.mu.Unlock()
}

// countEnd requires mu.
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
	}
	e.io.discarded += max(end.Discarded, 0)
}
