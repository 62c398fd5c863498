package epoll

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"eventide/core/internal/poll"

	"golang.org/x/sys/unix"
)

// NetpollPoller is the default poller of an EventLoop. The loop's goroutine parks in the
// network poller of Go's runtime, on the descriptor of its own epoll set, which can be
// polled like any other. It is woken without a system call, by a read deadline in the
// past.
//
// These rules keep wake-ups from being lost:
//
//  1. Wakers set only deadlines in the past, and only after they have moved sleep from
//     asleep to notified. The loop sets other deadlines only while awake. So between the
//     announcement of the sleep and its end, no goroutine overwrites a deadline in the
//     past. (If a waker also set deadlines in the future, to arm a timer, it could lose a
//     wake-up: the runtime keeps only the newest deadline.)
//  2. The loop resets the deadline before it announces the sleep. A reset after the
//     announcement could erase the wake-up of a goroutine that has seen it.
//  3. A park follows a poll of the set that found nothing, within the same Read: the
//     runtime forgets older edges at the beginning of a Read and remembers later ones. The
//     poll may be left out only if the sleep has no deadline and no descriptor is
//     registered. The test for that must be within the Read, too: watched is incremented
//     before a descriptor is added, so if the test misses a descriptor, that descriptor is
//     added later and its edge is remembered.
//  4. A return of Wait only means that the loop has to look for work. A waker may be so slow
//     that it sets its deadline before or during a later sleep. A Read that begins with a
//     deadline in the past returns without a poll. So under a stream of wake-ups, Wait polls
//     after a fixed number of such returns.
type NetpollPoller struct {
	set

	// Atomic.
	sleep atomic.Int32
	_     [60]byte
	file  atomic.Pointer[os.File] // owns the epoll descriptor: a late Wake finds it closed, and never a reused number
	parks atomic.Int64
	spins atomic.Int64

	// Loop only.
	raw            syscall.RawConn
	ready          func(uintptr) bool // collectThenPark, bound once: no allocation per park
	collectErr     error
	timed          bool // this sleep has a deadline
	dirty          bool // the file's deadline is in the past, or a waker may still set it so
	waitsSincePoll int  // calls of Wait that have begun since the last poll
	spin           spinner
	yields         yieldBackoff
}

// States of sleep. Only the loop moves it to awake, and from awake to asleep; wakers move
// it to notified.
const (
	sleepAwake int32 = iota
	sleepAsleep
	sleepNotified
)

// longPast has a monotonic reading, so that steps of the wall clock do not change it.
var longPast = time.Now().Add(-time.Hour)

func NewNetpoll(clock poll.Clock, spin time.Duration, k Calls) (*NetpollPoller, error) {
	p := &NetpollPoller{set: set{calls: k, clock: clock}}
	p.spin.max = int64(spin)
	p.ready = p.collectThenPark
	p.wake = p.Wake
	if err := p.Reopen(); err != nil {
		return nil, err
	}
	return p, nil
}

// Reopen implements core.IOPoller. A slow waker may still hold the old file. It finds the
// file closed, and its wake-up was for a sleep that has ended.
func (p *NetpollPoller) Reopen() error {
	next, err := openSet(p.calls, p.clock)
	if err != nil {
		return err
	}
	file, raw, err := pollable(next.fd)
	if err != nil {
		return err
	}
	if err := next.openTimer(); err != nil {
		_ = file.Close()
		return err
	}
	if old := p.file.Swap(file); old != nil {
		p.closeTimer()
		_ = old.Close()
	}
	p.replaceBy(next)
	p.raw, p.dirty = raw, false
	return nil
}

// pollable registers an epoll descriptor with the runtime's poller. On an error it closes
// fd.
func pollable(fd int) (*os.File, syscall.RawConn, error) {
	// os.NewFile registers a descriptor only if it is already non-blocking.
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return nil, nil, callError("fcntl", fmt.Sprintf("set O_NONBLOCK of epoll set %d", fd), err)
	}
	file := os.NewFile(uintptr(fd), "epoll")
	raw, err := file.SyscallConn()
	err = errors.Join(err, file.SetReadDeadline(time.Time{})) // fails if the runtime has not registered it
	if err != nil {
		_ = file.Close()
		return nil, nil, err
	}
	return file, raw, nil
}

// Wake implements core.Poller: no system call, and a single atomic instruction unless the loop is
// asleep.
func (p *NetpollPoller) Wake() {
	if p.sleep.Swap(sleepNotified) == sleepAsleep {
		_ = p.file.Load().SetReadDeadline(longPast) // fails after Close: the wake-up is not needed then
	}
}

