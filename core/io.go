package core

import (
	"errors"
	"sync/atomic"

	"eventide/core/internal/poll"
)

// loopIO is what an EventLoop has and an Executor has not.
type loopIO struct {
	// Set once in New.
	poller IOPoller
	ratio  int64 // percent of its time that a busy loop gives to readiness

	// Guarded by Executor.mu.
	slots      []*Registration  // by the lower half of the token
	free       []uint32         // empty slots
	byFD       map[int32]uint32 // watched descriptor -> slot of the one that watches it: half the room of a pointer
	generation uint32           // upper half of the last token
	open       int              // registrations that have not ended
	channels   int              // of these, those of channels
	unnotified []*Registration  // registered after the shutdown call, not yet notified of it
	drained    int64            // counts of channels that ended since the shutdown call
	aborted    int64
	discarded  int64
	held       heldChannels
	rebuilds   int64

	// Loop only.
	ready     []readyEvent // what is left of the last look at the poller
	readyPos  int
	notices   []notice // of the shutdown, for registrations
	noticePos int
	notified  noticeLevel // the highest level of the notices so far
	turns     int         // since the last look at the poller
	lookedAt  int64       // tasks and tail tasks that had begun at that look
	lookAt    int64       // when the tasks have had their share; 0: they have no limit
	premature int         // returns of Wait in a row that had no reason
	suspect   bool        // the poller was rebuilt because it failed, and has not worked since

	// Atomic.
	broken   atomic.Bool   // the poller is given up: wake by fallback
	fallback chan struct{} // capacity 1
}

// readyEvent is one call of a handler that is to be made.
type readyEvent struct {
	r         *Registration
	readiness Readiness
}

const (
	// busyTurns bounds the turns between two looks at the poller: with tasks
	// without end the loop never sleeps, and sleeping is what looks (G13).
	busyTurns = poll.BusyTurns

	// busyTasks bounds the tasks that begin between two looks, tail tasks included (G13).
	// Timers and handlers are not among them: each turn has a bound for those.
	busyTasks = busyTurns * turnTasks

	// maxPremature returns of Wait without any reason in a row, and the poller is
	// built anew (R195; netty's selectorAutoRebuildThreshold).
	maxPremature = 512

	defaultIORatio = 50
)

func newLoopIO(poller IOPoller, ratio int) *loopIO {
	return &loopIO{
		poller: poller, ratio: int64(ratio),
		byFD:     make(map[int32]uint32),
		fallback: make(chan struct{}, 1),
	}
}

// WithIORatio sets which part of its time, in percent from 1 to 100, a loop that
// is busy with both gives to readiness; the rest goes to tasks (R191). 100 sets no
// limit to the tasks but the one that holds for all, and that cuts their share short
// if it is large: after 1,024 of them, tail tasks included, readiness is looked at (G13).
// The default is 50. It has no effect on an Executor, which has no readiness.
func WithIORatio(percent int) Option {
	return func(c *config) error {
		if percent < 1 || percent > 100 {
			return argumentError("WithIORatio", "percent is %d, want 1 to 100", percent)
		}
		c.ioRatio = percent
		return nil
	}
}

// add gives r a slot and a token and watches its descriptor. replaced is a
// registration of the same number, which the kernel has forgotten: its descriptor
// was closed. Requires mu.
func (io *loopIO) add(r *Registration) (replaced *Registration, err error) {
	var slot uint32
	if n := len(io.free); n > 0 {
		slot = io.free[n-1]
	} else {
		slot = uint32(len(io.slots))
	}
	generation := max(io.generation+1, 1) // 0 after a wrap would be the poller's own
	r.token = uint64(generation)<<32 | uint64(slot)
	if r.interest&(Readable|Writable) != 0 {
		if err := io.poller.Add(r.fd, r.interest, r.token); err != nil {
			return nil, err
		}
		replaced = io.takeNumber(r)
	}
	io.generation = generation
	r.paused.Store(r.interest&(Readable|Writable) == 0)
	if n := len(io.free); n > 0 {
		io.free = io.free[:n-1]
		io.slots[slot] = r
	} else {
		io.slots = append(io.slots, r)
	}
	io.open++
	if r.isChannel {
		io.channels++
	}
	return replaced, nil
}

// errLost is returned by Modify between a rebuild and the word to r that it could not be
// moved: OnClose, or Abort, says why.
var errLost = errors.New("the registration could not be moved into the new poller, and ends")

// modify requires mu and an open r. replaced is as of add.
func (io *loopIO) modify(r *Registration, interest Interest) (replaced *Registration, err error) {
	const watched = Readable | Writable
	was, is := r.interest&watched != 0, interest&watched != 0
	switch {
	case is && was:
		switch io.watcher(r.fd) {
		case r:
		case nil:
			return nil, errLost
		default:
			return nil, ErrDescriptorReused
		}
		if err := io.poller.Modify(r.fd, interest, r.token); err != nil {
			return nil, err
		}
	case is:
		if err := io.poller.Add(r.fd, interest, r.token); err != nil {
			return nil, err
		}
		replaced = io.takeNumber(r)
	case was:
		if io.watcher(r.fd) == r {
			io.forget(r.fd)
			delete(io.byFD, int32(r.fd)) // after: a poller that panics has changed nothing
		}
	}
	r.interest = interest
	r.paused.Store(!is)
	return replaced, nil
}

// watcher returns the registration that watches fd, or nil. Requires mu.
func (io *loopIO) watcher(fd int) *Registration {
	slot, ok := io.byFD[int32(fd)]
	if !ok {
		return nil
	}
	return io.slots[slot]
}

