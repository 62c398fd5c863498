//go:build !race

package inprocess

// RaceBuild reports whether the race detector watches.
const RaceBuild = false

func raceErrors() int { return 0 }
