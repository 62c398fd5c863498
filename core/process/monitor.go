package process

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"eventide/core"
)

// monitor checks whether the executors of a plan make progress. It reads their counters and
// submits nothing: a task of its own would begin the quiet period again. All methods may be
// called from many goroutines at once.
type monitor struct {
	steps []Step // set once

	mu   sync.Mutex
	last map[*core.Termination]progress // at the last check; an executor has one Termination for life
}

// progress is what an executor had run, and the time since which that has not changed while
// tasks waited.
type progress struct {
	bodies
	since time.Time
}

// bodies is how many bodies of each kind an executor has run or cancelled.
type bodies struct{ tasks, cancelled, timers, hooks int64 }

func newMonitor(steps []Step) *monitor {
	return &monitor{steps: steps}
}

// stuck names the executors that had waiting tasks and ran no body for limit. A nil monitor
// has no executors.
func (m *monitor) stuck(now time.Time, limit time.Duration) (names []string) {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	seen := map[*core.Termination]progress{} // a group such as blocking.Group loses members and makes others
	for _, s := range m.steps {
		if s.Executor == nil {
			continue
		}
		for i, member := range members(s.Executor) {
			name := s.Name
			if _, group := s.Executor.(groupOf); group {
				name = fmt.Sprintf("%s[%d]", s.Name, i)
			}
			p := m.observe(member, now)
			if seen[member.Termination()] = p; now.Sub(p.since) >= limit && !sleeps(member) {
				names = append(names, name)
			}
		}
	}
	m.last = seen
	return names
}

// observe returns since when the executor has had waiting tasks without running a body. Requires
// mu.
func (m *monitor) observe(ex Executor, now time.Time) progress {
	ran, waits := progressOf(ex)
	before, known := m.last[ex.Termination()]
	if !known || ran != before.bodies || !waits {
		return progress{ran, now}
	}
	return before
}

// sleeps reports whether the loop of an executor sleeps: then lazy tasks (ExecuteLazy) wait, as
// they should. A loop that has never slept has perhaps no goroutine. sleeps calls Running, which
// stops all goroutines, so call it only of an executor that seems stuck.
func sleeps(ex Executor) bool {
	loop, ok := ex.(interface {
		counted
		Running() string
	})
	if !ok {
		return false
	}
	s := loop.Stats()
	return s.Parks+s.Spins > 0 && loop.Running() == ""
}

// progressOf returns what an executor has run, and whether a task waits: see Health.Liveness.
func progressOf(ex Executor) (ran bodies, waits bool) {
	switch ex := ex.(type) {
	case atOnce:
		return bodies{}, false
	case counted: // one snapshot: a task that begins between two of them would be in neither number
		s := ex.Stats()
		// Only a pool sets Busy and Workers. Beside a worker that sleeps, only lazy tasks wait.
		return bodies{s.Ran, s.Cancelled, s.TimersRun, s.HooksRun}, s.Pending > s.Busy && s.Busy == s.Workers
	}
	r := ex.Termination().Report()
	return bodies{r.Ran, r.Cancelled, r.TimersRun, r.HooksRun}, pending(r) > 0
}

// atOnce is a tracked.Group, or an executor that wraps one: each accepted function has a
// goroutine of its own. A function that waits for room is not accepted.
type atOnce interface {
	TryGo(name string, f func(context.Context) error) error
}

// counted is an executor of package core.
type counted interface {
	Stats() core.Stats
}

// groupOf is an executor that is made of others.
type groupOf interface {
	All() iter.Seq[core.EventExecutor]
}

// members returns the members of a group, and an executor that is no group as the only one.
func members(ex Executor) (all []Executor) {
	group, ok := ex.(groupOf)
	if !ok {
		return []Executor{ex}
	}
	for member := range group.All() {
		all = append(all, member)
	}
	return all
}
