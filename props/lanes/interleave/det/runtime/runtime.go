// Package runtime is the look-alike of runtime for the few calls that have to do
// with scheduling.
package runtime

import (
	real "runtime"

	"eventide/props/lanes/interleave/det"
)

// Gosched is runtime.Gosched: the caller goes on when another goroutine has taken a
// step.
//
//go:norace
func Gosched() {
	if !det.Active() {
		real.Gosched()
		return
	}
	det.Yield()
}

// Goexit is runtime.Goexit.
//
//go:norace
func Goexit() {
	det.Exit()
	real.Goexit()
}

// LockOSThread does nothing: threads are not what is scheduled here.
func LockOSThread() {}

// UnlockOSThread does nothing.
func UnlockOSThread() {}

// KeepAlive is runtime.KeepAlive.
func KeepAlive(x any) { real.KeepAlive(x) }

// Stack returns nothing: the numbers of goroutines are the scheduler's, so that a
// goroutine could not be found in the runtime's dump, and a dump stops the world.
func Stack([]byte, bool) int { return 0 }

// Frames is runtime.Frames.
type Frames struct{ frames *real.Frames }

// Next is runtime.Frames.Next.
func (f *Frames) Next() (real.Frame, bool) { return f.frames.Next() }

// Callers is runtime.Callers.
func Callers(skip int, pcs []uintptr) int { return real.Callers(skip+1, pcs) }

// CallersFrames is runtime.CallersFrames.
func CallersFrames(pcs []uintptr) *Frames { return &Frames{real.CallersFrames(pcs)} }
