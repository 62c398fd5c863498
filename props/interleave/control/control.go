package control

import "time"

// Chosen reports whether a schedule is under way that the command chose. Any goroutine
// may call it.
func Chosen() bool { return chosen() }

// Plain reports whether the command runs the test once without control on purpose, to
// learn whether it passes at all.
func Plain() bool { return plain }

// Stamp returns a number greater than each it returned before. No other goroutine gets
// the turn there, and the race detector sees no access. Call it only where Chosen is true.
func Stamp() int64 { return stamp() }

// Now is the time on the virtual clock of the schedule. Unlike time.Now, it is no
// operation: no other goroutine gets the turn there. Call it only where Chosen is true.
func Now() time.Duration { return time.Duration(now()) }

// Operations is how many operations the schedule has had: on channels, locks, atomic
// variables and the like, of all goroutines. Call it only where Chosen is true.
func Operations() uint64 { return operations() }
