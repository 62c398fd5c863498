package epoll

import (
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"eventide/core/internal/poll"

	"golang.org/x/sys/unix"
)

// NetpollPoller is the poller of an EventLoop. The loop's goroutine parks in Go's
// own network poller, on the descriptor of its epoll set (which is pollable like
// any other), and is woken without a system call, by a read deadline in the past.
//
// What keeps a wake-up from being lost:
//
//  1. Wakers only ever set a deadline in the past, and only after they moved sleep
//     from asleep to notified. The loop sets any other deadline only while awake.
//     So from the announcement until the loop is awake again nobody can overwrite a
//     deadline in the past. (A deadline in the future set from outside, to arm a
//     timer, loses a wake-up: the runtime takes it for the newest word.)
//  2. The deadline is reset before the sleep is announced. The other way round the
//     reset may wipe out the wake-up of one who saw the announcement.
//  3. A park follows a look at the set that found nothing, within the same Read: the
//     runtime forgets older edges at the beginning of a Read and remembers later
//     ones. A park without that look loses edges, unless the set is empty; and that
//     must be asked within the Read too, of a count that goes up before a descriptor
//     is added.
//  4. A return means "look again" and nothing else. A slow waker's deadline may land
//     in a later sleep; and if it has passed already, Read returns without a look at
//     the set, so that under a stream of wake-ups the set is looked at by count.
type NetpollPoller struct {
	set

	// Atomic.
	sleep atomic.Int32
	_     [60]byte
	file  atomic.Pointer[os.File] // owns the epoll descriptor: a late Wake finds it closed, never its number reused
	parks atomic.Int64
	spins atomic.Int64

	// Loop only.
	raw     syscall.RawConn
	ready   func(uintptr) bool // bound once: no allocation per park
	lookErr error
	first   bool // the first call of ready in this Read
	timed   bool // this sleep has a deadline
	dirty   bool // the file's deadline is in the past, or may come to be
	skipped int  // calls of Wait that have begun since the last look
	spin    spinner
	yield   yieldBackoff
}

// The handshake of sleep. The loop alone moves to awake and, from there, to
// asleep; wakers move to notified.
const (
	sleepAwake int32 = iota
	sleepAsleep
	sleepNotified
)

// longPast is monotonic: steps of the wall clock do not move it.
var longPast = time.Now().Add(-time.Hour)

func NewNetpoll(clock poll.Clock, spin time.Duration, k Calls) (*NetpollPoller, error) {
	p := &NetpollPoller{set: set{calls: k, clock: clock, fd: -1, timer: -1}}
	p.spin.max = int64(spin)
	p.ready = p.lookThenPark
	p.wake = p.Wake
	if err := p.Reopen(); err != nil {
		return nil, err
	}
	return p, nil
}

// Reopen is IOPoller's. A waker that is slow may still hold the old file: it will
// find it closed, and its wake-up was for a sleep that is over.
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
	old := p.file.Swap(file)
	p.replaceBy(next)
	p.raw, p.dirty = raw, false
	if old != nil {
		_ = old.Close()
	}
	return nil
}

// pollable gives an epoll descriptor to the runtime's poller. It closes fd if
// that fails.
func pollable(fd int) (*os.File, syscall.RawConn, error) {
	// os.NewFile registers a descriptor only if it is already non-blocking.
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return nil, nil, callError("fcntl", fmt.Sprintf("set O_NONBLOCK of epoll set %d", fd), err)
	}
	file := os.NewFile(uintptr(fd), "epoll")
	raw, err := file.SyscallConn()
	if err == nil {
		err = file.SetReadDeadline(time.Time{}) // fails if the runtime did not take it
	}
	if err != nil {
		_ = file.Close()
		return nil, nil, err
	}
	return file, raw, nil
}

// Wake is Poller's: no system call, and a single load if one is pending.
func (p *NetpollPoller) Wake() {
	if p.sleep.Load() != sleepNotified && p.sleep.Swap(sleepNotified) == sleepAsleep {
		_ = p.file.Load().SetReadDeadline(longPast) // fails after Close: as it should
	}
}

