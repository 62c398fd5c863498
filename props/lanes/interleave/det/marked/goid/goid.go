// Package goid is the look-alike of github.com/petermattis/goid for a log: who asks is
// about to write an entry, and that is marked in the trace of the run.
package goid

import (
	"eventide/props/lanes/interleave/det"
	"eventide/props/lanes/interleave/det/goid"
)

// Get is goid.Get. It is no scheduling point.
//
//go:norace
func Get() int64 {
	det.Mark()
	return goid.Get()
}
