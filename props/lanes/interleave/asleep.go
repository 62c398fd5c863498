package interleave

import (
	"fmt"
	"time"

	"eventide/props"
	"eventide/props/history"
	"eventide/props/interleave/inprocess"
)

// unwoken looks for a call that gave a sleeping loop work and did not wake it, and for a
// wake-up without work (G12). V1 checks that no sleep begins while there is work; unwoken
// checks the work that comes during a sleep: the call that brings it must have woken the
// loop when it returns. A check for work that is done too late would find less: the next
// call wakes the loop, and a lazy task or a cancelled timer is never late.
//
// Programs with a spawner of their own are not judged: the loop may run on the goroutine
// of a caller. Neither are pools, which have other rules: workers sleep one by one, and a
// cancelled timer leaves the heap at once.
func unwoken(p props.Program, events []history.Event) *history.Violation {
	if len(p.Starts) > 0 || p.Pool > 0 {
		return nil
	}
	rules := props.RulesOf(p)
	s := sleep{
		rules: rules, room: rules.Capacity(), events: events, timers: map[int]*timer{},
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
// (G12). It judges programs whose timers are cancelled at the shutdown call, so that the
// loop has nothing else to wait for. It judges the deadline when the sleep begins; a
// later call may end the sleep, and then the predicate of G10 sees nothing.
//
// Event loops are not judged, because they wait for their channels. Neither are
// programs in which the clock may move while a goroutine can run: the history does not
// show when the loop read the clock.
func overslept(sc Scenario, events []history.Event) *history.Violation {
	p := sc.Program
	if p.Loop || p.Overlaps() || len(p.Starts) > 0 || p.Timers != history.CancelTimers || sc.Time != inprocess.Idle {
		return nil
	}
	asked, last := 0, time.Duration(0) // the first shutdown call; the begin of the quiet period
	for i := range events {
		e := &events[i]
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

// sleep follows the loop's sleep through a history. Core writes the events Admit,
// Transit, Ended, Park and Wake with its lock held, so they are in the order of its
// decisions.
type sleep struct {
	rules  history.Rules
	room   int // of the queue; 0: no bound
	events []history.Event
	timers map[int]*timer // by label: those that wait, or run and will wait again
	open   map[int64]int  // goroutine -> the call that it makes
	down   bool           // a shutdown has begun, or the loop has failed

	park      int // the Park of the sleep; 0: the loop is awake or has been woken
	loop      int64
	until     time.Duration
	lazy      int            // lazy tasks since the Park
	heap      int            // timers in the heap of the loop at the Park
	cancelled int            // timers of the heap that were cancelled since
	owed      map[int]string // calls that must wake the loop before they return, and why
	free      map[int]string // calls that must not wake it, and why

	wrong       string
	slept, call int // the Park and the call that wrong is about
}

type timer struct {
	once   bool
	since  int           // the Park of the sleep in which it was scheduled: its heap does not have it yet; or 0
	jitter time.Duration // how much later its deadlines are
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

// admit handles an Admit, at which a call takes effect.
func (s *sleep) admit(e *history.Event) {
	news := ""
	inv := &s.events[e.Call-1]
	switch {
	case e.Op == history.OpCancel && e.Outcome == history.True:
		news = s.cancel(e.ID)
	case e.Op == history.OpReset && e.Outcome == history.True:
		if t := s.timers[e.ID]; t != nil {
			news = s.due(e, inv, t.jitter, "moves a timer to")
		}
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
			news = "gives the shutdown more to do"
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
	t := &timer{once: e.Op == history.OpSchedule, since: s.park, jitter: s.rules.JitterOf(inv)}
	s.timers[e.ID] = t
	return s.due(e, inv, t.jitter, "schedules a timer for")
}

// due returns the news if the timer that a call schedules or moves is due before the
// loop wakes by itself. If the clock moves during the call, the deadline lies between
// the two that are computed here. In a shutdown there is no news: a timer that is
// scheduled then may have ended at once, and the shutdown may have cancelled a timer
// that is moved then.
func (s *sleep) due(e, inv *history.Event, jitter time.Duration, does string) (news string) {
	if s.park == 0 {
		return "" // the text is for a loop that sleeps
	}
	if due := history.Later(history.Later(e.At, inv.Delay), jitter); due < s.until && !s.down {
		return fmt.Sprintf("%s %v", does, due)
	}
	if due := history.Later(history.Later(inv.At, inv.Delay), jitter); due >= s.until {
		s.needsNone(e.Call, fmt.Sprintf("%s %v", does, due))
	}
	return ""
}

// cancel returns the news if more than half of the timers in the heap are cancelled
// (G8). In a shutdown there is no news, because the shutdown cancels timers itself.
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
