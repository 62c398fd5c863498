package blocking

import "time"

// closeLimit is the time that Close leaves to calls that block in the connection: writes,
// the handshake, the close alert of TLS. Only time inside the connection counts. While
// the executor runs a task, a cut would not free the executor, and would lose flushed bytes
// although the peer reads. Guarded by Channel.mu.
type closeLimit struct {
	inside bool // the executor is inside the connection
	set    bool // by Close
	left   time.Duration
	since  time.Time // when left began to run down; zero: it does not
	alarm  alarm     // for the end of left
	turn   int       // counts alarms: an alarm of an earlier turn has no effect
	fired  []alarm   // alarms that could not be stopped; shut waits for them
}

// limit starts the limit for Close. Only the first call has an effect. Requires mu.
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

// inside calls f, which may block in the connection, with mu released. If Close has left no
// time, it returns an error and does not call f. Loop only; requires mu.
func (ch *Channel) inside(f func() error) error {
	if err := ch.enter(); err != nil {
		return err
	}
	defer ch.leave()
	ch.mu.Unlock()
	defer ch.mu.Lock()
	return f()
}

// enter precedes a call that may block in the connection, and leave follows it. enter
// returns an error if Close has left no time for the call; leave then has no effect. Loop
// only; requires mu.
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
		l.fired = append(l.fired, l.alarm)
	}
}

// startLimit sets the alarm for the rest of the limit. Requires mu.
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