// taken reports whether a Wake was pending, and takes it. Nobody saw the loop
// asleep, so that the deadline was not touched. Loop only.
func (p *NetpollPoller) taken() bool {
	return p.sleep.Load() == sleepNotified && p.sleep.CompareAndSwap(sleepNotified, sleepAwake)
}

// Wait is Poller's.
func (p *NetpollPoller) Wait(until poll.Deadline) error {
	p.events = p.events[:0]
	p.skipped++ // a look takes it back: a call that returns without one counts, whatever its way out
	found, err := p.beforeParking(until)
	if found || err != nil {
		p.spins.Add(1)
		return err
	}
	p.parks.Add(1)
	err = p.raw.Read(p.ready)
	if p.sleep.Swap(sleepAwake) == sleepNotified {
		p.dirty = true // by a waker who has set the deadline, or will in a moment
	}
	switch {
	case p.lookErr != nil:
		err, p.lookErr = p.lookErr, nil
		return err
	case err == nil:
		return nil
	case err == os.ErrDeadlineExceeded: // bare, through a RawConn
		p.dirty = true
		return nil
	default:
		return err // the file is closed: poll.ErrFileClosing, which is not os.ErrClosed here
	}
}

// beforeParking does what comes before a park, in the order that the comment of
// NetpollPoller gives reasons for, and reports whether something was found on the
// way. If not, sleep is announced and the park must follow.
func (p *NetpollPoller) beforeParking(until poll.Deadline) (found bool, err error) {
	if p.skipped > poll.BusyTurns {
		if found, err := p.look(); found || err != nil {
			return found, err
		}
	}
	if p.taken() {
		return true, nil
	}
	if found, err := p.spinFor(until); found || err != nil {
		return found, err
	}
	if p.yield.begin() {
		// What comes next is system calls, and costs more than all the rest of a round
		// trip: those whom the last tasks have made runnable go first.
		runtime.Gosched()
		p.yield.end()
		if p.taken() {
			return true, nil
		}
	}
	if !p.arm(until) {
		_, err := p.look()
		return true, err
	}
	if p.dirty {
		p.dirty = false
		if err := p.file.Load().SetReadDeadline(time.Time{}); err != nil {
			return false, err
		}
	}
	p.first, p.timed = true, !until.IsZero()
	if !p.sleep.CompareAndSwap(sleepAwake, sleepAsleep) {
		p.sleep.Store(sleepAwake)
		return true, nil
	}
	return false, nil
}

// lookThenPark is called by the runtime until it returns true; false parks.
func (p *NetpollPoller) lookThenPark(uintptr) bool {
	first := p.first
	p.first = false
	// With no deadline and no descriptor nothing can be ready; after an edge look in
	// any case. To ask whether the timer is still running instead would be wrong: it
	// may have gone off since it was set, and this Read has forgotten that edge.
	if first && !p.timed && p.watched.Load() == 0 {
		return false
	}
	found, err := p.look()
	p.lookErr = err
	return found || err != nil
}

// look shadows set's to count.
func (p *NetpollPoller) look() (bool, error) {
	p.skipped = 0
	return p.set.look()
}

// Looked is poll.Looker's.
func (p *NetpollPoller) Looked() bool { return p.skipped == 0 }

// Poll is IOPoller's.
func (p *NetpollPoller) Poll() error {
	_, err := p.look()
	return err
}

// spinFor looks for events and wake-ups for a while, if the loop was busy a moment
// ago and spinning has paid lately.
func (p *NetpollPoller) spinFor(until poll.Deadline) (found bool, err error) {
	if !p.spin.begin() {
		return false, nil
	}
	for turn := 0; p.spin.goesOn(turn); turn++ {
		runtime.Gosched()
		if p.taken() {
			p.spin.hit()
			return true, nil
		}
		// A look is a system call: in every turn it would delay the tasks.
		if p.watched.Load() > 0 && turn&3 == 0 {
			if found, err := p.look(); found || err != nil {
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

// Parks and Spins are poll.SleepCounter's.
func (p *NetpollPoller) Parks() int64 { return p.parks.Load() }
func (p *NetpollPoller) Spins() int64 { return p.spins.Load() }

// Close is Poller's.
func (p *NetpollPoller) Close() error {
	p.closeTimer()
	p.awaitAlarms()
	return p.file.Load().Close()
}
