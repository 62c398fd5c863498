package interleave

import (
	"fmt"
	"time"

	"eventide/props"
	"eventide/props/history"
	"eventide/props/interleave/inprocess"
)

// unwoken looks for news that came while the loop slept and that nobody told it, and for
// a wake without news (G12). It is the step form of "no lost wake-up" for what comes
// during a sleep, as V1 is for what is there when it begins: whoever brings news has to
// have woken the loop when the call returns. To wait for what comes of it finds less: the
// next call wakes the loop, and of a lazy task, or of a timer that is cancelled, nothing
// is ever late.
//
// Programs with a spawner of their own are not judged: the loop may run on the goroutine
// of a caller. Nor are pools of several workers, which sleep one by one.
func unwoken(p props.Program, events []history.Event) *history.Violation {
	if len(p.Starts) > 0 || p.Overlaps() {
		return nil
	}
	s := sleep{
		room: props.RulesOf(p).Capacity(), events: events, timers: map[int]*timer{},
		open: map[int64]int{}, owed: map[int]string{}, free: map[int]string{},
	}
	for i := range events {
		e := &events[i]
		s.event(e)
		if s.wrong == "" {
			continue
		}
		g, _ := props.Lookup("G12")
		return &history.Violation{Guarantee: g.ID, Predicate: "unwoken", Sentence: g.Sentence, At: []int{s.slept, s.call, e.N}, Text: s.wrong}
	}
	return nil
}

// overslept looks for a sleep in a shutdown that lasts longer than the quiet period
// (G12): where timers are cancelled at the call, there is nothing else to wait for. It is
// the step form of G10: to wait for the end of that sleep is to wait for what ends it.
//
// Event loops are not judged, which wait for their channels. Nor are programs in which
// the clock does not only move when nobody can run: when the loop read it is not known.
func overslept(sc Scenario, events []history.Event) *history.Violation {
	p := sc.Program
	if p.Loop || p.Overlaps() || len(p.Starts) > 0 || p.Timers != history.CancelTimers || sc.Time != inprocess.Idle {
		return nil
	}
	asked, last := 0, time.Duration(0) // the first shutdown call; from when on it is quiet
	for _, e := range events {
		switch {
		case e.Kind == history.Admit && e.Op.Shuts() && e.Outcome == history.True && asked == 0:
			asked, last = e.Call, max(last, e.At)
		case e.Kind == history.End && e.Body != history.BodyListener:
			last = max(last, e.At)
		case e.Kind == history.Park && e.To == history.ShuttingDown && asked != 0:
			if due := history.Later(last, events[asked-1].Quiet); e.Deadline > due {
				g, _ := props.Lookup("G12")
				return &history.Violation{
					Guarantee: g.ID, Predicate: "overslept", Sentence: g.Sentence, At: []int{asked, e.N},
					Text: fmt.Sprintf("asleep at #%d until %v, and the quiet period ends at %v", e.N, until(e.Deadline), due),
				}
			}
		}
	}
	return nil
}

func until(at time.Duration) string {
	if at == history.Never {
		return "never"
	}
	return at.String()
}

// sleep is what is known of the loop's sleep as a history goes by. Events that core
// writes with its lock held (Admit, Transit, Ended, Park and Wake) are in the order in
// which it decided.
type sleep struct {
	room   int // of the queue; 0: no bound
	events []history.Event
	timers map[int]*timer // by label: those that wait, or run and will wait again
	open   map[int64]int  // goroutine -> the call that it makes
	down   bool           // a shutdown call has come, or a failure

	park      int // the Park of the sleep; 0: awake, or somebody has woken it
	loop      int64
	until     time.Duration
	lazy      int            // lazy tasks since
	heap      int            // timers that the loop has in its heap
	cancelled int            // of those, since
	owed      map[int]string // calls that have to wake it before they return, and why
	free      map[int]string // calls that must not, and why

	wrong       string
	slept, call int // what it is about
}

type timer struct {
	once  bool
	since int // the sleep during which it was scheduled: the loop does not know of it
}

