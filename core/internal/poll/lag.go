package poll

import "time"

// Lag delays the alarms that a poller sets while its Clock is behind them. With a clock
// that caches or rounds its readings, an alarm can fire before Now has reached the time
// of the alarm. The poller must then set another alarm, or the loop would sleep for ever.
// An alarm for the remaining time alone, perhaps one nanosecond, would keep the loop busy
// until the clock moves. So the delay doubles from one such alarm to the next: the loop is
// late by about the lag of the clock at most, and reads the clock only a few times (G12). Loop
// only.
type Lag struct {
	pause time.Duration // delay of the last alarm that found the clock behind; 0: the clock is not behind
}

const (
	firstLagPause = 100 * time.Microsecond
	mostLagPause  = 10 * time.Millisecond // for a clock that stands still
)

// Delay returns the delay of an alarm for a time that is d ahead by the clock. behind
// says that the last alarm has gone off and the clock has not reached its time.
func (l *Lag) Delay(d time.Duration, behind bool) time.Duration {
	if !behind {
		l.pause = 0
		return d
	}
	l.pause = min(max(2*l.pause, firstLagPause), mostLagPause)
	return max(d, l.pause)
}
