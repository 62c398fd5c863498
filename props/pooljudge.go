package props

import (
	"fmt"
	"slices"
	"time"

	"eventide/props/history"
)

// Resized is one change of the size of a pool.
type Resized struct {
	From  int // length of the log before the call
	After int // length of the log when the call had returned
	Size  int // 0: unknown, because two calls overlapped
}

// poolCheck follows the history of a pool of several workers. In virtual time only bodies take
// time, so when time passes no work waits beside a free worker.
type poolCheck struct {
	events []history.Event
	sizes  []Resized
	exact  bool          // times are exact, and the spawner starts each worker at once
	jitter time.Duration // of one-shot timers

	size    int
	since   time.Duration // of the last change of the size
	busy    map[int64]int // goroutine -> bodies and listeners that are open there
	hook    int           // label of the running hook; 0: none
	invoked map[int]int   // label of a task -> its Invoke
	waiting map[int]int   // label of an accepted task that has not begun -> its Return
	lazy    map[int]bool
	due     map[int]time.Duration // label of a one-shot timer that waits -> its deadline
	open    map[int]bool          // tasks that have begun or may begin, and have not ended
	begun   map[int]bool          // tasks and timers
	gone    map[int]bool          // tasks and timers that were cancelled, or moved, perhaps before their call returned
	early   map[int]bool          // of open: accepted before the shutdown call
	called  bool                  // a shutdown call took effect
	last    int                   // the last Invoke of a task that has begun
}

// checkPool returns the first event at which a pool had a free worker beside waiting work, ran
// more bodies than it has workers, or broke the order of its queue or of its hooks.
func checkPool(events []history.Event, rules history.Rules, p Program, sizes []Resized) *history.Violation {
	if p.Pool == 0 {
		return nil
	}
	c := &poolCheck{
		events: events, sizes: sizes, exact: rules.Virtual && len(p.Starts) == 0, size: p.Pool, since: -1, jitter: rules.Jitter / 2,
		busy: map[int64]int{}, invoked: map[int]int{}, waiting: map[int]int{}, lazy: map[int]bool{},
		due: map[int]time.Duration{}, open: map[int]bool{}, begun: map[int]bool{}, early: map[int]bool{}, gone: map[int]bool{},
	}
	for i := range events {
		if v := c.event(&events[i]); v != nil {
			return v
		}
		if i+1 < len(events) && events[i+1].At > events[i].At {
			if v := c.timePasses(events[i+1].At, events[i].N); v != nil {
				return v
			}
		}
	}
	return nil
}

func (c *poolCheck) event(e *history.Event) *history.Violation {
	c.resize(e)
	switch e.Kind {
	case history.Invoke:
		if e.Op.Tasks() {
			c.invoked[e.ID] = e.N
		}
		if e.Op == history.OpCancel && !c.begun[e.ID] && c.answeredTrue(e.N) {
			c.drop(e.ID) // the call has its effect before it returns
		}
	case history.Admit:
		c.admit(e)
	case history.Return:
		c.returned(e)
	case history.Transit:
		if e.To >= history.Shutdown {
			clear(c.due) // a failure has ended them, without a shutdown call
		}
	case history.Begin:
		return c.begin(e)
	case history.End:
		if e.InLoop {
			c.busy[e.G]--
		}
		c.ended(e)
	}
	return nil
}

// resize follows the calls of Resize. While one is in progress the size is unknown.
func (c *poolCheck) resize(e *history.Event) {
	for len(c.sizes) > 0 && c.sizes[0].After < e.N {
		c.size, c.since = c.sizes[0].Size, e.At
		c.sizes = c.sizes[1:]
	}
	if slices.ContainsFunc(c.sizes, func(r Resized) bool { return r.From < e.N }) {
		c.size = 0
	}
}

// admit keeps which tasks hooks wait for.
func (c *poolCheck) admit(e *history.Event) {
	if !e.Op.Shuts() || e.Outcome != history.True || c.called {
		return
	}
	c.called = true
	clear(c.due) // the policy decides
	for id := range c.open {
		c.early[id] = true
	}
}

