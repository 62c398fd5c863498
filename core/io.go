package core

import (
	"errors"
	"sync/atomic"

	"eventide/core/internal/poll"
)

// loopIO is the part of an EventLoop that a plain Executor does not have.
type loopIO struct {
	// Set once, by newLoopIO.
	poller IOPoller
	ratio  int64 // WithIORatio

	// Guarded by Executor.mu.
	slots      []*Registration  // by the lower half of the token
	free       []uint32         // empty slots
	byFD       map[int32]uint32 // watched descriptor -> slot of its registration; a slot is half the size of a pointer
	generation uint32           // upper half of the last token
	open       int              // registrations that have not ended
	channels   int              // open registrations of channels
	unnotified []*Registration  // registered after the shutdown call, not yet notified of it
	drained    int64            // counts of channels that ended since the shutdown call
	aborted    int64
	discarded  int64
	refused    int64
	held       heldChannels
	rebuilds   int64

	// Loop only.
	ready       []readyEvent // events of the last poll that are not handled yet
	readyPos    int
	readyAt     int64    // when the first of their handlers was called, if there is a ratio
	notices     []notice // requests to drain or to end, of a shutdown or a rebuild
	noticePos   int
	notified    noticeLevel // the highest level of the notices so far
	turns       int         // since the last poll
	begunAtPoll int64       // tasks and tail tasks that had begun at the last poll
	pollAt      int64       // when the tasks have used their share and the loop must poll; 0: no limit
	premature   int         // consecutive returns of Wait without a reason
	suspect     bool        // the poller was rebuilt because it failed, and has not worked since

	// Atomic.
	broken   atomic.Bool   // the loop does not wait on the poller any more: fallback wakes it
	fallback chan struct{} // capacity 1
}

// readyEvent is a call of a handler that has not been made yet.
type readyEvent struct {
	r         *Registration
	readiness Readiness
}

func (ev readyEvent) handle() { ev.r.target.Ready(ev.readiness) }

