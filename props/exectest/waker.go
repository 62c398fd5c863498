package exectest

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// waker describes a run without the log that searches for lost wake-ups (G12). A task is
// submitted while the loop falls asleep, and nothing else is submitted before it begins,
// so no later call can wake the loop for it. In a bubble the clock moves only when every
// goroutine is blocked. So a task that begins later than it was accepted waited for
// another event, however slow the machine is.
type waker struct {
	way     wakingWay
	rounds  int
	callers int // goroutines that submit in each round
	sweep   int // steps of spinning before a call go from 0 to this number
}

// wakingWay is how a waker approaches the moment at which the loop falls asleep.
type wakingWay int

const (
	loneWaker   wakingWay = iota // submits, waits for the task, and submits again
	sleepWindow                  // the same, but spins until the task begins, and then for a while that is longer in each round
	roundTrip                    // two subjects pass a task back and forth
)

// waking draws a waker.
func waking(rng *rand.Rand) waker {
	return waker{
		way:     pick(rng, loneWaker, sleepWindow, sleepWindow, roundTrip),
		rounds:  100,
		callers: pick(rng, 1, 1, 2, 3),
		sweep:   pick(rng, 20, 100, 400, 1000),
	}
}

// longestWait is how long a waker waits for a task, in the time of the run. In a bubble it
// takes no time.
const longestWait = time.Hour

// mostSpins is how many steps a waker spins for a task before it blocks.
const mostSpins = 20000

// run makes the calls, and returns what is wrong, or "", and the number of tasks that the
// subject accepted while it was idle.
func (w waker) run(first Subject, fresh func() (Subject, error)) (text string, exercised int) {
	if w.way != roundTrip {
		defer stopAndAbandon(first)
		return w.wake(first)
	}
	second, err := fresh()
	if err != nil {
		return err.Error(), 0
	}
	defer stopAndAbandon(second)
	defer stopAndAbandon(first)
	return w.roundTrips(first, second)
}

// stopAndAbandon ends the subject. Other guarantees judge whether it ends.
func stopAndAbandon(s Subject) {
	deadline := time.NewTimer(4 * hammerTimeout)
	defer deadline.Stop()
	if s.Shutdown(0, hammerTimeout) == nil {
		within(s.Done(), deadline)
	}
	abandon(s)
}

// wake runs rounds in which each caller submits one task and waits for it.
func (w waker) wake(s Subject) (text string, exercised int) {
	for i := range w.rounds {
		pause := i * w.sweep / w.rounds
		waits := make([]wait, w.callers)
		var callers sync.WaitGroup
		for c := 1; c < w.callers; c++ {
			callers.Go(func() { waits[c] = w.submitAndWait(s, pause) })
		}
		waits[0] = w.submitAndWait(s, pause)
		callers.Wait()
		for _, got := range waits {
			switch {
			case got.refused:
				return "", exercised
			case got.never:
				return fmt.Sprintf("in round %d an idle loop never began an accepted task", i+1), exercised
			case got.late > 0:
				return fmt.Sprintf("in round %d an idle loop began an accepted task %v late", i+1, got.late), exercised
			}
			exercised++
		}
	}
	return "", exercised
}

// wait is the outcome of one submission.
type wait struct {
	refused, never bool
	late           time.Duration
}

func (w waker) submitAndWait(s Subject, pause int) wait {
	var began atomic.Int64
	ran := make(chan struct{})
	if w.way == sleepWindow {
		spin(pause)
	} else {
		for range pause % 4 {
			runtime.Gosched()
		}
	}
	start := time.Now()
	var once sync.Once // a task that runs twice is for others to judge
	if s.Execute(func() {
		began.Store(1 + int64(time.Since(start)))
		once.Do(func() { close(ran) })
	}) != nil {
		return wait{refused: true}
	}
	accepted := time.Since(start)
	if w.way == sleepWindow {
		for n := 0; began.Load() == 0 && n < mostSpins; n++ {
			spin(1)
		}
	}
	if began.Load() == 0 {
		deadline := time.NewTimer(longestWait)
		defer deadline.Stop()
		if !within(ran, deadline) {
			return wait{never: true}
		}
	}
	return wait{late: time.Duration(began.Load()-1) - accepted}
}

// spun keeps the compiler from removing the steps of spin.
var spun atomic.Int64

// spin spends some nanoseconds per step without calling the scheduler.
func spin(steps int) {
	for range steps {
		spun.Load()
	}
}

// roundTrips passes a task back and forth: each body submits the next task to the
// other subject, which has just fallen asleep or is about to.
func (w waker) roundTrips(a, b Subject) (text string, exercised int) {
	var hops atomic.Int64
	var refused atomic.Bool
	over := make(chan struct{})
	var hop func(to, from Subject) error
	hop = func(to, from Subject) error {
		return to.Execute(func() {
			spin(int(hops.Load()) % (w.sweep + 1))
			if hops.Add(1) == int64(2*w.rounds) {
				close(over)
			} else if hop(from, to) != nil {
				refused.Store(true)
				close(over)
			}
		})
	}
	start := time.Now()
	if hop(a, b) != nil {
		return "", 0
	}
	deadline := time.NewTimer(longestWait)
	defer deadline.Stop()
	switch came := within(over, deadline); {
	case refused.Load():
		return "", int(hops.Load())
	case !came:
		return fmt.Sprintf("two executors pass a task back and forth: after %d passes an idle loop never began it", hops.Load()), int(hops.Load())
	case time.Since(start) > 0:
		return fmt.Sprintf("two executors pass a task back and forth: %d passes took %v, in which every goroutine was blocked", hops.Load(), time.Since(start)), int(hops.Load())
	}
	return "", int(hops.Load())
}

// String returns the waker on one line.
func (w waker) String() string {
	switch w.way {
	case roundTrip:
		return fmt.Sprintf("two executors pass a task back and forth %d times", w.rounds)
	case sleepWindow:
		return fmt.Sprintf("%d times %s a task, spin until it begins, and spin up to %d steps more", w.rounds, submitters(w.callers), w.sweep)
	default:
		return fmt.Sprintf("%d times %s a task, and wait for it", w.rounds, submitters(w.callers))
	}
}

func submitters(n int) string {
	if n == 1 {
		return "one goroutine submits"
	}
	return fmt.Sprintf("%d goroutines each submit", n)
}
