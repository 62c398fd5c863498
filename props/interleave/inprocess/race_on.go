//go:build race

package inprocess

import "runtime"

// RaceBuild reports whether the race detector watches.
const RaceBuild = true

func raceErrors() int { return runtime.RaceErrors() }
