// Package inprocess runs functions under chosen schedules, one after the other, in a
// process that was built with the overlay of package overlay and the tag interleave, and
// that is no test which the command runs. A program that has a judge of its own, and many
// small things to judge, uses it: a schedule takes microseconds, and its verdict is a
// value.
//
// A strategy chooses the goroutine that goes on at each operation on channels, locks,
// atomic variables and the like. Time is virtual: operations and clock readings cost no
// time, and the clock moves to the next timer when no goroutine can run. In a binary that
// was built without the overlay, Controlled returns false, and Run panics.
//
// The package may be called by one goroutine at a time, and not by a function that Run
// runs. Turn the collector off by debug.SetGCPercent(-1): Run collects between two
// schedules when it is due, and a collection during a schedule may change it.
package inprocess
