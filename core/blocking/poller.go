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

// connFD is the number under which the connection is registered with its loop. It
// stands for no descriptor; nobody's real one is as large.
const connFD = math.MaxInt32

// errOneConnection is why an executor does not watch a descriptor.
var errOneConnection = errors.New("the executor of a blocking channel watches its connection only")

// connPoller is where the executor of a channel sleeps: in a Read of the
// connection. To wake it is to set the read deadline to the past. Without a
// connection, or when nobody wants its input, it sleeps on a Go channel.
//
// What keeps a wake-up from being lost (as in core's parked poller):
//
//  1. Wakers set a deadline only in the past, and only after they have moved sleep
//     from sleepReading to sleepNotified. The loop sets any other deadline only
//     while awake. So from the announcement until the loop is awake again nobody can
//     overwrite a deadline in the past.
//  2. The deadline is set before the sleep is announced. The other way round that
//     may overwrite the wake-up of one who saw the announcement.
//  3. A return means "look again" and nothing else. A slow waker's deadline may land
//     in a later sleep. If it has passed when Read begins, that returns without
//     looking for input; so under a stream of wake-ups input is looked for by count.
//
// What was read stays here until the channel takes it, and no Read begins before
// that: readiness is a level, as with epoll.
type connPoller struct {
	// Set once.
	token  chan struct{} // capacity 1: wakes who sleeps without a connection
	closes func()        // called by Close; nil: nobody wants to know

	// Atomic.
	sleep  atomic.Int32
	conn   atomic.Pointer[connection] // nil: none is attached
	landed atomic.Int64               // wakers who were to set a deadline, and have

	// Loop goroutine only.
	buf       []byte
	filled    int   // bytes of buf that the channel has not taken
	err       error // what the last Read ended with, if it was not a deadline
	unread    bool  // filled or err is there to be taken
	watched   bool  // the channel wants input
	id        uint64
	events    []core.PollEvent
	timer     *time.Timer
	dirty     bool  // conn has a deadline, or a waker is about to set one
	called    int64 // wakers who were to set a deadline
	late      bool  // one of them had not yet, when the loop last set its own
	skipped   int   // calls of Wait since input was last looked for
	fruitless int   // looks in a row that found nothing
}

// The handshake of sleep. The loop alone moves to awake and, from there, to parked
// or reading; wakers move to notified.
const (
	sleepAwake int32 = iota
	sleepParked
	sleepReading
	sleepNotified
)

const (
	// lookEvery bounds the calls of Wait that return without looking for input.
	lookEvery = 16

	// A look without waiting is a Read with a deadline that is short, but not so
	// short that it has passed before Read begins: then it would not look. In case
	// it has, time and again, because the processors are busy, each sixteenth is
	// given more.
	shortLook    = 5 * time.Microsecond
	longLook     = time.Millisecond
	looksPerLong = 16
)

// longPast is in the past of every clock: of one that was stepped back, and of the
// virtual one of a test with testing/synctest, which begins in the year 2000. The
// tempting wrong one, an hour before the start of the program, is in its future.
var longPast = time.Unix(1, 0)

func newConnPoller() *connPoller {
	return &connPoller{token: make(chan struct{}, 1), events: make([]core.PollEvent, 0, 1)}
}

// attach gives the poller a connection. It is watched from Add on. Loop only.
func (p *connPoller) attach(conn connection, size int) {
	p.buf = make([]byte, size)
	p.dirty = true // by a waker of its predecessor, perhaps
	p.conn.Store(&conn)
}

// detach undoes attach, after Remove. Loop only. A slow waker may still hold the
// connection: it sets the deadline of one that nobody reads any more.
func (p *connPoller) detach() {
	p.conn.Store(nil)
	p.buf, p.filled, p.err, p.unread, p.dirty = nil, 0, nil, false, false
	p.skipped, p.fruitless = 0, 0
}

// take hands over what was read. The bytes are valid until the next Wait or Poll.
// Loop only.
func (p *connPoller) take() ([]byte, error) {
	b, err := p.buf[:p.filled], p.err
	p.filled, p.unread, p.err = 0, false, nil
	return b, err
}

// Wake is Poller's.
func (p *connPoller) Wake() {
	if p.sleep.Load() == sleepNotified {
		return
	}
	switch p.sleep.Swap(sleepNotified) {
	case sleepParked:
		select {
		case p.token <- struct{}{}:
		default: // a slow waker's is still there; it will do
		}
	case sleepReading:
		if conn := p.conn.Load(); conn != nil {
			_ = conn.SetReadDeadline(longPast) // fails if it is closed: then Read has returned
		}
		p.landed.Add(1)
	}
}

