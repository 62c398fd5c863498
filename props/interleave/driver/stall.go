package driver

import (
	"fmt"
	"time"
)

// verdictOutside is a schedule that waited so long for something outside of control
// that the driver killed it. It is inconclusive, like the verdicts of
// protocol.Inconclusive.
const verdictOutside = "outside"

// mostStalls is how often a process that waits for the world outside may use up the limit of the
// watchdog before it is killed.
const mostStalls = 3

// spinSamples is how often the threads of a process are sampled. The process counts as
// spinning only if each sample has a running thread.
const spinSamples = 5

// A stall is a process that made no operation for the limit of its watchdog.
type stall struct {
	pid   int
	limit time.Duration
	until time.Time // after which it is killed even if it waits for the world outside
	child string    // that it waits for; "" for none
	away  bool      // it waits for the kernel
}

// over says whether the process is to be killed. away says that the engine waits for a
// system call or a descriptor of the kernel. A process that waits for the world outside
// gets more time, because it may wait for a compiler, say, which runs in real time.
func (s *stall) over(away bool) bool {
	s.child, s.away = "", away
	if away || !spins(s.pid) {
		s.child = childOf(s.pid)
	}
	return s.child == "" && !s.away || time.Now().Add(s.limit).After(s.until)
}

// spins says whether each of a few samples has a running thread of the process.
func spins(pid int) bool {
	for range spinSamples {
		if !threadRuns(pid) {
			return false
		}
		time.Sleep(2 * time.Millisecond) // between samples
	}
	return true
}

// finding returns the verdict and the message of the stall.
func (s *stall) finding() (verdict, message string) {
	if s.child != "" {
		return verdictOutside, fmt.Sprintf("the test waits for the process %s, which is outside of control", s.child)
	}
	if s.away {
		return verdictOutside, "the test waits for a system call or a descriptor of the kernel, which are outside of control"
	}
	return verdictHung, fmt.Sprintf("the schedule made no operation for %v and did not end", s.limit)
}
