package props

import (
	"fmt"
	"slices"
	"time"

	"eventide/core"
	"eventide/props/history"
)

// MeterRead is one Read of the meter of a run.
type MeterRead struct {
	From, To int           // events in the log before and after it
	At       time.Duration // of the log
	Oldest   time.Duration
	Waits    []time.Duration
}

// mostReads bounds the reads that are compared. A meter drops probes only if it has more.
const mostReads = 100

// readMeter reads the meter, and keeps the reading for the comparison with the log.
func (h *harness) readMeter(m *meter) core.Reading {
	h.mu.Lock()
	defer h.mu.Unlock()
	read := MeterRead{From: h.rec.log.Len(), At: time.Since(h.start)}
	r := m.m.Read()
	read.To, read.Oldest, read.Waits = h.rec.log.Len(), r.Oldest, r.Waits
	if len(m.reads) <= mostReads {
		m.reads = append(m.reads, read)
	}
	return r
}

// meterProbe is a sample that the meter of an executor began at a Read: of the time that a task
// accepted at that Read would have waited until it began.
type meterProbe struct {
	after  int // tasks accepted by then
	at     time.Duration
	passed time.Duration // when the last of them began
	taken  time.Duration // when another one began, or the loop slept
	done   bool          // taken is known
}

// meterLog follows the tasks of a run in the log.
type meterLog struct {
	accepted, begun int
	running         bool // a task runs, or the loop sleeps: the meter and the log agree on how many have begun
	asleep          bool
	probes          []meterProbe
}

// wrongReads compares what each Read of the meter of an executor says of waiting tasks with the log. It
// stops where the log does not show how many tasks have begun.
func wrongReads(events []history.Event, reads []MeterRead) string {
	l, n := meterLog{asleep: true}, 0
	for _, read := range reads[:min(len(reads), mostReads)] {
		for ; n < read.From; n++ {
			if !l.next(&events[n]) {
				return ""
			}
		}
		if read.To > read.From || !l.running && !l.asleep {
			return ""
		}
		if wrong := l.read(read); wrong != "" {
			return wrong
		}
	}
	return ""
}

// next takes one event, and reports whether the log still shows how many tasks have begun: a task
// whose future is cancelled has no Begin.
func (l *meterLog) next(e *history.Event) bool {
	task := e.Body == history.BodyTask
	switch {
	case e.Kind == history.Admit && e.Outcome == history.Accepted && e.Op.Tasks() && e.Op != history.OpAfterIteration:
		l.accepted++
	case e.Kind == history.Invoke && e.Op == history.OpCancel, e.Kind == history.Fault && e.Outcome != 0:
		return false
	case e.Kind == history.Begin && task:
		l.begun++
		l.running, l.asleep = true, false
		l.begins(e.At)
	case e.Kind == history.End && task:
		l.running = false
	case e.Kind == history.Park:
		l.asleep = l.accepted == l.begun
		l.rests(e.At)
	case e.Kind == history.Wake, e.Kind == history.Unpark, e.Kind == history.Transit && e.From == history.NotStarted:
		l.asleep = false // a loop that has started is awake until its first sleep
	}
	return true
}

// begins is called at the begin of a task.
func (l *meterLog) begins(at time.Duration) {
	for i := range l.probes {
		p := &l.probes[i]
		switch {
		case p.after == l.begun:
			p.passed = at
		case p.after < l.begun && !p.done:
			p.taken, p.done = at, true
		}
	}
}

// rests is called as the loop begins to sleep.
func (l *meterLog) rests(at time.Duration) {
	for i := range l.probes {
		if p := &l.probes[i]; p.after <= l.begun && !p.done {
			p.taken, p.done = at, true
		}
	}
}

// read compares a Read with the log, and begins the next sample.
func (l *meterLog) read(r MeterRead) string {
	waits, done := r.Waits, 0
	for done < len(l.probes) && l.probes[done].done {
		p := l.probes[done]
		least, most := p.passed-p.at, p.taken-p.at
		i := slices.IndexFunc(waits, func(w time.Duration) bool { return least <= w && w <= most })
		if i < 0 {
			return fmt.Sprintf("a Read at %v has the waits %v, and a task accepted at %v would have waited %v to %v", r.At, r.Waits, p.at, least, most)
		}
		waits = slices.Delete(slices.Clone(waits), i, i+1)
		done++
	}
	l.probes = l.probes[done:]
	if most := len(l.probes) + 2; len(waits) > most { // and a wake-up, and a timer
		return fmt.Sprintf("a Read at %v has the waits %v, want at most %d more than the samples of tasks that have begun", r.At, r.Waits, most)
	}
	if wrong := l.oldest(r); wrong != "" {
		return wrong
	}
	if !l.asleep || l.accepted > l.begun {
		l.probes = append(l.probes, meterProbe{after: l.accepted, at: r.At, passed: r.At})
	}
	return ""
}

// oldest compares the age of the oldest task that waits: it is known since the first Read after the
// task was accepted. While the sample before it is not taken, that is all the meter shows.
func (l *meterLog) oldest(r MeterRead) string {
	want, also := time.Duration(0), time.Duration(0)
	for i, p := range l.probes {
		if p.after > l.begun {
			want = r.At - p.at
			if also = want; i > 0 {
				also = 0
			}
			break
		}
	}
	if r.Oldest != want && r.Oldest != also {
		return fmt.Sprintf("a Read at %v has Oldest %v, want %v", r.At, r.Oldest, want)
	}
	return ""
}
