package netty

import (
	"slices"
	"strconv"
)

// gap is the time in milliseconds between two steps outside, unless the loop is held:
// enough for the loop to finish.
const gap = 20

// world is the time of a machine and the events that do not depend on the loop: the steps
// outside, at fixed times, and alarms. The machine runs until its loop sleeps or a body
// takes time, and then lets the world advance.
type world struct {
	now     int
	steps   []timedStep // steps of the goroutine outside that have not been made
	outside func(*Step)
	alarms  []alarm
	trace   Trace
	hits    map[string]bool // departures that the run has applied

	instants []instant // times of clock-driven events
	close    int       // the smallest distance of two compared times without a defined order
}

type timedStep struct {
	at   int
	step *Step
}

type alarm struct {
	at  int
	run func()
}

// instant is a time by the clock. Two close instants may come in either order on a real
// machine, unless they have the same origin.
type instant struct {
	at, origin int
}

const far = 1 << 30

func newWorld(p *Program) *world {
	w := &world{hits: map[string]bool{}, close: far}
	at, held := 0, false
	for _, s := range p.Steps {
		w.steps = append(w.steps, timedStep{at, s})
		w.tick(at, 0)
		switch s.Op {
		case opPause, opAwait:
			at += s.A
			w.tick(at, 0)
		case opRelease:
			held = false
		}
		if !held {
			at += gap
		}
		if s.Op == opHold {
			held = true
		}
	}
	return w
}

func (w *world) hit(rule string) { w.hits[rule] = true }

// tick records an instant. Origin 0 is the goroutine outside.
func (w *world) tick(at, origin int) { w.instants = append(w.instants, instant{at, origin}) }

// compare records the comparison of two times without a defined order.
func (w *world) compare(a, b int) { w.close = min(w.close, max(a-b, b-a)) }

// next returns the time of the next event; far: there is none.
func (w *world) next() int {
	at := far
	if len(w.steps) > 0 {
		at = w.steps[0].at
	}
	for _, a := range w.alarms {
		at = min(at, a.at)
	}
	return at
}

// one runs the next event.
func (w *world) one() {
	at := w.next()
	w.now = max(w.now, at)
	if i := slices.IndexFunc(w.alarms, func(a alarm) bool { return a.at == at }); i >= 0 {
		a := w.alarms[i]
		w.alarms = slices.Delete(w.alarms, i, i+1)
		a.run()
		return
	}
	s := w.steps[0]
	w.steps = w.steps[1:]
	w.outside(s.step)
}

// endless is the panic value of a machine whose program never ends: if the body of a
// timer takes longer than its period, Netty repeats the timer for ever (R117).
type endless struct{}

// toTheEnd runs a machine, and reports whether it ends.
func toTheEnd(run func()) (ended bool) {
	defer func() {
		if v := recover(); v != nil {
			if _, ok := v.(endless); !ok {
				panic(v)
			}
			ended = false
		}
	}()
	run()
	return true
}

// until advances the time to at, and runs the events up to that time.
func (w *world) until(at int) {
	if at > 10*longest {
		panic(endless{})
	}
	for w.next() <= at {
		w.one()
	}
	w.now = max(w.now, at)
}

// park advances the time until woken returns true or the deadline has come. It returns
// false if there is neither an event nor a deadline.
func (w *world) park(woken func() bool, deadline int) bool {
	for !woken() {
		if w.next() > deadline || w.next() == far && deadline == far {
			if deadline == far {
				return false
			}
			w.now = max(w.now, deadline)
			return true
		}
		w.one()
	}
	return true
}

// rest runs the remaining events after the loop has ended.
func (w *world) rest() {
	for w.next() != far {
		w.one()
	}
}

// slack returns the smallest distance between two times that decide the outcome and have
// no defined order.
func (w *world) slack() int {
	least := w.close
	sorted := slices.Clone(w.instants)
	slices.SortFunc(sorted, func(a, b instant) int { return a.at - b.at })
	for i := range sorted {
		for j := i + 1; j < len(sorted) && sorted[j].at-sorted[i].at < least; j++ {
			if sorted[i].origin != sorted[j].origin {
				least = sorted[j].at - sorted[i].at
			}
		}
	}
	return least
}

func (w *world) answer(inLoop bool, label int, text string) {
	if inLoop {
		w.trace.Loop = append(w.trace.Loop, token(label, text))
	} else {
		w.trace.Outer = append(w.trace.Outer, token(label, text))
	}
}

func (w *world) begin(label int) { w.trace.Loop = append(w.trace.Loop, begins(label)) }

func (w *world) heard(label int) { w.trace.Loop = append(w.trace.Loop, listener(label)) }

// status is the status of a timer or a future.
type status string

const (
	pending   status = "pending"
	succeeded status = "ok"
	failed    status = "failed"
	cancelled status = "cancelled"
)

// ending appends the third part of the trace.
func (w *world) ending(of map[int]status, ops map[int]byte, state int) {
	var labels []int
	for l := range of {
		labels = append(labels, l)
	}
	slices.Sort(labels)
	for _, l := range labels {
		w.trace.End = append(w.trace.End, string(ops[l])+strconv.Itoa(l)+"="+string(of[l]))
	}
	w.trace.End = append(w.trace.End, "end="+strconv.Itoa(state))
}
