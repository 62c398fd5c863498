package props

import (
	"slices"
	"time"

	"eventide/props/history"
)

// Lane is the kind of environment in which a history was made.
type Lane uint8

// The kinds.
const (
	Virtual Lane = 1 << iota // real goroutines; time is virtual and advances when all of them wait
	Real                     // real time, and a real poller
	Chosen                   // every step is chosen; time moves when no goroutine can run
	Ticking                  // every step is chosen, and time moves between any two of them

	everyLane = Virtual | Real | Chosen | Ticking
)

// relaxation is an exception: properties that some lanes do not judge.
type relaxation struct {
	lanes    Lane
	programs func(Program) bool // for which programs; nil: all

	inexact    bool          // times are not exact
	slack      time.Duration // with inexact: the lateness that is allowed
	late       time.Duration // with inexact: how late work begins at most; 0: nobody knows
	turns      int           // how many turns in a row may find nothing to do; 0: as usual
	parts      history.Parts // parts that the log does not have, or that cannot be promised
	predicates []string      // predicates that are not judged
	anyTimers  bool          // the model alone judges which timers a shutdown runs, if the policy lets some run
	overlap    bool          // bodies may overlap
	unmodelled bool          // the model has one loop, and few timers that a shutdown may let run
	early      bool          // the log may show events later than they took effect: see asModelled

	why string
}

// relaxations has all exceptions of the lanes. Everything else is judged in every lane.
var relaxations = []relaxation{
	{
		lanes: everyLane, programs: startsSlowly, inexact: true, slack: 10 * slowStart,
		why: "a slow spawner takes time that no event accounts for",
	},
	{
		lanes: everyLane, programs: rounds, inexact: true, late: roundedLate, turns: roundedTurns, parts: history.QuietPeriod | history.Deadlines, anyTimers: true,
		why: "a rounded clock is behind the alarms, so that a timeout passes before its time by the clock, and timers are late; nothing else is early",
	},
	{
		lanes: everyLane, programs: goesBack, inexact: true, parts: history.QuietPeriod, slack: backMost, anyTimers: true, predicates: []string{"V6", "V7", "S10", "S23"},
		why: "a clock must not go back: if it does, no time of a timer or a quiet period is promised, but everything else",
	},
	{
		lanes: everyLane, programs: jumpsAhead, inexact: true, slack: aheadMost, parts: history.QuietPeriod | history.Deadlines, anyTimers: true,
		why: "alarms are set for a span of time, so they are late after a jump of the clock; nothing is early",
	},
	{
		lanes: Real, inexact: true, slack: realSlack,
		why: "the machine runs other goroutines at the same time: only an event that is early, or later than a busy machine makes it, is wrong",
	},
	{
		lanes: Real, parts: history.Readiness,
		why: "nobody knows when the kernel makes a real descriptor ready",
	},
	{
		lanes: Ticking, inexact: true, parts: history.QuietPeriod | history.Deadlines,
		why: "time moves between any two steps, so lateness says nothing: the order of events counts, and nothing may be early",
	},
	{
		lanes: Ticking, anyTimers: true,
		why: "which timers were due at the shutdown call depends on when the call read the clock",
	},
	{
		lanes: Ticking, predicates: []string{"V6"},
		why: "alarms that were stopped too late may all fire in one instant",
	},
	{
		lanes: Chosen | Ticking, programs: listens, predicates: []string{"V8"},
		why: "a listener that is added to a complete future wakes the loop, and no call in the log shows that",
	},
	{
		lanes: everyLane, programs: Program.Overlaps, overlap: true, unmodelled: true, parts: history.OneLoop | history.Parks, predicates: []string{"S5", "V7"},
		why: "the workers of a pool sleep one by one, and what two of them have taken begins in either order: checkPool judges it instead",
	},
	{
		lanes: everyLane, programs: manyTimers, unmodelled: true,
		why: "the model has no clock: under a policy that lets timers run each of them is due or not, and doubles its states",
	},
	{
		lanes: everyLane, programs: Program.pooled, predicates: []string{"V12"},
		why: "the workers of a pool take listeners and other bodies in any order",
	},
	{
		lanes: everyLane, programs: unevenTurns, predicates: []string{"V11"},
		why: "the workers of a pool have no turns, a meter ends a batch of tasks where it measures a wait, and a panic of the clock ends a turn anywhere",
	},
	{
		lanes: Chosen | Ticking, early: true,
		why: "every step may come between a decision and the event that tells it; with free goroutines hardly any does",
	},
}

