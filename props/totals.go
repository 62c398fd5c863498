package props

import (
	"slices"

	"eventide/props/history"
)

// totals are the values of an executor's counters that a log implies at one position. Each of them only
// increases, so a counter that was read between two positions is between the totals at both.
type totals struct {
	state  history.State // of the last move
	before history.State // that it left
	ended  bool          // the state Terminated or a closed Done was seen
	called int           // position of the Invoke of the first shutdown call; 0: none had an effect
	timed  bool          // the timeout has closed admission

	// Events that the executor traces with the mutex held with which it counts, so that they are exact.
	accepted, scheduled        int
	added, removed, hooksBegun int // hooks; the begin is logged later than the executor takes the hook
	sleeps, wakes              int
	opened, closed             int // registrations
	shut                       int // of closed: since the shutdown call

	least, most uncertain
}

// uncertain are totals that an executor counts before or after the event that shows them.
type uncertain struct {
	ran, cancelled, rejected, panicked int
	timersRun, timersEnded, hooksRun   int
}

func (u *uncertain) add(v *uncertain) {
	u.ran += v.ran
	u.cancelled += v.cancelled
	u.rejected += v.rejected
	u.panicked += v.panicked
	u.timersRun += v.timersRun
	u.timersEnded += v.timersEnded
	u.hooksRun += v.hooksRun
}

// reader follows a log and keeps its totals.
type reader struct {
	totals
	overlap bool // the executor is a pool

	periodic  map[int]bool // timers
	queues    [2]queue     // of tasks and of tail tasks
	cancelled map[int]bool // tasks that have not begun, and that a Cancel call was made for
	calling   int          // calls that submit a task and have not been decided
	counting  []counting
	workers   []worker
	asides    []Aside
}

// queue has the labels of accepted tasks, in their order.
type queue struct {
	labels []int
	gone   int // of labels: how many have begun or were skipped
}

func (q *queue) waiting() []int { return q.labels[q.gone:] }

func (q *queue) clear() { q.labels, q.gone = q.labels[:0], 0 }

// reset makes r the reader of another log.
func (r *reader) reset(overlap bool, asides []Aside) {
	clear(r.periodic)
	clear(r.cancelled)
	r.queues[0].clear()
	r.queues[1].clear()
	*r = reader{overlap: overlap, asides: asides, periodic: r.periodic, cancelled: r.cancelled, queues: r.queues, counting: r.counting[:0], workers: r.workers[:0]}
}

// counting has the counters that an ended body adds to: the executor may not have counted it before
// the next event of its goroutine.
type counting struct {
	g      int64
	inLoop bool
	late   bool // the clock reading before the count has failed: the events of the failure come first
	uncertain
}

// worker is a goroutine that runs bodies.
type worker struct {
	g     int64
	depth int // open bodies and listeners
	since int // position of the Begin of the outermost one, or of the Park; 0: neither runs nor sleeps
}

// event adds the event.
func (r *reader) event(e *history.Event) {
	if len(r.counting) > 0 {
		r.counts(e)
	}
	switch e.Kind {
	case history.Invoke:
		r.invoke(e)
	case history.Admit:
		r.admit(e)
	case history.Return:
		r.returned(e)
	case history.Begin:
		r.begin(e)
	case history.End:
		r.end(e)
	case history.Transit:
		r.state, r.before = e.To, e.From
		r.timed = r.timed || e.To == history.Shutdown && e.Cause == history.CauseTimeout
		if e.To == history.Terminated {
			r.skip()
		}
	case history.Park:
		r.sleeps++
		if e.Queued == 0 && !r.overlap { // another worker may have taken a task and not begun it
			r.skip()
		}
		r.worker(e.G).since = e.N
	case history.Unpark:
		r.worker(e.G).since = 0
	case history.Wake:
		r.wakes++
	case history.Ended:
		r.closed++
		r.shut += one(r.called > 0 || r.state >= history.ShuttingDown)
	case history.Observe:
		r.ended = r.ended || e.Op == history.OpDone && e.Outcome == history.True
	}
}

// counts adds to least the bodies that the executor has surely counted: those that ended on the same goroutine, and those that ended
// on the loop before an event of the loop. A task that completes a future may wake or start a worker for the
// listeners before it is counted. After a failure of the clock the move of the state comes before the count.
func (r *reader) counts(e *history.Event) {
	loop := e.Kind == history.Park || e.Kind == history.Unpark || e.Kind == history.Begin && (e.InLoop || e.Body != history.BodyListener)
	own := e.Kind != history.Wake && !r.starting(e)
	next := e.Kind == history.Begin && e.Body != history.BodyListener || e.Kind == history.Park
	left := r.counting[:0]
	for i := range r.counting {
		c := &r.counting[i]
		c.late = c.late || c.g == e.G && e.Kind == history.Fault
		if c.g == e.G && (next || own && !c.late) || loop && c.inLoop && !r.overlap || e.Kind == history.Done && c.inLoop {
			r.least.add(&c.uncertain)
		} else {
			left = append(left, *c)
		}
	}
	r.counting = left
}

