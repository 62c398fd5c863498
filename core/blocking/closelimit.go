package blocking

import "time"

// closeLimit is the time that Close leaves to what blocks in the connection: writes,
// the handshake, the goodbye of TLS. Only time in these counts: an executor that is
// at a task holds up nothing that a cut could free, and what was flushed would be
// lost though the peer reads. Guarded by Channel.mu.
type closeLimit struct {
	inside bool // the executor is in the connection
	set    bool // by Close
	left   time.Duration
	since  time.Time // from when left is running out; zero: it is not
	alarm  alarm     // for its end
	turn   int       // counts alarms: one that was too late does nothing
	rung   []alarm   // that could not be called off; shut waits for them
}

// limit makes the limit that of a Close. The first call counts. Requires mu.
func (ch *Channel) limit() {
	l := &ch.closeLimit
	if l.set {
		return
	}
	l.set, l.left = true, ch.cfg.closeTimeout
	if l.inside {
		ch.startLimit()
	}
}

// enter comes before what may block in the connection, and leave after it. If Close
// has left no time for it, that is the error. Loop only; requires mu.
func (ch *Channel) enter() error {
	l := &ch.closeLimit
	if l.set && l.left <= 0 {
		if ch.cutBy == nil {
			ch.cutBy = ErrCloseDeadline
		}
		return ErrCloseDeadline
	}
	l.inside = true
	if l.set {
		ch.startLimit()
	}
	return nil
}

// leave undoes enter.
func (ch *Channel) leave() {
	l := &ch.closeLimit
	l.inside = false
	if l.since.IsZero() {
		return
	}
	l.left -= time.Since(l.since)
	l.since = time.Time{}
	if !l.alarm.stop() {
		l.rung = append(l.rung, l.alarm)
	}
}

// startLimit requires mu.
func (ch *Channel) startLimit() {
	l := &ch.closeLimit
	l.turn++
	turn := l.turn
	l.since = time.Now()
	l.alarm = whenPassed(l.left, func() { ch.limitPassed(turn) })
}

func (ch *Channel) limitPassed(turn int) {
	ch.mu.Lock()
	l := &ch.closeLimit
	blocked := l.inside && l.turn == turn
	ch.mu.Unlock()
	if blocked {
		ch.cut(ErrCloseDeadline)
	}
}
