package scale

import "time"

// A Machine has the times of the operations that the simulation charges.
type Machine struct {
	Transfer time.Duration // to move a cache line that another processor has written
	Local    time.Duration // a locked instruction on a line that the processor has already
	Yield    time.Duration // to yield a goroutine, without the scheduler's shared cache line
	Wake     time.Duration // to wake a goroutine that sleeps on a mutex
}

// An Intake is a design of the queue of one loop. It says which cache lines a producer takes to
// submit one task.
type Intake struct {
	Name string
	// Lock: all producers take one mutex, by core's rule: 16 attempts with a yield between
	// two, then a sleep.
	Lock bool
	// Lines are the lines, besides that of the mutex, that a producer writes while it has
	// the mutex.
	Lines int
	// Ticket: a producer increments one counter that all share, and otherwise writes only
	// lines of its own.
	Ticket bool
}

// The intakes that are compared.
var (
	// OneLock is core's: all that a producer writes besides the slot lies in the line of the
	// mutex.
	OneLock = Intake{Name: "one lock", Lock: true}
	// ThreeLines is the same with the counters and the length of the queue in lines of their
	// own.
	ThreeLines = Intake{Name: "one lock, three lines", Lock: true, Lines: 2}
	// Tickets is a queue for each processor; a number from one counter orders the tasks.
	Tickets = Intake{Name: "a queue per processor, tickets", Ticket: true}
	// Clocks is a queue for each processor; a clock that all processors share orders the
	// tasks.
	Clocks = Intake{Name: "a queue per processor, clocks"}
)

// Intakes lists them.
var Intakes = []Intake{OneLock, ThreeLines, Tickets, Clocks}

const (
	slotsPerLine = 8  // func values in a cache line
	lockAttempts = 16 // core's lockTries
)

// Simulate returns the tasks per second that 1 to MostProducers producers submit, each on a
// processor of its own and without a pause between two tasks. It is deterministic. The loop is not
// simulated: it takes the lock once for 256 tasks.
func Simulate(m Machine, in Intake, producers, tasks int) float64 {
	s := simulation{machine: m, intake: in, lines: make([]line, in.Lines), left: tasks, all: make([]processor, producers)}
	for s.left > 0 {
		s.step(s.earliest())
	}
	end := time.Duration(0)
	for _, p := range s.all {
		end = max(end, p.now)
	}
	return float64(tasks) / end.Seconds()
}

// A line is a cache line: one processor writes it at a time, and its requests wait for each
// other; many may have copies to read.
type line struct {
	copies uint64 // a bit for each processor that may read it without a transfer
	free   time.Duration
}

// MostProducers is the greatest number of producers of Simulate.
const MostProducers = 64

// A processor runs one producer.
type processor struct {
	now      time.Duration
	attempts int  // failed, of this task
	looks    bool // has read the mutex, and acts on it in its next step
	holds    bool // the mutex
	written  int  // tasks, for the slots of its own queue
}

type simulation struct {
	machine Machine
	intake  Intake
	all     []processor

	mutex, scheduler, ticket line
	lines                    []line
	locked                   bool
	written                  int // tasks, for the slots of the one queue
	left                     int
}

// earliest returns the processor whose next step is the first.
func (s *simulation) earliest() int {
	first := 0
	for i := range s.all {
		if s.all[i].now < s.all[first].now {
			first = i
		}
	}
	return first
}

// take moves a line to processor i for a locked instruction, and ends all copies.
func (s *simulation) take(l *line, i int) {
	p, own := &s.all[i], uint64(1)<<i
	begin := max(p.now, l.free)
	if l.copies == own {
		p.now = begin + s.machine.Local
	} else {
		p.now = begin + s.machine.Transfer
	}
	l.copies, l.free = own, p.now
}

// read gives processor i a copy of a line, unless it has one.
func (s *simulation) read(l *line, i int) {
	p, own := &s.all[i], uint64(1)<<i
	if l.copies&own == 0 {
		p.now = max(p.now, l.free) + s.machine.Transfer
		l.copies |= own
	}
}

// step is one attempt of processor i, or the end of its critical section.
func (s *simulation) step(i int) {
	p := &s.all[i]
	switch {
	case !s.intake.Lock:
		s.submitAlone(i)
	case p.holds:
		s.take(&s.mutex, i) // other attempts may have taken the line away
		p.holds, s.locked = false, false
		s.left--
	default:
		s.try(i)
	}
}

// try is one attempt at the mutex.
func (s *simulation) try(i int) {
	p := &s.all[i]
	if p.looks = !p.looks; p.looks { // TryLock reads the line before it takes it
		s.read(&s.mutex, i)
		return
	}
	if !s.locked {
		s.take(&s.mutex, i)
		s.locked, p.holds, p.attempts = true, true, 0
		for l := range s.lines {
			s.take(&s.lines[l], i)
		}
		p.now += s.slot(&s.written)
		return
	}
	if p.attempts++; p.attempts > lockAttempts {
		p.attempts = 0
		p.now += s.machine.Wake
		return
	}
	s.take(&s.scheduler, i) // the queue of all goroutines has a lock too
	p.now += s.machine.Yield
}

// submitAlone submits to the processor's own queue: its lock is taken and released.
func (s *simulation) submitAlone(i int) {
	p := &s.all[i]
	if s.intake.Ticket {
		s.take(&s.ticket, i)
	}
	p.now += 2*s.machine.Local + s.slot(&p.written)
	s.left--
}

// slot is the time to write a task into its slot: the first of a line has to fetch it from
// the loop, which has run the tasks in it.
func (s *simulation) slot(written *int) time.Duration {
	*written++
	if *written%slotsPerLine == 1 {
		return s.machine.Transfer
	}
	return 0
}
