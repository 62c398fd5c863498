package scale

import (
	"math"
	"testing"
	"time"
)

var machine = Machine{Transfer: 100 * time.Nanosecond, Local: 5 * time.Nanosecond, Yield: 200 * time.Nanosecond, Wake: 5 * time.Microsecond}

// TestSimulationOfOneProducer: the time of a task is the sum of its instructions.
func TestSimulationOfOneProducer(t *testing.T) {
	const tasks = 8000
	for _, c := range []struct {
		intake  Intake
		perTask time.Duration // without the eighth of a line for its slot
	}{
		{OneLock, 2 * machine.Local},    // take, release
		{ThreeLines, 4 * machine.Local}, // take, two lines, release
		{Tickets, 3 * machine.Local},    // counter, take, release
		{Clocks, 2 * machine.Local},
	} {
		want := 1 / (c.perTask.Seconds() + machine.Transfer.Seconds()/slotsPerLine)
		if got := Simulate(machine, c.intake, 1, tasks); math.Abs(got/want-1) > 0.01 {
			t.Errorf("%s: got %.0f tasks/s, want %.0f", c.intake.Name, got, want)
		}
	}
}

// TestSimulatedLimits: one counter that all processors increment moves once for each task, and
// no intake that shares it is faster; queues that share nothing grow with the processors.
func TestSimulatedLimits(t *testing.T) {
	const tasks = 64_000
	atMost := 1 / machine.Transfer.Seconds()
	if got := Simulate(machine, Tickets, 64, tasks); got > 1.01*atMost || got < 0.95*atMost {
		t.Errorf("tickets of 64 processors: got %.0f tasks/s, want %.0f", got, atMost)
	}
	one, many := Simulate(machine, Clocks, 1, tasks), Simulate(machine, Clocks, 64, tasks)
	if many < 60*one {
		t.Errorf("queues that share nothing: got %.0f tasks/s on 64 processors, want 64 times the %.0f of one", many, one)
	}
	for _, in := range []Intake{OneLock, ThreeLines} {
		if got := Simulate(machine, in, 64, tasks); got > atMost {
			t.Errorf("%s: got %.0f tasks/s on 64 processors, want at most %.0f: the line of the mutex moves for each", in.Name, got, atMost)
		}
	}
}

// TestTheMutexExcludes: a critical section lasts until its release, and nothing is counted
// twice.
func TestTheMutexExcludes(t *testing.T) {
	s := simulation{machine: machine, intake: ThreeLines, lines: make([]line, ThreeLines.Lines), left: 1000, all: make([]processor, 8)}
	done := 0
	for s.left > 0 {
		before := s.left
		s.step(s.earliest())
		done += before - s.left
		holders := 0
		for _, p := range s.all {
			if p.holds {
				holders++
			}
		}
		if holders > 1 || (holders == 1) != s.locked {
			t.Fatalf("%d processors hold the mutex, locked is %v", holders, s.locked)
		}
	}
	if done != 1000 {
		t.Errorf("got %d tasks, want 1000", done)
	}
}

func TestSimulationIsDeterministic(t *testing.T) {
	for _, in := range Intakes {
		if a, b := Simulate(machine, in, 16, 5000), Simulate(machine, in, 16, 5000); a != b {
			t.Errorf("%s: got %v and %v tasks/s", in.Name, a, b)
		}
	}
}