// terms are the rules that remain.
type terms struct {
	rules    history.Rules // for the model
	observed history.Rules // for the predicates
	skipped  []string      // predicates
	early    bool
	alone    bool // the model cannot follow the program
}

// RulesOf returns which parts the history of a program has in the lane Virtual, and the
// configuration of core.
func RulesOf(p Program) history.Rules { return RulesIn(Virtual, p) }

// RulesIn is RulesOf in any lane.
func RulesIn(lane Lane, p Program) history.Rules { return termsOf(lane, p).rules }

func termsOf(lane Lane, p Program) terms {
	t := terms{rules: history.Rules{
		Parts: history.All, Virtual: true, AtRest: true,
		QueueBound: p.Limit, Timers: p.Timers, Jitter: p.Jitter, Spawner: len(p.Starts) > 0,
		Drain: p.Drain, Breaks: p.breaks(),
	}}
	policy, late, known := p.Timers, time.Duration(0), true
	for _, r := range relaxations {
		if r.lanes&lane == 0 || r.programs != nil && !r.programs(p) {
			continue
		}
		if r.inexact {
			t.rules.Virtual, t.rules.Slack = false, max(t.rules.Slack, r.slack)
			late, known = max(late, r.late), known && r.late > 0
		}
		t.rules.IdleTurns = max(t.rules.IdleTurns, r.turns)
		t.rules.Parts &^= r.parts
		t.skipped = append(t.skipped, r.predicates...)
		t.early = t.early || r.early
		t.alone = t.alone || r.unmodelled
		t.rules.Overlap = t.rules.Overlap || r.overlap
		if r.anyTimers && p.Timers != history.CancelTimers { // whatever the time, cancelled timers do not run
			policy = history.AnyTimers
		}
	}
	if known { // by every relaxation
		t.rules.Late = late
	}
	t.observed = t.rules
	t.observed.Timers = policy
	return t
}

func rounds(p Program) bool { return p.Clock == ClockRounded }

func goesBack(p Program) bool {
	return p.Clock == ClockCounted && p.AnyStep(func(s *Step) bool { return s.Fault == FaultBack })
}

// jumpsAhead reports whether the clock jumps ahead and never goes back: its log is by the clock.
func jumpsAhead(p Program) bool {
	return !goesBack(p) && p.Clock == ClockCounted && p.AnyStep(func(s *Step) bool { return s.Fault == FaultAhead })
}

func startsSlowly(p Program) bool { return slices.Contains(p.Starts, StartSlow) }

// unevenTurns reports whether a turn of the loop may end for a reason that the log does not show.
func unevenTurns(p Program) bool {
	return p.Pool > 0 || p.clockFaults() || p.AnyStep(func(s *Step) bool { return s.Ask == AskMeter })
}

// manyTimers reports whether one step schedules more timers than the model can follow under the policy.
func manyTimers(p Program) bool {
	return p.Timers != history.CancelTimers && p.AnyStep(func(s *Step) bool { return s.Op.Timers() && s.Times > mostTimers })
}

func (p Program) pooled() bool { return p.Pool > 0 }

// Overlaps reports whether a program runs on a pool that has or may get several workers.
func (p Program) Overlaps() bool {
	return p.Pool > 1 || p.Pool > 0 && p.AnyStep(func(s *Step) bool { return s.Ask == AskResize })
}

// listens reports whether a listener is added to a future.
func listens(p Program) bool {
	return p.AnyStep(func(s *Step) bool { return s.Body != nil && s.Body.Listen })
}
