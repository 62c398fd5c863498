package poll

import "time"

// Lag spaces out the alarms that a poller sets while its Clock is behind them. A
// clock that caches or rounds its readings lets an alarm go off before Now has reached the
// moment that the alarm was set to. The poller sets another one then, or the loop would
// sleep for ever; and not for the nanosecond that may be left by the clock, or the loop
// would be busy until the clock moves. The pause doubles from one such alarm to the next,
// so that the loop is late by no more than the clock, and asks it a few times only (G12).
// Loop only.
type Lag struct {
	pause time.Duration // of the last alarm that found the clock behind; 0: it is not
}

const (
	firstLagPause = 100 * time.Microsecond
	mostLagPause  = 10 * time.Millisecond // for a clock that stands still
)

// Delay returns what to set an alarm to that is due in d by the clock. behind says that
// the last alarm has gone off and that the clock has not reached it.
func (l *Lag) Delay(d time.Duration, behind bool) time.Duration {
	if !behind {
		l.pause = 0
		return d
	}
	l.pause = min(max(2*l.pause, firstLagPause), mostLagPause)
	return max(d, l.pause)
}