// taken reports whether a Wake was pending, and consumes it. The waker did not see the
// loop asleep, so it has not set the deadline. Loop only.
func (p *NetpollPoller) taken() bool {
	return p.sleep.Load() == sleepNotified && p.sleep.CompareAndSwap(sleepNotified, sleepAwake)
}

// Wait implements core.Poller.
func (p *NetpollPoller) Wait(until poll.Deadline) error {
	p.events = p.events[:0]
	p.waitsSincePoll++ // collect resets it
	found, err := p.beforeParking(until)
	if found || err != nil {
		p.spins.Add(1)
		return err
	}
	p.parks.Add(1)
	err = p.raw.Read(p.ready)
	if p.sleep.Swap(sleepAwake) == sleepNotified {
		p.dirty = true // a waker has set the deadline, or will set it in a moment
	}
	switch {
	case p.collectErr != nil:
		err, p.collectErr = p.collectErr, nil
		return err
	case err == nil:
		return nil
	case err == os.ErrDeadlineExceeded: // a RawConn does not wrap it
		p.dirty = true
		return nil
	default:
		return err // the file is closed: ErrFileClosing of Go's internal/poll, which a RawConn does not convert to os.ErrClosed
	}
}

// beforeParking does the work before a park, in the order that the rules of NetpollPoller
// require, and reports whether it found an event or a wake-up. If it found none, the sleep is
// announced and the caller must park.
func (p *NetpollPoller) beforeParking(until poll.Deadline) (found bool, err error) {
	if p.waitsSincePoll > poll.BusyTurns {
		if found, err := p.collect(); found || err != nil {
			return found, err
		}
	}
	if p.taken() {
		return true, nil
	}
	if found, err := p.spinFor(until); found || err != nil {
		return found, err
	}
	// The steps below make system calls. Before these steps, yield to the goroutines that the
	// last tasks have made runnable.
	if p.yields.before(runtime.Gosched) && p.taken() {
		return true, nil
	}
	if !p.arm(until) {
		_, err := p.collect()
		return true, err
	}
	if p.dirty {
		p.dirty = false
		if err := p.file.Load().SetReadDeadline(time.Time{}); err != nil {
			return found, err
		}
	}
	p.timed = !until.IsZero()
	if !p.sleep.CompareAndSwap(sleepAwake, sleepAsleep) {
		p.sleep.Store(sleepAwake)
		return true, nil
	}
	return false, nil
}

// collectThenPark is called by the runtime until it returns true. After false the runtime
// parks the goroutine until the next edge.
func (p *NetpollPoller) collectThenPark(uintptr) bool {
	// Without a deadline and without descriptors nothing can be ready, also after an edge: it is of
	// a descriptor that was removed, or of the timer of an earlier sleep. To test whether the timer
	// is still running would be wrong: the timer may have expired since it was set, and
	// this Read has forgotten that edge.
	if !p.timed && p.watched.Load() == 0 {
		return false
	}
	found, err := p.collect()
	p.collectErr = err
	return found || err != nil
}

// collect calls set.collect, and resets waitsSincePoll.
func (p *NetpollPoller) collect() (bool, error) {
	p.waitsSincePoll = 0
	return p.set.collect()
}

// Polled implements poll.PollTracker.
func (p *NetpollPoller) Polled() bool { return p.waitsSincePoll == 0 }

// Poll implements core.IOPoller.
func (p *NetpollPoller) Poll() error {
	_, err := p.collect()
	return err
}

// spinFor polls for events and wake-ups for a while, unless recent spins have found
// nothing.
func (p *NetpollPoller) spinFor(until poll.Deadline) (found bool, err error) {
	if !p.spin.begin() {
		return false, nil
	}
	for turn := 0; p.spin.spinsOn(turn); turn++ {
		runtime.Gosched()
		if p.taken() {
			p.spin.hit()
			return true, nil
		}
		// A poll is a system call: one in every turn would delay the tasks.
		if p.watched.Load() > 0 && turn&3 == 0 {
			if found, err := p.collect(); found || err != nil {
				p.spin.hit()
				return found, err
			}
		}
		if !until.IsZero() && p.clock == nil && time.Until(until) <= 0 {
			return true, nil
		}
	}
	p.spin.miss()
	return false, nil
}

// Parks and Spins implement poll.SleepCounter.
func (p *NetpollPoller) Parks() int64 { return p.parks.Load() }
func (p *NetpollPoller) Spins() int64 { return p.spins.Load() }

// Close implements core.Poller.
func (p *NetpollPoller) Close() error {
	p.closeTimer()
	p.awaitAlarms()
	return p.file.Load().Close()
}
