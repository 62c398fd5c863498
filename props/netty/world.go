package netty

import (
	"slices"
	"strconv"
)

// gap is the time in milliseconds from one step outside to the next, unless the loop
// is held: enough for the loop to come to rest.
const gap = 20

// world is the time of a machine, and what happens in it by itself: the steps
// outside, at fixed times, and alarms. The machine runs on, and lets time pass when
// its loop sleeps or a body takes time.
type world struct {
	now     int
	steps   []timedStep // of the goroutine outside, not yet made
	outside func(*Step)
	alarms  []alarm
	trace   Trace
	hits    map[string]bool // departures that showed

	instants []instant // at which something happens by the clock
	close    int       // the least distance of two compared times that nothing orders
}

type timedStep struct {
	at   int
	step *Step
}

type alarm struct {
	at  int
	run func()
}

// instant is a moment by the clock. Two that lie close to one another may come in
// either order on a real machine, unless they have the same origin.
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

// tick notes that something happens at a time. Origin 0 is the goroutine outside.
func (w *world) tick(at, origin int) { w.instants = append(w.instants, instant{at, origin}) }

// compare notes that two times were compared that no cause orders.
func (w *world) compare(a, b int) { w.close = min(w.close, max(a-b, b-a)) }

// next returns when the world does something next; far: never.
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

// one lets the next thing happen.
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

// endless is what a machine panics with in a program that never ends: Netty does not
// come to the end of a timer whose body takes longer than its period (R117).
type endless struct{}

// toTheEnd runs a machine, and reports whether that has an end.
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

// until lets time pass, with what happens in it.
func (w *world) until(at int) {
	if at > 10*longest {
		panic(endless{})
	}
	for w.next() <= at {
		w.one()
	}
	w.now = max(w.now, at)
}

// park lets time pass until woken or the deadline. False: nothing will ever happen.
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

// rest plays what is left once there is no loop any more.
func (w *world) rest() {
	for w.next() != far {
		w.one()
	}
}

// slack is the least distance between two moments that decided something and had
// nothing to do with one another.
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

// status is how a timer or a future stands.
type status string

const (
	pending   status = "pending"
	succeeded status = "ok"
	failed    status = "failed"
	cancelled status = "cancelled"
)

// ending writes the third part.
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
