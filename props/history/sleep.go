package history

import (
	"slices"
	"time"
)

// judgeSleep is V1 (G12): "no lost wake-up", judged at each sleep. When the loop begins
// to sleep, a wake-up is pending, or these hold: the queue has only lazy tasks, the sleep
// ends no later than the next deadline, and in a shutdown the sleep has a deadline. V1
// finds a lost wake-up even if a later wake-up would mask it.
func judgeSleep(j *judge) {
	for i := range j.Events {
		e := &j.Events[i]
		if e.Kind != Park {
			continue
		}
		j.exercised()
		switch {
		case e.Token:
		case e.Queued > 0:
			j.blame(at(e.N), "asleep at #%d with %d tasks queued and no wake pending", e.N, e.Queued)
		case e.Deadline > e.Next:
			j.blame(at(e.N), "asleep at #%d until %v, and the next deadline is %v", e.N, until(e.Deadline), until(e.Next))
		case e.To >= ShuttingDown && e.Deadline == Never && !j.registrationOpen(e.N):
			j.blame(at(e.N), "asleep at #%d without a deadline in state %v, with no wake pending", e.N, e.To)
		}
	}
}

// until returns an instant as text for people.
func until(at time.Duration) string {
	if at == Never {
		return "never"
	}
	return at.String()
}

// DefaultIdleTurns is how often in a row, at one instant, a loop may wake and find no work:
// after an interrupted wait, or after a wake-up whose work it had already run.
const DefaultIdleTurns = 3

// judgeBusy is V6 (G12): a loop with nothing to do sleeps. A turn is idle if nothing
// happened between two sleeps, no goroutine woke the loop, and either no time passed or
// the deadline had already passed when the sleep began.
func judgeBusy(j *judge) {
	var park *Event
	idle, useful := 0, false
	for i := range j.Events {
		e := &j.Events[i]
		switch e.Kind {
		case Unpark:
		case Park:
			if park != nil {
				j.exercised()
				idle = turn(idle, park, e, useful)
			}
			if idle > j.Rules.idleTurns() {
				j.blame(at(park.N, e.N), "%d turns in a row with nothing to do, the last at #%d, at %v", idle, e.N, e.At)
				return
			}
			park, useful = e, false
		default:
			useful = true
		}
	}
}

// turn returns the number of idle turns in a row after one more turn of the loop, from one
// sleep to the next.
func turn(idle int, from, to *Event, useful bool) int {
	if useful || from.Token {
		return 0
	}
	if from.At == to.At || from.Deadline <= from.At {
		return idle + 1
	}
	return 0
}

// wakesPerSleep is 2: the wake-up of this sleep, and one of the previous sleep whose Wake
// was written late.
const wakesPerSleep = 2

// judgeWakes is V8 (G12): the loop does not wake itself, there is at most one wake-up per
// sleep, there are no more wake-ups than outside calls that may give the loop work, and a timer that
// is not due before the end of the sleep wakes nobody. A call whose Wake panics posts that failure: if the
// loop has awoken and sleeps again meanwhile, the call wakes it a second time.
func judgeWakes(j *judge) {
	wakes, parks, causes, now := 0, 0, 0, 0
	var asleep *Event // the Park of the current sleep
	made, by := map[int64]*call{}, map[*call]int{}
	broken := false
	for i := range j.Events {
		e := &j.Events[i]
		switch e.Kind {
		case Fault:
			broken = broken || breaksPoller(*e)
		case Park:
			parks++
			asleep = e
		case Unpark:
			now = 0
			asleep = nil
		case Return:
			delete(made, e.G)
		case Invoke:
			made[e.G] = j.callAt(e.N)
			if c := j.callAt(e.N); c.within == nil && givesWork(e.Op) && (e.Op != OpExecuteLazy || j.Rules.QueueBound > 0) {
				causes++ // a lazy task counts if it may have filled the queue: nothing else could wake the loop
				if e.Op.Registers() {
					causes++ // it may end an older registration of the same descriptor number
				}
			}
		case Transit:
			if !j.loops[e.G] && e.To == Shutdown {
				causes++ // the deadline, on a goroutine of its own
			}
		case Wake:
			wakes, now = wakes+1, now+1
			if c := made[e.G]; c != nil {
				if by[c]++; by[c] == 2 && broken {
					causes++
				}
			}
			j.exercised()
			j.wake(e, wakes, parks, causes, now)
			j.wakeForTimer(e, asleep, made[e.G])
		}
	}
}

// wakeForTimer blames the wake-up by a call that adds or moves a timer, if the loop was asleep when
// the call began, and would have awoken by itself in time. Any call may wake a worker of a pool for
// lazy tasks that wait.
func (j *judge) wakeForTimer(e, asleep *Event, c *call) {
	if !j.Rules.Virtual || asleep == nil || c == nil || c.entry == nil || asleep.N > c.inv.N || !c.inv.Op.Timers() && c.inv.Op != OpReset {
		return
	}
	due := Later(Later(c.inv.At, c.inv.Delay), c.entry.jitter)
	lazy := slices.ContainsFunc(j.entries, func(x *entry) bool {
		return x.op() == OpExecuteLazy && x.submit.inv.N < e.N && x.beginN() > asleep.N
	})
	if due >= asleep.Deadline && due > e.At && !lazy {
		j.blame(at(asleep.N, c.inv.N, e.N), "%s, due at %v, woke the loop at #%d, which slept until %v", c.entry.what(), due, e.N, asleep.Deadline)
	}
}

// givesWork reports whether the call may give the loop something to do.
func givesWork(o Op) bool {
	return o.Submits() || o.Shuts() || o == OpCancel || o == OpReset || o == OpRemoveHook || o == OpEnd || o == OpListen
}

func (j *judge) wake(e *Event, wakes, parks, causes, now int) {
	switch {
	case j.loops[e.G]:
		j.blame(at(e.N), "the loop woke itself at #%d", e.N)
	case wakes > parks+1 || now > wakesPerSleep:
		j.blame(at(e.N), "wake %d at #%d, in %d sleeps", wakes, e.N, parks)
	case wakes > causes:
		j.blame(at(e.N), "wake %d at #%d, and %d calls from outside can have changed anything", wakes, e.N, causes)
	}
}
