package process

import (
	"fmt"
	"iter"
	"sync"
	"time"

	"eventide/core"
)

// monitor checks whether the executors of a plan make progress. It reads their reports and
// submits nothing: a task of its own would begin the quiet period again. All methods may be
// called from many goroutines at once.
type monitor struct {
	steps []Step // set once

	mu   sync.Mutex
	last map[string]progress // by the name of the executor
}

// progress is how many bodies of each kind an executor had run or cancelled, and the time
// since which these numbers have not changed while tasks waited.
type progress struct {
	tasks, cancelled, timers, hooks int64
	since                           time.Time
}

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
			if m.observe(name, member.Termination().Report(), now) >= limit {
				names = append(names, name)
			}
		}
	}
	return names
}

// observe returns how long the executor has had waiting tasks without running a body. Requires
// mu.
func (m *monitor) observe(name string, r core.Report, now time.Time) time.Duration {
	before, known := m.last[name]
	current := progress{r.Ran, r.Cancelled, r.TimersRun, r.HooksRun, before.since}
	if !known || current != before || pending(r) == 0 {
		current.since = now
		m.last[name] = current
		return 0
	}
	return now.Sub(before.since)
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
