package driver

import (
	"fmt"
	"time"
)

// verdictOutside is a schedule that waited for what is outside of control for so long
// that the driver ended it: inconclusive, as those of protocol.Inconclusive.
const verdictOutside = "outside"

// mostStalls is how often a process that waits for the world outside may use up the limit of the
// watchdog before it is killed.
const mostStalls = 3

// spinSamples are the looks at the threads of a process of which each has to find one
// that runs, for the process to count as one that spins.
const spinSamples = 5

// A stall is a process that came to no operation for the limit of its watchdog.
type stall struct {
	pid   int
	limit time.Duration
	until time.Time // after which it is killed even if it waits for the world outside
	child string    // that it waits for; "" for none
	away  bool      // it waits for the kernel
}

// over says whether the process is to be killed. away says that the engine waits for a
// system call or a descriptor of the kernel. A process that waits for the world outside
// has more time: that goes on in real time, and may be a compiler.
func (s *stall) over(away bool) bool {
	s.child, s.away = "", away
	if away || !spins(s.pid) {
		s.child = childOf(s.pid)
	}
	return s.child == "" && !s.away || time.Now().Add(s.limit).After(s.until)
}

// spins says whether a thread of the process runs at each of a few looks.
func spins(pid int) bool {
	for range spinSamples {
		if !threadRuns(pid) {
			return false
		}
		time.Sleep(2 * time.Millisecond) // between samples
	}
	return true
}

// finding is what the stall shows.
func (s *stall) finding() (verdict, message string) {
	if s.child != "" {
		return verdictOutside, fmt.Sprintf("the test waits for the process %s, which is outside of control", s.child)
	}
	if s.away {
		return verdictOutside, "the test waits for a system call or a descriptor of the kernel, which are outside of control"
	}
	return verdictHung, fmt.Sprintf("the schedule came to no operation for %v, and did not end", s.limit)
}
