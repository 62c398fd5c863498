// Package goid is the look-alike of github.com/petermattis/goid: the scheduler's
// numbers of goroutines, so that a schedule that runs twice sees the same ones.
package goid

import (
	real "github.com/petermattis/goid"

	"eventide/props/lanes/interleave/det"
)

// Get is goid.Get. It is no scheduling point: no other goroutine can tell when it
// was called.
//
//go:norace
func Get() int64 {
	if id, ok := det.Goid(); ok {
		return id
	}
	return real.Get()
}
