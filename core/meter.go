package core

import (
	"sync"
	"time"
)

// Meter measures an executor or a pool: how busy it is, how long work waits, and what runs.
// It submits nothing: it does not start or wake the loop, takes no room in the queue, and
// neither restarts a quiet period nor delays the end (G10, G12, G17, G20). Package
// core/watch reads meters periodically, and is what a service uses.
//
// While an executor has a meter, its loop reads the system's clock twice for each sleep, a
// pool twice for each body, and both once more for each sample of a wait. Without a meter
// the loop compares two numbers in each turn.
//
// An executor may have several meters. The methods may be called from any goroutine, inside
// a body too, and by many at once. Close a Meter that is not needed any more.
type Meter struct {
	// Set once, by NewMeter.
	owner metered
	begun time.Time // all int64 times below are nanoseconds since then

	// Guarded by the owner's mutex.
	closed bool

	// Of an executor: idle is the time that the loop has slept, except for the current
	// sleep, which began at idleFrom.
	idle     int64
	idleFrom int64 // -1: the loop is awake

	// Of a pool: busy is the time that bodies have run, summed over the workers, until
	// busyUntil.
	busy, busyUntil int64

	waits  []time.Duration // since the last Read
	probes []probe         // not yet reached, in order
	wake   wakeSample
	timer  bool // a sample of the next due timer is wanted
}

// Reading is what a Meter has measured.
type Reading struct {
	Stats   Stats
	Elapsed time.Duration // since NewMeter

	// Busy is the part of Elapsed in which the loop did not sleep; polls and spins count
	// as sleep. Of a pool it is the time in bodies, summed over the workers, and so may
	// exceed Elapsed.
	Busy time.Duration

	// Waits are samples, taken since the last Read, of how long work waited before the loop
	// was free for it:
	//
	//   - For each Read at which tasks waited or a body ran: how long a task that was
	//     accepted at that Read would have waited. All tasks accepted before have ended by then.
	//   - Of the first wake-up: the time from the call that woke the loop until the loop ran.
	//   - Of the first due timer: how late it began. An Executor with WithClock measures
	//     this on that clock; everything else is measured on the system's.
	Waits []time.Duration

	// Oldest is for how long at least the oldest accepted task that has not begun has
	// waited, or 0. Of a task accepted after the last Read nothing is known yet. Tasks of
	// ExecuteAfterIteration are not included; those of ExecuteLazy are.
	Oldest time.Duration

	// Running are the bodies that run now: at most one, except in a Pool.
	Running []RunningBody
}

// RunningBody identifies a run of a body. Equal values in two readings of one Meter are one
// run.
type RunningBody struct {
	Kind      Body
	Number    int64 // among the runs of its kind; it has no other meaning
	Goroutine int64 // the id that stack traces show
}

// probe is a position in the queue of tasks: after the task with this number.
type probe struct{ after, at int64 }

// wakeSample is about the first wake-up after a Read.
type wakeSample struct {
	state  sampleState
	at     int64   // of the call that woke the loop
	worker *worker // of a pool: the worker that was woken
}

type sampleState uint8

const (
	sampleNone sampleState = iota
	sampleWanted
	sampleBegun
)

// metered is an executor or a pool, as its meters see it.
type metered interface {
	mutex() *sync.Mutex
	readMeter(*Meter) Reading // requires the mutex
	removeMeter(*Meter)       // requires the mutex
}

// Read returns what the meter has measured, and begins the next samples of waits. It holds
// the lock of Execute for less than a microsecond, or longer in a pool with very many
// workers. The readings are best some milliseconds to a second apart.
func (m *Meter) Read() Reading {
	mu := m.owner.mutex()
	mu.Lock()
	defer mu.Unlock()
	r := m.owner.readMeter(m)
	if !m.closed {
		r.Elapsed = time.Duration(m.now())
	}
	r.Waits, m.waits = m.waits, nil
	return r
}

// Stack returns the stack of the goroutine that runs body, and of no other, or "" if body
// has ended. To get the stack it stops all goroutines; the stack is "(stack not found)" as
// in Report.Running.
func (m *Meter) Stack(body RunningBody) string {
	if !m.runs(body) {
		return ""
	}
	stack := stackOf(body.Goroutine)
	if !m.runs(body) { // the stack may be that of a later body
		return ""
	}
	return stack
}

func (m *Meter) runs(body RunningBody) bool {
	mu := m.owner.mutex()
	mu.Lock()
	defer mu.Unlock()
	for _, b := range m.owner.readMeter(nil).Running {
		if b == body {
			return true
		}
	}
	return false
}

// Close ends the measurements. Later readings have Stats and Running alone. Further calls
// have no effect.
func (m *Meter) Close() {
	mu := m.owner.mutex()
	mu.Lock()
	defer mu.Unlock()
	if !m.closed {
		m.owner.removeMeter(m)
	}
	m.closed, m.probes, m.waits = true, nil, nil
}

func (m *Meter) now() int64 { return int64(time.Since(m.begun)) }

// maxProbes bounds the probes of a meter. If there are more, every second one is dropped:
// with a backlog of hours the samples are coarser, and the memory is the same.
const maxProbes = 128

// begin begins the next samples. after is the number of the last accepted task, begun that
// of the last that has begun; free says that a task accepted now would only have to wake
// the loop.
func (m *Meter) begin(after, begun int64, free bool) {
	if m.closed {
		return
	}
	m.timer = true
	if m.wake.state == sampleNone {
		m.wake.state = sampleWanted
	}
	if free && after == begun {
		return
	}
	if len(m.probes) == maxProbes {
		kept := m.probes[:0]
		for i := 0; i < maxProbes; i += 2 {
			kept = append(kept, m.probes[i])
		}
		m.probes = kept
	}
	m.probes = append(m.probes, probe{after, m.now()})
}

// oldest returns the age of the first probe that tasks before it hold up, or 0.
func (m *Meter) oldest(begun int64) time.Duration {
	if len(m.probes) == 0 || m.probes[0].after <= begun {
		return 0
	}
	return time.Duration(m.now() - m.probes[0].at)
}

// reach ends the probes up to begun: the loop would begin a task after them now.
func (m *Meter) reach(begun, now int64) {
	n := 0
	for n < len(m.probes) && m.probes[n].after <= begun {
		m.add(now - m.probes[n].at)
		n++
	}
	m.probes = append(m.probes[:0], m.probes[n:]...)
}

func (m *Meter) add(wait int64) { m.waits = append(m.waits, time.Duration(max(0, wait))) }

// callerWakes begins the sample of a wake-up, if one is wanted.
func (m *Meter) callerWakes(w *worker) {
	if m.wake.state == sampleWanted {
		m.wake = wakeSample{sampleBegun, m.now(), w}
	}
}

// loopWoke ends that sample.
func (m *Meter) loopWoke(w *worker, now int64) {
	if m.wake.state == sampleBegun && m.wake.worker == w {
		m.add(now - m.wake.at)
		m.wake = wakeSample{}
	}
}

// timerBegins takes a sample of a timer, if one is wanted.
func (m *Meter) timerBegins(late int64) {
	if m.timer {
		m.timer = false
		m.add(late)
	}
}