func (s *sleep) event(e *history.Event) {
	switch {
	case e.Kind == history.Park:
		s.park, s.loop, s.until = e.N, e.G, e.Deadline
		s.lazy, s.heap, s.cancelled = 0, len(s.timers), 0
		return
	case e.Kind == history.Wake && s.park != 0 && s.free[s.open[e.G]] != "":
		s.blame(s.open[e.G], "woken from a sleep until %v by the call at #%d, which %s")
	case e.Kind == history.Return && s.owed[e.Call] != "":
		s.blame(e.Call, "asleep until %v, and not woken by the call at #%d, which %s")
	case e.Kind == history.Wake, e.G == s.loop && s.park != 0:
		s.park = 0
		clear(s.owed)
		clear(s.free)
	}
	switch {
	case e.Kind == history.Invoke:
		s.open[e.G] = e.N
	case e.Kind == history.Transit && e.To >= history.ShuttingDown:
		s.down = true
	case e.Kind == history.Begin && e.Body == history.BodyTimer && s.timers[e.ID] != nil && s.timers[e.ID].once:
		delete(s.timers, e.ID)
	case e.Kind == history.End && e.Body == history.BodyTimer && e.Outcome != history.Normal:
		delete(s.timers, e.ID)
	case e.Kind == history.Ended && s.down && s.park != 0:
		if call := s.open[e.G]; call != 0 && s.events[call-1].Op == history.OpEnd {
			s.owed[call] = "ends what the shutdown waits for"
		}
	case e.Kind == history.Admit:
		s.admit(e)
	}
}

func (s *sleep) blame(call int, format string) {
	s.slept, s.call = s.park, call
	s.wrong = fmt.Sprintf(format, until(s.until), call, s.owed[call]+s.free[call])
}

// admit is the moment at which a call takes effect.
func (s *sleep) admit(e *history.Event) {
	news := ""
	inv := &s.events[e.Call-1]
	switch {
	case e.Op == history.OpCancel && e.Outcome == history.True:
		news = s.cancel(e.ID)
	case e.Op == history.OpReset && e.Outcome == history.True:
		news = s.due(e, inv, "moves a timer to")
	case e.Op.Shuts() && e.Outcome == history.True:
		news = "shuts it down"
	case e.Outcome != history.Accepted:
	case e.Op == history.OpExecuteLazy:
		if s.lazy++; s.lazy == s.room {
			news = "takes the last room of its queue"
		} else {
			s.needsNone(e.Call, "adds a lazy task")
		}
	case e.Op.Timers():
		news = s.schedule(e, inv)
	case e.Op == history.OpAddHook || e.Op.Registers():
		if s.down {
			news = "adds to what the shutdown has to do"
		}
	case queued(e.Op):
		news = "queues a task"
	}
	if news != "" && s.park != 0 {
		s.owed[e.Call] = news
	}
}

func (s *sleep) needsNone(call int, why string) {
	if s.park != 0 {
		s.free[call] = why
	}
}

func (s *sleep) schedule(e, inv *history.Event) (news string) {
	s.timers[e.ID] = &timer{once: e.Op == history.OpSchedule, since: s.park}
	return s.due(e, inv, "schedules a timer for")
}

// due reports whether the timer that a call schedules or moves is due before the loop
// wakes by itself. If the clock moves during the call, the deadline lies between the two
// that are computed here. A timer that is scheduled after a shutdown call may have ended
// at once, and one that is moved then may be one that the shutdown has cancelled.
func (s *sleep) due(e, inv *history.Event, does string) (news string) {
	if due := history.Later(e.At, inv.Delay); due < s.until && !s.down {
		return fmt.Sprintf("%s %v", does, due)
	}
	if due := history.Later(inv.At, inv.Delay); due >= s.until {
		s.needsNone(e.Call, fmt.Sprintf("%s %v", does, due))
	}
	return ""
}

// cancel says whether most of what is in the heap has been cancelled (G8). A shutdown
// has cancelled some itself.
func (s *sleep) cancel(id int) (news string) {
	t := s.timers[id]
	if t == nil {
		return ""
	}
	delete(s.timers, id)
	if s.park == 0 || t.since == s.park {
		return ""
	}
	if s.cancelled++; 2*s.cancelled > s.heap && !s.down {
		return fmt.Sprintf("cancels number %d of the %d timers in its heap", s.cancelled, s.heap)
	}
	return ""
}
