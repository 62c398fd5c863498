package epoll

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"eventide/core/internal/poll"

	"golang.org/x/sys/unix"
)

// BlockingPoller blocks its thread in epoll_wait, and a write to an eventfd wakes it: see
// core.WithBlockingEpoll.
type BlockingPoller struct {
	set

	// Atomic.
	sleep atomic.Int32
	_     [60]byte
	parks atomic.Int64
	spins atomic.Int64
	event atomic.Pointer[os.File] // the eventfd; an os.File, so that a late Wake finds it closed (netty #9362)

	// Loop only.
	skipped int
}

func NewBlocking(clock poll.Clock, k Calls) (*BlockingPoller, error) {
	p := &BlockingPoller{set: set{calls: k, clock: clock}}
	p.wake = p.Wake
	if err := p.Reopen(); err != nil {
		return nil, err
	}
	return p, nil
}

// Reopen implements core.IOPoller.
func (p *BlockingPoller) Reopen() error {
	next, err := openSet(p.calls, p.clock)
	if err != nil {
		return err
	}
	if err := next.openTimer(); err != nil {
		_ = unix.Close(next.fd)
		return err
	}
	event, err := next.openEvent()
	if err != nil {
		next.closeTimer()
		_ = unix.Close(next.fd)
		return err
	}
	if old := p.event.Swap(event); old != nil {
		p.closeTimer()
		_ = old.Close()
		_ = unix.Close(p.fd)
	}
	p.replaceBy(next)
	return nil
}

// openEvent adds an eventfd to the set, edge-triggered: it need not be read.
func (s *set) openEvent() (*os.File, error) {
	fd, err := s.calls.CreateEvent()
	if err != nil {
		return nil, callError("eventfd", "make the eventfd that wakes the loop", err)
	}
	file := os.NewFile(uintptr(fd), "eventfd")
	if err := s.control(unix.EPOLL_CTL_ADD, fd, unix.EPOLLIN|unix.EPOLLET, ownToken); err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// Wake implements core.Poller. It makes one system call if the loop is asleep, and none
// otherwise.
func (p *BlockingPoller) Wake() {
	if p.sleep.Swap(sleepNotified) == sleepAsleep {
		signal(p.event.Load())
	}
}

// signal adds one to the counter of an eventfd. The counter is never read, so after
// 2^64-2 additions, or if other code has filled it, a write fails with EAGAIN. Then
// signal reads it once (netty #9192).
func signal(event *os.File) {
	raw, _ := event.SyscallConn() // fails for a nil file only
	one := [8]byte{0: 1}
	_ = raw.Control(func(fd uintptr) { // fails after Close: the wake-up is not needed then
		for {
			switch _, err := unix.Write(int(fd), one[:]); err {
			case unix.EINTR:
			case unix.EAGAIN:
				var count [8]byte
				_, _ = unix.Read(int(fd), count[:])
			default:
				return
			}
		}
	})
}

// Wait implements core.Poller.
func (p *BlockingPoller) Wait(until poll.Deadline) error {
	p.events = p.events[:0]
	if !p.arm(until) || p.skipped >= poll.BusyTurns {
		p.spins.Add(1)
		return p.Poll()
	}
	if !p.sleep.CompareAndSwap(sleepAwake, sleepAsleep) {
		p.sleep.Store(sleepAwake)
		p.skipped++
		p.spins.Add(1)
		return nil
	}
	if p.buf == nil {
		p.buf = make([]unix.EpollEvent, firstEvents)
	}
	p.skipped = 0
	p.parks.Add(1)
	n, err := p.calls.Wait(p.fd, p.buf)
	p.sleep.Swap(sleepAwake)
	_, err = p.take(n, err)
	return err
}

// Polled implements poll.PollTracker.
func (p *BlockingPoller) Polled() bool { return p.skipped == 0 }

// Poll implements core.IOPoller.
func (p *BlockingPoller) Poll() error {
	p.skipped = 0
	_, err := p.collect()
	return err
}

// Parks and Spins implement poll.SleepCounter.
func (p *BlockingPoller) Parks() int64 { return p.parks.Load() }
func (p *BlockingPoller) Spins() int64 { return p.spins.Load() }

// Close implements core.Poller.
func (p *BlockingPoller) Close() error {
	p.closeTimer()
	p.awaitAlarms()
	err := p.event.Load().Close()
	if failed := unix.Close(p.fd); failed != nil {
		err = errors.Join(err, callError("close", fmt.Sprintf("close epoll set %d", p.fd), failed))
	}
	return err
}
