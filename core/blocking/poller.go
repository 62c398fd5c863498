package blocking

import (
	"errors"
	"io"
	"math"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"eventide/core"
)

// connFD is the descriptor number under which the connection is registered with its loop. It is
// not a real descriptor: no process has one that large.
const connFD = math.MaxInt32

// errOneConnection is the error for any other descriptor.
var errOneConnection = errors.New("the executor of a blocking channel watches its connection only")

// connPoller is the poller of the executor of a channel: the executor sleeps in a Read of the
// connection, and a waker sets the read deadline to the past. Without a connection, or while
// the channel wants no input, the executor sleeps on a Go channel instead.
//
// These rules keep wake-ups from being lost (as in core's NetpollPoller):
//
//  1. Wakers set only deadlines in the past, and only after they have moved sleep
//     from sleepReading to sleepNotified. The loop sets other deadlines only while
//     awake. So between the announcement of the sleep and its end, no goroutine
//     overwrites a deadline in the past.
//  2. The loop sets its deadline before it announces the sleep. A deadline set after the
//     announcement could overwrite the wake-up of a goroutine that has seen it.
//  3. A return of Wait only means that the loop must check for work. The deadline of a
//     slow waker may take effect in a later sleep. If it has passed when Read begins,
//     Read returns without reading. So under a stream of wake-ups, Wait reads after a
//     fixed number of such returns.
//
// Input that was read stays here until the channel takes it, and no Read begins before
// that: readiness is level-triggered.
type connPoller struct {
	// Set once.
	token  chan struct{} // capacity 1: wakes a loop that sleeps without a connection
	closes func()        // called by Close; nil: nothing

	// Atomic.
	sleep  atomic.Int32
	conn   atomic.Pointer[connection] // nil: none is attached
	landed atomic.Int64               // wakers that had to set a deadline and have set it

	// Loop goroutine only.
	buf       []byte
	filled    int   // bytes in buf that the channel has not taken
	err       error // the error of the last Read, unless a deadline
	unread    bool  // the channel has not taken buf or err
	watched   bool  // the channel wants input
	id        uint64
	events    []core.PollEvent
	timer     *time.Timer
	dirty     bool  // conn has a deadline, or a waker is about to set one
	called    int64 // wakers that had to set a deadline
	late      bool  // when the loop last set its own deadline, a waker had not set its deadline yet
	skipped   int   // calls of Wait since the last poll
	fruitless int   // consecutive polls that found nothing
}

// States of sleep. Only the loop moves it to awake, and from awake to parked or reading;
// wakers move it to notified.
const (
	sleepAwake int32 = iota
	sleepParked
	sleepReading
	sleepNotified
)

const (
	// pollEvery bounds the consecutive calls of Wait that return without a poll.
	pollEvery = 16

	// A poll is a Read with a short deadline. If the deadline has passed before Read
	// begins, Read does not read. So it is not too short, and one poll in pollsPerLong
	// gets a longer one, in case busy processors always make the short one pass too
	// early.
	shortPoll    = 5 * time.Microsecond
	longPoll     = time.Millisecond
	pollsPerLong = 16
)

// longPast is in the past of every clock: of a clock that was stepped back, and of the
// virtual clock of testing/synctest, which begins in the year 2000. An hour before the
// start of the program would be in the future of that clock.
var longPast = time.Unix(1, 0)

func newConnPoller() *connPoller {
	return &connPoller{token: make(chan struct{}, 1)}
}

// attach gives the poller a connection. Add begins to watch it. Loop only.
func (p *connPoller) attach(conn connection, size int) {
	p.buf = make([]byte, size)
	p.dirty = true // a waker may still set the deadline of a previous sleep
	p.conn.Store(&conn)
}

// detach undoes attach, after Remove. Loop only. A slow waker may still hold the
// connection: it sets the deadline of a connection that is not read any more.
func (p *connPoller) detach() {
	p.conn.Store(nil)
	p.buf, p.filled, p.err, p.unread = nil, 0, nil, false
}

// take returns the bytes that were read, which are valid until the next Wait or Poll, and the
// error. Loop only.
func (p *connPoller) take() ([]byte, error) {
	b, err := p.buf[:p.filled], p.err
	p.filled, p.unread, p.err = 0, false, nil
	return b, err
}

// hasEnd reports whether the end of the stream was read, and the channel has not taken it yet. Loop
// only.
func (p *connPoller) hasEnd() bool { return p.unread && p.err == io.EOF }

// failure returns the error that the last Read has returned and the channel has not taken yet, if it is not the
// end of the stream. Loop only.
func (p *connPoller) failure() error {
	if !p.unread || p.err == io.EOF {
		return nil
	}
	return p.err
}

// Wake implements core.Poller.
func (p *connPoller) Wake() {
	switch p.sleep.Swap(sleepNotified) {
	case sleepParked:
		select {
		case p.token <- struct{}{}:
		default: // the token of a slow waker is still there
		}
	case sleepReading:
		if conn := p.conn.Load(); conn != nil {
			_ = conn.SetReadDeadline(longPast) // fails if it is closed: then Read has returned
		}
		p.landed.Add(1)
	}
}

// taken reports whether a Wake was pending, and consumes it. The waker did not see the
// loop asleep, so it has set neither the deadline nor the token. Loop only.
func (p *connPoller) taken() bool { return p.sleep.CompareAndSwap(sleepNotified, sleepAwake) }

// Wait implements core.Poller. It never fails: the channel handles errors of the
// connection.
func (p *connPoller) Wait(until core.Deadline) error {
	if p.offer() || p.skipped >= pollEvery && p.poll() {
		return nil
	}
	p.skipped++
	if p.taken() {
		return nil
	}
	if !until.IsZero() && time.Until(until) <= 0 {
		p.poll()
		return nil
	}
	if p.watched {
		p.read(until)
	} else {
		p.park(until)
	}
	p.offer()
	return nil
}