func (c *poolCheck) returned(e *history.Event) {
	inv := &c.events[e.Call-1]
	switch {
	case e.Op.Tasks() && e.Outcome == history.Accepted && !c.begun[e.ID] && !c.gone[e.ID]:
		c.waiting[e.ID], c.open[e.ID] = e.N, true
		c.lazy[e.ID] = e.Op == history.OpExecuteLazy
	case e.Op == history.OpSchedule && e.Outcome == history.Accepted && !c.begun[e.ID] && !c.gone[e.ID] && !c.called:
		if at := history.Later(history.Later(inv.At, max(0, inv.Delay)), c.jitter); inv.At == e.At && at != history.Never {
			c.due[e.ID] = at
		}
	case e.Op == history.OpCancel && e.Outcome == history.True, e.Op == history.OpReset && e.Outcome == history.True:
		delete(c.due, e.ID)
		c.gone[e.ID] = true
	}
}

// answeredTrue reports whether the call of the Invoke with number n returned true.
func (c *poolCheck) answeredTrue(n int) bool {
	return contains(c.events[n:], func(e *history.Event) bool {
		return e.Kind == history.Return && e.Call == n && e.Outcome == history.True
	})
}

// drop removes a task that no worker will run any more.
func (c *poolCheck) drop(id int) {
	c.gone[id] = true
	delete(c.waiting, id)
	delete(c.open, id)
	delete(c.early, id)
}

func (c *poolCheck) begin(e *history.Event) *history.Violation {
	if e.InLoop {
		c.busy[e.G]++
	}
	switch e.Body {
	case history.BodyListener:
		return nil
	case history.BodyTask:
		delete(c.waiting, e.ID)
		c.begun[e.ID], c.open[e.ID] = true, true
		c.last = max(c.last, c.invoked[e.ID])
	case history.BodyTimer:
		delete(c.due, e.ID)
		c.begun[e.ID] = true
	case history.BodyHook:
		if c.hook != 0 {
			return c.violation("G6", "hooks run one at a time", e.N, "hook %d begins, and hook %d runs", e.ID, c.hook)
		}
		for id := range c.early {
			return c.violation("G6", "hooks run once every task accepted before the shutdown call has ended", e.N, "hook %d begins, and task %d has not ended", e.ID, id)
		}
		c.hook = e.ID
	}
	settled := c.since < 0 || c.exact && e.At > c.since
	if n := c.working(); settled && c.size > 0 && n > c.size {
		return c.violation("G2", "a pool of n workers runs at most n bodies at once", e.N, "%d bodies run at once on %d workers", n, c.size)
	}
	return nil
}

func (c *poolCheck) ended(e *history.Event) {
	switch e.Body {
	case history.BodyTask:
		delete(c.open, e.ID)
		delete(c.early, e.ID)
	case history.BodyHook:
		c.hook = 0
	}
}

// working is how many goroutines run a body or a listener.
func (c *poolCheck) working() (n int) {
	for _, open := range c.busy {
		n += one(open > 0)
	}
	return n
}

// overtaken returns the least task that waits although one submitted after it has begun, or 0.
func (c *poolCheck) overtaken() (least int) {
	for id, ret := range c.waiting {
		if ret < c.last && (least == 0 || id < least) {
			least = id
		}
	}
	return least
}

// timePasses judges the moment at which time passes until the given instant.
func (c *poolCheck) timePasses(until time.Duration, n int) *history.Violation {
	if !c.exact || c.size == 0 {
		return nil
	}
	if id := c.overtaken(); id != 0 {
		return c.violation("G4", "tasks leave the queue in the order submitted", n, "task %d waits, and a task submitted after it at #%d has begun", id, c.last)
	}
	working := c.working()
	if working >= c.size {
		return nil
	}
	for id := range c.waiting {
		if !c.lazy[id] {
			return c.violation("G12", "work does not wait beside a free worker", n, "task %d waits until %v, and %d of %d workers run a body", id, until, working, c.size)
		}
	}
	for id, at := range c.due {
		if at < until {
			return c.violation("G12", "work does not wait beside a free worker", n, "timer %d, due at %v, waits until %v, and %d of %d workers run a body", id, at, until, working, c.size)
		}
	}
	return nil
}

func (c *poolCheck) violation(guarantee, sentence string, n int, format string, args ...any) *history.Violation {
	return &history.Violation{Guarantee: guarantee, Predicate: "Pool", Sentence: sentence, Text: fmt.Sprintf(format, args...), At: []int{n}}
}
