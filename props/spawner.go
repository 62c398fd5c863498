package props

import (
	"errors"
	"time"
)

// slowStart is how long a slow spawner takes.
const slowStart = 5 * time.Millisecond

var errRefusedStart = errors.New("props: the spawner refuses")

// spawn is the executor's spawner: it returns the results of the program.
func (h *harness) spawn(loop func()) error {
	h.mu.Lock()
	start := StartOK
	if len(h.starts) > 0 {
		start, h.starts = h.starts[0], h.starts[1:]
	}
	h.mu.Unlock()
	switch start {
	case StartRefused:
		return errRefusedStart
	case StartPanic:
		panic("props: the spawner panics")
	case StartInline:
		loop()
		return nil
	case StartSlow:
		time.Sleep(slowStart)
	case StartCallback:
		h.call(h.extraTask())
	case StartTwice:
		go loop()
	case StartLate:
		go loop()
		return errRefusedStart
	}
	go loop()
	return nil
}
