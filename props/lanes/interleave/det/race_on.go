//go:build race

package det

import (
	"runtime"
	"unsafe"
)

// RaceBuild says whether the detector watches.
const RaceBuild = true

// raceOff hides the scheduler's own hand-overs: were they seen, they would order
// everything, and no race could ever be found.
//
//go:norace
func raceOff() { runtime.RaceDisable() }

//go:norace
func raceOn() { runtime.RaceEnable() }

//go:norace
func raceRelease(p unsafe.Pointer) { runtime.RaceReleaseMerge(p) }

//go:norace
func raceAcquire(p unsafe.Pointer) { runtime.RaceAcquire(p) }

// raceErrors counts the races reported so far.
func raceErrors() int { return runtime.RaceErrors() }