// read sleeps in a Read of the connection.
func (p *connPoller) read(until core.Deadline) {
	conn := p.conn.Load()
	p.recordLate()
	if p.dirty || !until.IsZero() {
		_ = conn.SetReadDeadline(until) // fails if it is closed: Read returns that error
		p.dirty = !until.IsZero()
	}
	if !p.sleep.CompareAndSwap(sleepAwake, sleepReading) {
		p.sleep.Store(sleepAwake)
		return
	}
	p.readOnce(conn, until)
	if p.sleep.Swap(sleepAwake) == sleepNotified {
		p.called++
		p.dirty = true // a waker has set the deadline, or will set it in a moment
	}
}

// park sleeps on the Go channel.
func (p *connPoller) park(until core.Deadline) {
	var expired <-chan time.Time
	if !until.IsZero() {
		d := time.Until(until)
		if p.timer == nil {
			p.timer = time.NewTimer(d)
		} else {
			p.timer.Reset(d)
		}
		defer p.timer.Stop()
		expired = p.timer.C
	}
	if p.sleep.CompareAndSwap(sleepAwake, sleepParked) {
		select {
		case <-p.token:
		case <-expired:
		}
	}
	p.sleep.Store(sleepAwake)
}

// recordLate is called before the loop sets a deadline. If a waker has not set its
// deadline yet, that deadline will replace the loop's.
func (p *connPoller) recordLate() {
	p.dirty = p.dirty || p.late
	p.late = p.landed.Load() != p.called
}

// readOnce reads until the deadline that was set, and reports whether it found anything:
// input, or an error other than the deadline.
func (p *connPoller) readOnce(conn *connection, until core.Deadline) (found bool) {
	n, err := conn.read(p.buf)
	if p.conn.Load() != conn {
		return false // Read has called Close: the next channel must not get its result
	}
	if p.isDeadline(err, until) {
		p.dirty = true
		err = nil
	}
	if n == 0 && err == nil {
		return false
	}
	p.filled, p.err, p.unread = n, err, true
	p.skipped = 0
	return true
}

// isDeadline reports whether err says that a deadline of the loop (until) or of a waker
// has passed. A timeout alone does not say so: the kernel reports a dead connection as a
// timeout too (ETIMEDOUT, which one read returns, and the next returns the end of the
// stream), and so does a protocol whose peer was silent for too long. Ignored as a
// deadline, such an error would look like an orderly end, or would be polled for ever.
// os.ErrDeadlineExceeded alone is not enough either: many connections outside package net
// return their own timeout error for a deadline. Such an error counts as a deadline if a
// deadline was set and has passed.
func (p *connPoller) isDeadline(err error, until core.Deadline) bool {
	switch {
	case err == nil || err == io.EOF || errors.Is(err, syscall.ETIMEDOUT):
		return false
	case errors.Is(err, os.ErrDeadlineExceeded):
		return true
	}
	var timeout net.Error
	if !errors.As(err, &timeout) || !timeout.Timeout() {
		return false
	}
	passed := !until.IsZero() && !time.Now().Before(until)
	return passed || p.late || p.sleep.Load() == sleepNotified
}

// poll reads input that is already there, as far as a net.Conn allows that. Loop only, while
// awake: no waker sets the deadline.
func (p *connPoller) poll() (found bool) {
	p.skipped = 0
	if !p.watched || p.unread {
		return p.offer()
	}
	patience := shortPoll
	if p.fruitless++; p.fruitless%pollsPerLong == 0 {
		patience = longPoll
	}
	conn := p.conn.Load()
	until := time.Now().Add(patience)
	p.recordLate()
	_ = conn.SetReadDeadline(until)
	p.dirty = true
	if p.readOnce(conn, until) {
		p.fruitless = 0
	}
	return p.offer()
}

// offer makes an event of the input or error that the channel has not taken, and reports whether
// there is one.
func (p *connPoller) offer() bool {
	p.events = p.events[:0]
	if p.unread && p.watched {
		eof := p.err == io.EOF
		p.events = append(p.events, core.PollEvent{
			Token:     p.id,
			Readiness: core.NewReadiness(true, false, eof, p.err != nil && !eof),
		})
	}
	return len(p.events) > 0
}

// Poll implements core.IOPoller.
func (p *connPoller) Poll() error {
	p.poll()
	return nil
}

// Ready implements core.IOPoller.
func (p *connPoller) Ready() []core.PollEvent { return p.events }

// Add implements core.IOPoller. The channel calls Add, Modify and Remove by its
// registration and on its loop, so they need no lock. Any other descriptor is refused
// before a field is touched.
func (p *connPoller) Add(fd int, interest core.Interest, token uint64) error {
	if fd != connFD || p.conn.Load() == nil {
		return errOneConnection
	}
	p.watched, p.id = interest&core.Readable != 0, token
	return nil
}

// Modify implements core.IOPoller.
func (p *connPoller) Modify(fd int, interest core.Interest, token uint64) error {
	return p.Add(fd, interest, token)
}

// Remove implements core.IOPoller.
func (p *connPoller) Remove(fd int) error {
	if fd == connFD {
		p.watched = false
	}
	return nil
}

// Reopen implements core.IOPoller. The poller has no resource of the operating system to
// replace.
func (p *connPoller) Reopen() error {
	p.watched = false
	return nil
}

// Close implements core.Poller. The executor ends on this goroutine soon afterwards.
func (p *connPoller) Close() error {
	if p.closes != nil {
		p.closes()
	}
	return nil
}
