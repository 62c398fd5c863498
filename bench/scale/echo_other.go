//go:build !linux

package scale

import (
	"errors"
	"time"
)

var errNoLoops = errors.New("event loops need Linux")

type echo struct {
	loops, connections int
	lasts              time.Duration
}

func (echo) run() (float64, error) { return 0, errNoLoops }

func lacks(int) string { return errNoLoops.Error() }
