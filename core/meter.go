package core

import (
	"slices"
	"sync"
	"time"
)

// Meter measures an executor or a pool: how busy it is, how long work waits, and what runs.
// It submits nothing: it does not start or wake the loop, takes no room in the queue, and
// neither restarts a quiet period nor delays the end (G10, G12, G17, G20). A service uses
// package core/watch, which reads meters periodically.
//
// For each of its meters an executor reads the system's clock twice for each sleep of the loop,
// and a pool twice for each sleep of a worker and twice for each body. Both read it once more for
// each sample of a wait. While an executor without WithClock has meters, it also reads the
// system's clock once for each run of a timer. Without a meter the loop compares two numbers in
// each turn.
//
// An executor may have several meters. The methods may be called from any goroutine,
// including from bodies, and by many at once. Close a Meter that is not needed any more.
// The NewMeter methods make meters: the zero Meter is not usable.
type Meter struct {
	// Set once, by NewMeter.
	owner metered
	begun time.Time // all int64 times below are nanoseconds since begun

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
	probes []probe         // without a sample yet, in the order of the queue
	wake   wakeSample
	timer  bool // a sample of the next due timer is wanted
}

// Reading is what a Meter has measured.
type Reading struct {
	Stats   Stats
	Elapsed time.Duration // since NewMeter

	// Busy is the part of Elapsed in which the loop did not sleep. Spins, and polls before a
	// park, count as sleep; polls of a busy loop do not. Of a pool Busy is the time in bodies,
	// summed over the workers, and so may exceed Elapsed.
	Busy time.Duration

	// Waits are the waiting times that were sampled since the last Read:
	//
	//   - If, at a Read, tasks waited or no goroutine was free (the loop, or every worker of
	//     the pool, was busy): the time that a task accepted at that Read would have waited
	//     until it began.
	//   - At the first wake-up: the time from the call that woke the loop until the loop ran.
	//   - At the first due timer: how late it began. With WithClock this is measured on
	//     that clock; everything else is measured on the system's.
	Waits []time.Duration

	// Oldest is a lower bound of how long the oldest accepted task that has not begun has
	// waited: the time since the first Read after it was accepted, or 0 before that Read. After
	// more than 128 Reads beside waiting tasks, it may be the time since a later Read. Tasks of
	// ExecuteAfterIteration are not included; those of ExecuteLazy are.
	Oldest time.Duration

	// Running are the bodies that run now: at most one, except in a Pool.
	Running []RunningBody
}

// RunningBody identifies a run of a body. If two readings of one Meter have equal values,
// they are the same run.
type RunningBody struct {
	Kind      Body
	Number    int64 // unique among the runs of this kind; an executor counts them from 1
	Goroutine int64 // the id that stack traces show
}

// probe marks a position in the queue of tasks: its field after is the number of the last task
// before that position, and at is the time when the probe was made.
type probe struct{ after, at int64 }

// wakeSample measures the first wake-up after a Read.
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

// metered has the methods of an executor or a pool that its meters call.
type metered interface {
	mutex() *sync.Mutex
	readMeter(*Meter) Reading // requires the mutex
	removeMeter(*Meter)       // requires the mutex
}

// Read returns what the meter has measured, and begins the next samples of waits. It holds
// the lock of Execute for less than a microsecond, or longer in a pool with very many
// workers. Call it at intervals of some milliseconds to a second.
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

// Stack returns the stack of the goroutine that runs body, or "" if body has ended. To
// read the stack, Stack stops all goroutines of the process for a moment. For the text
// "(stack not found)" see Report.Running.
func (m *Meter) Stack(body RunningBody) string {
	if !m.runs(body) {
		return ""
	}
	stack := stackOf(body.Goroutine)
	if !m.runs(body) { // then the stack may be that of a later body
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

// begin begins the next samples. after is the number of accepted tasks, and begun the number
// of those that have begun. free is true if the loop sleeps, or if fewer workers of the pool are
// busy than its size: a task accepted now would begin after one wake-up or start.
func (m *Meter) begin(after, begun int64, free bool) {
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

// oldest returns the age of the first probe behind a task that has not begun, or 0.
func (m *Meter) oldest(begun int64) time.Duration {
	for _, p := range m.probes {
		if p.after > begun {
			return time.Duration(m.now() - p.at)
		}
	}
	return 0
}

// takeSamples removes the probes at positions up to begun, and records a waiting time for each: a
// task accepted just behind the probe would begin now.
func (m *Meter) takeSamples(begun, now int64) {
	n := 0
	for n < len(m.probes) && m.probes[n].after <= begun {
		m.add(now - m.probes[n].at)
		n++
	}
	m.probes = slices.Delete(m.probes, 0, n)
}

func (m *Meter) add(wait int64) { m.waits = append(m.waits, time.Duration(max(0, wait))) }

// callerWakes begins the sample of a wake-up, if one is wanted.
func (m *Meter) callerWakes(w *worker) {
	if m.wake.state == sampleWanted {
		m.wake = wakeSample{sampleBegun, m.now(), w}
	}
}

// loopWoke ends the sample that callerWakes has begun.
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
