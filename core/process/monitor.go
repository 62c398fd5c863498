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
	last map[string]progress // by the name of the executor
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
	return &monitor{steps: steps, last: map[string]progress{}}
}

// stuck names the executors that had waiting tasks and ran no body for limit. A nil monitor
// has no executors.
func (m *monitor) stuck(now time.Time, limit time.Duration) (names []string) {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.steps {
		if s.Executor == nil {
			continue
		}
		for i, member := range members(s.Executor) {
			name := s.Name
			if _, group := s.Executor.(groupOf); group {
				name = fmt.Sprintf("%s[%d]", s.Name, i)
			}
			if m.observe(name, member, now) >= limit {
				names = append(names, name)
			}
		}
	}
	return names
}

// observe returns how long the executor has had waiting tasks without running a body. Requires
// mu.
func (m *monitor) observe(name string, ex Executor, now time.Time) time.Duration {
	ran, waits := look(ex)
	before, known := m.last[name]
	if !known || ran != before.bodies || !waits {
		m.last[name] = progress{ran, now}
		return 0
	}
	return now.Sub(before.since)
}

// look returns what an executor has run, and whether a task waits: see Health.Liveness.
func look(ex Executor) (ran bodies, waits bool) {
	switch ex := ex.(type) {
	case atOnce:
		return bodies{}, false
	case counted: // one snapshot: a task that begins between two of them would be in neither number
		s := ex.Stats()
		return bodies{s.Ran, s.Cancelled, s.TimersRun, s.HooksRun}, s.Pending > s.Busy // only a pool sets Busy
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
