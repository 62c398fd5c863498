// Package interleave explores programs on core under schedules that it chooses: the
// interleave lane. It works in a binary that package build has built with the overlay of
// the Go runtime, in which package inprocess chooses the goroutine that runs next. In
// any other binary it refuses to run, because it would find nothing.
//
// The programs, their driver and the properties are those of package props, so the
// virtual lane and this lane have the same judge. Event loops sleep on the scripted
// poller of props. Its calls are scheduling points, and its faults are steps of the
// program.
package interleave
