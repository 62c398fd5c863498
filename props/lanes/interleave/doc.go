// Package interleave explores programs on core under schedules that it chooses: the
// interleave lane. It works in a binary that package build has built with the overlay of
// the Go runtime, in which package inprocess chooses the goroutine that goes on. In any
// other binary it refuses to run: it would find nothing.
//
// The programs, their driver and the properties are those of package props: what
// judges the virtual lane judges this one. Event loops sleep on its scripted poller,
// whose calls are scheduling points, and whose faults are steps of the program.
package interleave
