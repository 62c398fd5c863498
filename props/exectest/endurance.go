package exectest

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// endurance describes a run without the log in which one subject gets many tasks, more
// than a counter of 16 bits can count, before it shuts down.
type endurance struct {
	producers int
	calls     int // of each producer
}

// Bounds of each producer of an endurance: the tasks that have not ended, and the retries
// after refusals of one task, after which it gives up.
const (
	unfinishedTasks = 4
	retries         = 50
)

// enduring divides the tasks among producers.
func enduring(rng *rand.Rand, tasks int) endurance {
	n := pick(rng, 1, 2, 4)
	return endurance{producers: n, calls: (tasks + n - 1) / n}
}

// run makes the calls and shuts down, and reports whether there is something to judge.
func (e endurance) run(s Subject, limit time.Duration) (*strike, bool) {
	k := newStrike(hammer{producers: e.producers, calls: e.calls}, s)
	stop := time.NewTimer(limit)
	defer stop.Stop()
	quit := make(chan struct{})
	go func() {
		select {
		case <-stop.C:
		case <-k.held:
		}
		close(quit)
	}()
	over := make(chan struct{})
	go func() {
		defer close(over)
		var producers sync.WaitGroup
		for p := range e.producers {
			producers.Go(func() { k.endure(p, quit) })
		}
		producers.Wait()
	}()
	deadline := time.NewTimer(limit + 4*hammerTimeout)
	defer deadline.Stop()
	within(over, deadline)
	close(k.held)
	k.shutdown(0, hammerTimeout)
	return k, within(k.done, deadline)
}

// endure makes the calls of one producer until one task is refused too often, a task never
// ends, or quit is closed.
func (k *strike) endure(p int, quit <-chan struct{}) {
	room := make(chan struct{}, unfinishedTasks)
	for i := range k.calls {
		select {
		case room <- struct{}{}:
		case <-quit:
			return
		}
		s := &k.slots[p*k.calls+i]
		task := func() {
			k.ordered(p, i+1)
			<-room
		}
		for try := 0; ; try++ {
			if k.execute(s, task); s.stage.Load() == accepted {
				break
			}
			if try == retries {
				return
			}
			time.Sleep(unit / 10)
		}
	}
}

// String returns the endurance on one line.
func (e endurance) String() string {
	return fmt.Sprintf("%d producers that each get %d tasks done, at most %d at a time, then Shutdown", e.producers, e.calls, unfinishedTasks)
}

// source returns the endurance as a complete test file, which does not use this package.
func (e endurance) source(string, bool) string {
	return formatted(enduranceText, map[string]any{"producers": e.producers, "calls": e.calls, "ahead": unfinishedTasks})
}