const (
	// busyTurns bounds the turns between two polls. A loop that always has tasks never
	// sleeps, and would not poll otherwise (G13).
	busyTurns = poll.BusyTurns

	// busyTasks bounds the tasks, tail tasks included, that begin between two polls
	// (G13). Timers and handlers do not count: each turn bounds them.
	busyTasks = busyTurns * turnTasks

	// maxPremature is the number of consecutive returns of Wait without a reason after
	// which the poller is rebuilt (R195; netty's selectorAutoRebuildThreshold).
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

// WithIORatio sets the share of its time, in percent from 1 to 100, that a loop busy with
// readiness handlers and tasks spends on the handlers; tasks get the rest (R191).
// With any ratio the loop polls for readiness after at most 1,024 tasks, tail tasks
// included (G13), even if the tasks have not used their share of the time. With 100 only
// this number, and a limit of 16 turns, bound the tasks. The default is 50. The option has
// no effect on an Executor, which has no readiness.
func WithIORatio(percent int) Option {
	return func(c *config) error {
		if percent < 1 || percent > 100 {
			return argumentError("WithIORatio", "percent is %d, want 1 to 100", percent)
		}
		c.ioRatio = percent
		return nil
	}
}

// add gives r a slot and a token, and watches its descriptor. replaced is the previous
// registration with the same descriptor number, or nil. Its descriptor was closed, so the
// kernel does not watch it any more. Requires mu.
func (io *loopIO) add(r *Registration) (replaced *Registration, err error) {
	var slot uint32
	if n := len(io.free); n > 0 {
		slot = io.free[n-1]
	} else {
		slot = uint32(len(io.slots))
	}
	generation := max(io.generation+1, 1) // token 0 is the poller's own: skip generation 0 after a wrap
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

// errLost is returned by Modify after a rebuild that could not move r, until the loop has
// ended r. OnClose or Abort gets the reason.
var errLost = errors.New("the registration could not be moved into the new poller, and ends")

// errBroken is returned by Modify after a failure that ends the loop: of the poller or of the clock.
var errBroken = errors.New("the loop has failed, and ends")

// modify replaces the interest of r, which must be open. replaced has the same meaning as in
// add. After a failure it does not call the poller. Requires mu.
func (io *loopIO) modify(r *Registration, interest Interest) (replaced *Registration, err error) {
	const watched = Readable | Writable
	was, is := r.interest&watched != 0, interest&watched != 0
	switch {
	case is && io.broken.Load():
		return nil, errBroken
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
			io.unwatch(r.fd)
			delete(io.byFD, int32(r.fd)) // after unwatch: if the poller panics, nothing has changed
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
// descriptor's number, and returns the previous owner. Requires mu.
func (io *loopIO) takeNumber(r *Registration) (replaced *Registration) {
	replaced = io.watcher(r.fd)
	io.byFD[int32(r.fd)] = uint32(r.token)
	if f, ok := io.poller.(poll.Forgetter); ok && replaced != nil {
		f.Forgot()
	}
	return replaced
}

// unwatch removes fd from the poller. It ignores an error, which means that the kernel has
// dropped fd already because it was closed. It does not call a broken poller, whose events
// are not used any more. Requires mu.
func (io *loopIO) unwatch(fd int) {
	if !io.broken.Load() {
		_ = io.poller.Remove(fd)
	}
}

// remove removes r from the tables. It returns true if the caller must call unwatch, and
// false if a newer registration has the same descriptor number (netty e348bd9217).
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

// found returns the events that the poller collected last. It calls the poller without mu: a
// poller that panics must not leave mu locked (G15). Loop only.
func (e *Executor) found() []PollEvent {
	if e.io == nil || e.broken != nil {
		return nil
	}
	return e.io.poller.Ready()
}

// collect appends the events that the poller found to ready. Events of ended registrations are
// dropped here or in runReady, so that no handler is called for a stale descriptor.
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

// spent reports whether every collected event has been handled. Loop only.
func (io *loopIO) spent() bool { return io.readyPos == len(io.ready) }

// beginShare begins a new share of the tasks, after a poll. Loop only.
func (e *Executor) beginShare() {
	io := e.io
	io.turns, io.pollAt = 0, 0
	io.begunAtPoll = e.begun()
}

// begun returns how many tasks and tail tasks have begun. Loop only.
func (e *Executor) begun() int64 { return e.tasks.Begun() + e.tails.Begun() }

// untilPoll returns how many tasks and tail tasks may begin before the next poll (G13).
// Loop only.
func (e *Executor) untilPoll() int {
	if e.io == nil || e.broken != nil {
		return unbounded
	}
	return int(max(0, busyTasks-(e.begun()-e.io.begunAtPoll)))
}

// pollWhenBusy polls if the tasks have had their share since the last poll. Loop only.
func (e *Executor) pollWhenBusy() {
	io := e.io
	if io == nil || !io.spent() || e.broken != nil {
		return
	}
	io.turns++
	if io.turns < busyTurns && e.untilPoll() >= turnTasks && (io.pollAt == 0 || e.now() < io.pollAt) {
		return
	}
	if err := io.poller.Poll(); err != nil {
		e.pollerFailed(err)
		return
	}
	io.suspect = false
	e.beginShare()
	found := e.found()
	e.mu.Lock()
	io.collect(found)
	e.mu.Unlock()
}

// runReady calls the handlers of ready descriptors, before the tasks of the turn.
func (e *Executor) runReady() {
	io := e.io
	if io == nil || len(io.ready) == 0 {
		return
	}
	timed := io.ratio < 100 && e.broken == nil // after a failure, do not call the clock: it may be the cause
	if timed && io.readyPos == 0 {             // else a handler has ended the goroutine: its time counts too
		io.readyAt = e.now()
	}
	for !io.spent() {
		e.drainReady()
		e.settle()
		if e.stateMoved() {
			return
		}
	}
	clear(io.ready)
	io.ready, io.readyPos, io.pollAt = io.ready[:0], 0, 0
	if timed {
		now := e.now()
		io.pollAt = now + (now-io.readyAt)*(100-io.ratio)/io.ratio
	}
}

// drainReady calls the handlers of events until none is left, a handler panics, an internal task
// waits, or the state has moved. One deferred call serves all the handlers.
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
		e.beginBody(BodyReadiness)
		if e.cfg.tracer != nil {
			e.traceBegin(BodyReadiness, ev.handle)
		}
		ev.handle()
		e.finishBody(OutcomeNormal)
		if len(e.panics) > 0 || e.stopBatch.Load() {
			return
		}
	}
}