// taken reports whether a Wake was pending, and takes it. Nobody saw the loop
// asleep, so that neither the deadline nor the token was touched. Loop only.
func (p *connPoller) taken() bool {
	return p.sleep.Load() == sleepNotified && p.sleep.CompareAndSwap(sleepNotified, sleepAwake)
}

// Wait is Poller's. It never fails: an error of the connection is the channel's.
func (p *connPoller) Wait(until core.Deadline) error {
	if p.offer() {
		return nil
	}
	if p.skipped >= lookEvery && p.look() {
		return nil
	}
	if p.taken() {
		p.skipped++
		return nil
	}
	if !until.IsZero() && time.Until(until) <= 0 {
		p.look()
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

// read sleeps in the connection.
func (p *connPoller) read(until core.Deadline) {
	conn := p.conn.Load()
	p.noteLate()
	if p.dirty || !until.IsZero() {
		_ = conn.SetReadDeadline(until) // fails if it is closed: Read will say so
		p.dirty = !until.IsZero()
	}
	if !p.sleep.CompareAndSwap(sleepAwake, sleepReading) {
		p.sleep.Store(sleepAwake)
		p.skipped++
		return
	}
	looked := p.readOnce(conn, until)
	if p.sleep.Swap(sleepAwake) == sleepNotified {
		p.called++
		p.dirty = true // by a waker who has set the deadline, or will in a moment
	}
	if !looked {
		p.skipped++
	}
}

// park sleeps without the connection.
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

// noteLate is called before the loop sets a deadline: that of a waker who is still
// on the way will be in force instead, one day.
func (p *connPoller) noteLate() {
	p.dirty = p.dirty || p.late
	p.late = p.landed.Load() != p.called
}

// readOnce reads until the deadline that was set, and reports whether it found
// anything: input, or an error that is not the deadline.
func (p *connPoller) readOnce(conn *connection, until core.Deadline) (found bool) {
	n, err := conn.read(p.buf)
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

// isDeadline reports whether err says that a deadline has passed which the loop, with
// until, or a waker has set. It is not enough that it is a timeout: a dead connection
// is one too, for the kernel (ETIMEDOUT, which a read returns once, and then the end
// of the stream) and for a protocol that knows when its peer is silent for too long.
// Whoever looks again then finds an orderly end, or looks for ever. But neither may
// it be os.ErrDeadlineExceeded alone: many connections that are not of package net
// have a timeout of their own for it. From them it is believed if there was a
// deadline that has passed.
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

// look asks for input without waiting for it, as far as that is possible with a
// net.Conn. Loop only, and awake: no waker touches the deadline.
func (p *connPoller) look() (found bool) {
	p.skipped = 0
	if !p.watched || p.unread {
		return p.offer()
	}
	patience := shortLook
	if p.fruitless++; p.fruitless%looksPerLong == 0 {
		patience = longLook
	}
	conn := p.conn.Load()
	until := time.Now().Add(patience)
	p.noteLate()
	_ = conn.SetReadDeadline(until)
	p.dirty = true
	if p.readOnce(conn, until) {
		p.fruitless = 0
	}
	return p.offer()
}

// offer makes an event of what is there to be taken.
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

// Poll is IOPoller's.
func (p *connPoller) Poll() error {
	p.look()
	return nil
}

// Ready is IOPoller's.
func (p *connPoller) Ready() []core.PollEvent { return p.events }

// Add is IOPoller's. The channel calls it, and Modify and Remove, by its
// registration and on its loop: they need no lock. What others try to register is
// refused before any field is touched.
func (p *connPoller) Add(fd int, interest core.Interest, token uint64) error {
	if fd != connFD || p.conn.Load() == nil {
		return errOneConnection
	}
	p.watched, p.id = interest&core.Readable != 0, token
	return nil
}

// Modify is IOPoller's.
func (p *connPoller) Modify(fd int, interest core.Interest, token uint64) error {
	return p.Add(fd, interest, token)
}

// Remove is IOPoller's.
func (p *connPoller) Remove(fd int) error {
	if fd == connFD {
		p.watched = false
	}
	return nil
}

// Reopen is IOPoller's: there is nothing of the operating system's to replace.
func (p *connPoller) Reopen() error {
	p.watched = false
	return nil
}

// Close is Poller's. The executor ends on this goroutine, soon after.
func (p *connPoller) Close() error {
	if p.closes != nil {
		p.closes()
	}
	return nil
}