// takeNumber makes r, which has just been added to the poller, the owner of its
// descriptor's number, and returns who was. Requires mu.
func (io *loopIO) takeNumber(r *Registration) (replaced *Registration) {
	replaced = io.watcher(r.fd)
	io.byFD[int32(r.fd)] = uint32(r.token)
	if f, ok := io.poller.(poll.Forgetter); ok && replaced != nil {
		f.Forgot()
	}
	return replaced
}

// forget takes fd out of the poller. An error means that the kernel has forgotten it
// already, because it was closed: that is what was wanted. A poller that is given up is
// not asked: nobody waits for what it watches. Requires mu.
func (io *loopIO) forget(fd int) {
	if !io.broken.Load() {
		_ = io.poller.Remove(fd)
	}
}

// remove takes r out of the tables, and reports whether the caller has to call forget: not
// if the number of its descriptor belongs to a newer registration (netty e348bd9217).
// Requires mu.
func (io *loopIO) remove(r *Registration) (watched bool) {
	if io.watcher(r.fd) == r {
		delete(io.byFD, int32(r.fd))
		watched = true
	}
	slot := uint32(r.token)
	io.slots[slot] = nil
	io.free = append(io.free, slot)
	io.open--
	if r.isChannel {
		io.channels--
	}
	if io.open == 0 && len(io.slots) > keptCapacity {
		io.slots, io.free = nil, nil // gives back the memory of a burst
		io.byFD = make(map[int32]uint32)
	}
	return watched
}

// found returns what the poller collected last. It is called without mu: a poller that
// panics must not keep it locked (G15). Loop only.
func (e *Executor) found() []PollEvent {
	if e.io == nil || e.broken != nil {
		return nil
	}
	return e.io.poller.Ready()
}

// collect takes over what the poller found. Events of registrations that have
// ended fall away here, or in runReady: nobody hears of a stale descriptor.
// Requires mu; loop only.
func (io *loopIO) collect(found []PollEvent) {
	for _, ev := range found {
		slot := uint32(ev.Token)
		if int(slot) >= len(io.slots) {
			continue
		}
		if r := io.slots[slot]; r != nil && r.token == ev.Token {
			io.ready = append(io.ready, readyEvent{r, ev.Readiness})
		}
	}
}

// spent reports whether every event in hand has been handled. Loop only.
func (io *loopIO) spent() bool { return io.readyPos == len(io.ready) }

// looked begins a new share of the tasks, after a look at the poller. Loop only.
func (e *Executor) looked() {
	io := e.io
	io.turns, io.lookAt = 0, 0
	io.lookedAt = e.begun()
}

// begun returns how many tasks and tail tasks have begun. Loop only.
func (e *Executor) begun() int64 { return e.tasks.Begun() + e.tails.Begun() }

// untilLook returns how many tasks and tail tasks may begin before the next look at the
// poller (G13). Loop only.
func (e *Executor) untilLook() int {
	if e.io == nil || e.broken != nil {
		return unbounded
	}
	return int(max(0, busyTasks-(e.begun()-e.io.lookedAt)))
}

// pollWhenBusy looks at the poller, if the tasks have had their share since the
// last look. Loop only.
func (e *Executor) pollWhenBusy() {
	io := e.io
	if io == nil || !io.spent() || e.broken != nil {
		return
	}
	io.turns++
	if io.turns < busyTurns && e.untilLook() >= turnTasks && (io.lookAt == 0 || e.now() < io.lookAt) {
		return
	}
	if err := io.poller.Poll(); err != nil {
		e.pollerFailed(err)
		return
	}
	io.suspect = false
	e.looked()
	found := e.found()
	e.mu.Lock()
	io.collect(found)
	e.mu.Unlock()
}

// runReady calls the handlers of what is ready, before the tasks of the turn.
func (e *Executor) runReady() {
	io := e.io
	if io == nil || len(io.ready) == 0 {
		return
	}
	began := int64(0)
	timed := io.ratio < 100 && e.broken == nil // the clock may be what is broken
	if timed {
		began = e.now()
	}
	for !io.spent() {
		e.drainReady()
		e.reportPanics()
		e.runInternalInHand()
		if e.stateMoved() {
			return
		}
	}
	clear(io.ready)
	io.ready, io.readyPos, io.lookAt = io.ready[:0], 0, 0
	if timed {
		now := e.now()
		io.lookAt = now + (now-began)*(100-io.ratio)/io.ratio
	}
}

// drainReady handles events until there is none, one panicked, or a listener is
// to be called. One deferred call serves them all.
func (e *Executor) drainReady() {
	io := e.io
	defer e.recoverBody()
	for !io.spent() {
		ev := io.ready[io.readyPos]
		io.readyPos++
		if !ev.r.begin() {
			continue
		}
		e.current = currentBody{kind: BodyReadiness, reg: ev.r, internal: e.seen >= StateShuttingDown}
		e.body.Store(int32(BodyReadiness))
		if e.cfg.tracer != nil {
			e.trace(Event{Kind: EventBegin, Body: BodyReadiness})
		}
		ev.r.target.Ready(ev.readiness)
		e.finishBody(OutcomeNormal)
		if len(e.panics) > 0 || e.stopBatch.Load() {
			return
		}
	}
}

// runInternalInHand runs listeners that the last body brought.
func (e *Executor) runInternalInHand() {
	if !e.stopBatch.Load() {
		return
	}
	e.mu.Lock()
	e.drainInternalInbox()
	e.mu.Unlock()
	e.runInternal()
}