// starting reports whether the event is of a call of the spawner.
func (r *reader) starting(e *history.Event) bool {
	return slices.ContainsFunc(r.asides, func(a Aside) bool { return a.Context == inSpawner && a.has(e) })
}

func (r *reader) invoke(e *history.Event) {
	switch {
	case e.Op.Tasks():
		r.calling++
	case e.Op == history.OpFixedRate || e.Op == history.OpFixedDelay:
		r.periodic[e.ID] = true
	case e.Op == history.OpCancel && (slices.Contains(r.queues[0].waiting(), e.ID) || slices.Contains(r.queues[1].waiting(), e.ID)):
		r.cancelled[e.ID] = true
	}
}

func (r *reader) admit(e *history.Event) {
	accepted := e.Outcome == history.Accepted
	switch {
	case e.Op.Shuts():
		if e.Outcome == history.True && r.called == 0 {
			r.called = e.Call
		}
	case e.Op == history.OpRemoveHook:
		r.removed += one(e.Outcome == history.True)
	case !accepted:
	case e.Op.Tasks():
		r.accepted++
		r.calling--
		q := &r.queues[one(e.Op == history.OpAfterIteration)]
		q.labels = append(q.labels, e.ID)
	case e.Op.Timers():
		r.scheduled++
	case e.Op == history.OpAddHook:
		r.added++
	case e.Op.Registers():
		r.opened++
	}
}

func (r *reader) returned(e *history.Event) {
	switch {
	case e.Op.Tasks() && e.Outcome != history.Accepted:
		r.calling--
		n := one(e.Outcome != history.RefusedBadArgument)
		r.least.rejected += n
		r.most.rejected += n
	case e.Op == history.OpState:
		r.ended = r.ended || e.To == history.Terminated
	}
}

func (r *reader) begin(e *history.Event) {
	switch e.Body {
	case history.BodyTask, history.BodyTail:
		r.takes(&r.queues[one(e.Body == history.BodyTail)], e.ID)
		delete(r.cancelled, e.ID)
	case history.BodyHook:
		r.hooksBegun++
	}
	if e.InLoop || e.Body != history.BodyListener {
		w := r.worker(e.G)
		if w.depth++; w.depth == 1 {
			w.since = e.N
		}
	}
}

// takes removes the task from its queue. A loop has skipped those before it, whose futures were cancelled.
// The workers of a pool may log their begin in any order.
func (r *reader) takes(q *queue, id int) {
	i := slices.Index(q.waiting(), id)
	switch {
	case i < 0:
	case r.overlap:
		q.labels = slices.Delete(q.labels, q.gone+i, q.gone+i+1)
	default:
		if i > 0 {
			r.skipped(i)
			for _, id := range q.waiting()[:i] {
				delete(r.cancelled, id)
			}
		}
		q.gone += i + 1
	}
}

// skip is called when no accepted task is left: those that have not begun were skipped.
func (r *reader) skip() {
	for i := range r.queues {
		q := &r.queues[i]
		r.skipped(len(q.waiting()))
		q.clear()
	}
	clear(r.cancelled)
}

func (r *reader) skipped(n int) {
	r.least.cancelled += n
	r.most.cancelled += n
}

func (r *reader) end(e *history.Event) {
	c := counting{g: e.G, inLoop: e.InLoop || e.Body != history.BodyListener}
	if c.inLoop {
		w := r.worker(e.G)
		if w.depth--; w.depth == 0 {
			w.since = 0
		}
	}
	c.panicked = one(e.Outcome == history.Panicked)
	switch e.Body {
	case history.BodyTask, history.BodyTail:
		c.ran = 1
	case history.BodyTimer:
		c.timersRun, c.timersEnded = 1, one(!r.periodic[e.ID] || e.Outcome.Abrupt())
	case history.BodyHook:
		c.hooksRun = 1
	}
	if c.uncertain != (uncertain{}) {
		r.most.add(&c.uncertain)
		r.counting = append(r.counting, c)
	}
}

// worker returns the state of a goroutine that runs bodies.
func (r *reader) worker(g int64) *worker {
	for i := range r.workers {
		if r.workers[i].g == g {
			return &r.workers[i]
		}
	}
	r.workers = append(r.workers, worker{g: g})
	return &r.workers[len(r.workers)-1]
}

// upper returns the totals for a counter that is read now.
func (r *reader) upper() totals {
	t := r.totals
	t.most.rejected += r.calling
	t.most.cancelled += len(r.cancelled)
	return t
}
