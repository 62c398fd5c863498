package main

import (
	"fmt"
	"sync"
	"time"
)

// timetable knows what a run has behind it and what is to come: the lanes, which take
// the budget, and beside them the model, the traces and the planted bugs, which take as
// long as they take. Its methods are for any goroutine.
type timetable struct {
	budget  time.Duration
	planted int // bugs

	mu        sync.Mutex
	lanes     time.Time // when they began; zero: they are being built
	lanesOver bool
	mutants   time.Time // when they began; zero: the model and the traces have their turn
	done      int
}

// leastEach is less than any planted bug takes: it has to be built.
const leastEach = time.Second

// estimate is how long a run still takes.
type estimate struct {
	time    time.Duration
	atLeast bool // it may be any time longer
}

func (e estimate) seconds() int { return int(e.time.Round(time.Second).Seconds()) }

func (e estimate) String() string {
	if e.atLeast {
		return fmt.Sprintf("at least %v", e.time.Round(time.Second))
	}
	return fmt.Sprintf("about %v", e.time.Round(time.Second))
}

func (t *timetable) lanesBegin(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lanes = now
}

func (t *timetable) lanesEnd() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lanesOver = true
}

func (t *timetable) mutantsBegin(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mutants = now
}

func (t *timetable) mutantDone() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done++
}

// left is the longer of what the lanes and the planted bugs still take. Each planted bug
// counts as much as those before it did, at the mean; before the first one, and while
// the lanes go on past their budget for guarantees that lack their minimum, the rest is
// known from below only.
func (t *timetable) left(now time.Time) estimate {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := estimate{time: t.budget, atLeast: true}
	switch {
	case t.lanesOver:
		e = estimate{}
	case !t.lanes.IsZero():
		e.time = max(0, t.budget-now.Sub(t.lanes))
		e.atLeast = e.time == 0
	}
	if t.done == 0 {
		return estimate{max(e.time, time.Duration(t.planted)*leastEach), true}
	}
	each := now.Sub(t.mutants) / time.Duration(t.done)
	rest := time.Duration(t.planted-t.done) * each
	if e.atLeast && !t.lanes.IsZero() && rest > t.budget { // the lanes have twice their budget at most
		e.atLeast = false
	}
	e.time = max(e.time, rest)
	return e
}
