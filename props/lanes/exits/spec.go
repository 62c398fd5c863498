//go:build linux

package exits

import (
	"fmt"
	"math"
	"syscall"
	"time"
)

// never is later than everything.
const never = time.Duration(math.MaxInt64)

// The figures of the documentation of core/process.
const (
	defaultDeadline = 25 * time.Second
	stepDeadline    = 5 * time.Second
	leastTime       = time.Second
	heedTime        = 100 * time.Millisecond
)

// row is what the specification predicts of a part of the exit.
type row struct {
	begun      bool
	begin, end time.Duration // end is when it ends by itself or because its context ends
	late       bool
	failure    string
	undecided  bool          // it ends at the time at which the exit does
	timedOut   string        // of an executor: "true", "false", or "" if that is not decided
	timeout    time.Duration // that the executor gets
	cut        time.Duration // when its context ends
}

// exit is the abstract state of a run: the parts of the documentation, one after another.
type exit struct {
	p                *Program
	begin            time.Duration // of the exit
	cause            string
	deadline, forced time.Duration // of the exit, and the second signal
	forcedBy         syscall.Signal
	now              time.Duration
	notReady         *row
	steps            []*row
	start            *row
	parts            []*row
	servers          map[int]*serving // by step
	origin           time.Time        // of the times
	startsAt         bool             // Start was called
	endStart         time.Duration
	preDrainCut      bool
	readyAt          time.Duration
	said             []string
	preDrainSkipped  bool
	servesFrom       time.Duration // when PreDrain begins; endStart is when it ends
	served           time.Duration // PreDrain, as far as there is time
}

// predict runs the specification.
func predict(p *Program) *exit {
	x := &exit{p: p, servers: map[int]*serving{}, origin: time.Now(), begin: never, forced: never, readyAt: never, endStart: never}
	x.startsAt = (p.Start != nil || len(p.Starts) > 0) && cancelAt(p) > 0
	x.findBegin()
	x.findReady()
	x.deadline = x.begin + x.planDeadline()
	x.now = x.begin
	x.say(x.begin, "STOPPING=1")
	if p.NotReady >= 0 {
		limit := min(stepDeadline, allBut(sum(p.preDrain(), x.kept(0)), x.left()))
		x.notReady = x.perform(limit, ending(p.NotReadyEnd), func(begin, _ time.Duration) time.Duration { return begin + p.notReadyTakes() })
	}
	x.preDrain()
	x.endStart = x.now
	for i := range p.Steps {
		x.steps = append(x.steps, x.step(i))
	}
	x.awaitStart()
	return x
}

func (x *exit) planDeadline() time.Duration {
	return orDefault(x.p.deadline(), defaultDeadline)
}

func (x *exit) left() time.Duration { return x.deadline - x.now }

// hard is when the exit is cut.
func (x *exit) hard() time.Duration { return min(x.deadline, x.forced) }

func (x *exit) say(at time.Duration, text string) {
	if x.p.Manager.Address != "" && !x.p.Manager.Broken {
		x.said = append(x.said, fmt.Sprintf("%v %s", at, text))
	}
}

func (x *exit) extend(d time.Duration) {
	x.say(x.now, fmt.Sprintf("EXTEND_TIMEOUT_USEC=%d", (d+time.Second).Microseconds()))
}

// starts are Start or Starts.
func (p *Program) starts() []Start {
	if p.Start != nil {
		return []Start{*p.Start}
	}
	return p.Starts
}

// findBegin finds the cause of the exit: the first of the signals, the end of the context, the
// first failure of a part, and the return of all parts.
func (x *exit) findBegin() {
	p := x.p
	begin := func(at time.Duration, cause string) {
		if at < x.begin {
			x.begin, x.cause = at, cause
		}
	}
	second := false
	for i, s := range p.Sent {
		switch at := signalAt(p, i); {
		case !p.wanted(s.Signal):
		case second:
			if at < x.forced {
				x.forced, x.forcedBy = at, s.Signal
			}
		default:
			second = true
			begin(at, "signal "+s.Signal.String())
		}
	}
	begin(cancelAt(p), "context")
	if !x.startsAt {
		return
	}
	last := time.Duration(0)
	for i, s := range p.starts() {
		at := s.takes(i)
		last = max(last, at)
		if failure := ending(s.End); failure != "" {
			if p.Start == nil {
				failure = fmt.Sprintf("part %d: %s", i, failure)
			}
			begin(at, failure)
		}
	}
	begin(last, "returned")
}

// findReady finds when the program is ready, if it is.
func (x *exit) findReady() {
	p := x.p
	all := p.starts()
	at := time.Duration(0)
	if len(all) > 0 {
		last := time.Duration(0)
		for i, s := range all {
			last = max(last, s.takes(i))
		}
		for i, s := range all {
			own := never
			if s.Ready >= 0 && s.readyAt(i) < s.takes(i) {
				own = s.readyAt(i)
			}
			if p.Start == nil && s.End == endsWell && s.takes(i) < last {
				own = min(own, s.takes(i))
			}
			at = max(at, own)
		}
		if !x.startsAt {
			at = never
		}
	}
	if at < x.begin {
		x.readyAt = at
		x.say(at, "READY=1")
	}
}

func ending(how string) string {
	if how == endsWell {
		return ""
	}
	return how
}

// perform predicts a part that may take limit: end returns when it ends, if its context ends at a
// time.
func (x *exit) perform(limit time.Duration, failure string, end func(begin, context time.Duration) time.Duration) *row {
	if x.now >= x.hard() {
		return nil
	}
	x.extend(min(limit, x.left()))
	r := &row{begun: true, begin: x.now, failure: failure}
	over := min(sum(x.now, limit), x.deadline)
	r.cut = min(over, x.forced)
	r.end = end(x.now, r.cut)
	x.wait(r, over)
	return r
}

// wait predicts how long the exit waits for a part whose own deadline is over.
func (x *exit) wait(r *row, over time.Duration) {
	cut := min(over, x.hard())
	switch {
	case r.end < cut:
		x.now = max(x.now, r.end)
	case over >= x.deadline || x.forced <= over:
		x.now = max(x.now, x.hard())
		r.undecided = r.end == x.now
	default:
		r.late = true
		heed := min(heedTime, (x.deadline-over)/2)
		x.now = max(x.now, min(r.end, over+heed, x.hard()))
	}
}

func (x *exit) startFailedBy(at time.Duration) bool {
	if !x.startsAt {
		return false
	}
	failed := false
	for i, s := range x.p.starts() {
		if s.takes(i) > at {
			return false // all parts must have returned
		}
		failed = failed || s.End != endsWell
	}
	return failed
}

// preDrain: the program goes on serving, unless its Start has failed.
func (x *exit) preDrain() {
	p := x.p
	x.servesFrom = x.now
	if p.PreDrain == 0 {
		return
	}
	if x.startFailedBy(x.now) {
		x.preDrainSkipped = true
		return
	}
	left, all := x.left(), p.preDrain()
	taken := x.planDeadline() - left
	lasts := max(0, min(all, max(left-x.kept(0), all-taken)))
	x.preDrainCut, x.served = lasts >= left, lasts
	x.extend(lasts)
	x.now = min(x.now+lasts, max(x.now, x.hard()))
}

// step predicts a step.
func (x *exit) step(i int) *row {
	s := &x.p.Steps[i]
	timeout, limit := x.budget(i)
	if s.Kind == "run" {
		return x.perform(limit, ending(s.End), func(begin, context time.Duration) time.Duration {
			if s.Heeds {
				return min(begin+s.takes(i), context)
			}
			return begin + s.takes(i)
		})
	}
	if s.Kind == "graceful" {
		stopped := false
		failure := ending(s.End)
		if failure == endsFailed {
			failure = endsPanic // GracefulStop cannot return an error
		}
		r := x.perform(limit, failure, func(begin, context time.Duration) time.Duration {
			stopped = failure == "" && context <= begin+s.takes(i)
			return min(begin+s.takes(i), context)
		})
		if stopped {
			r.failure = "stopped"
		}
		return r
	}
	if s.Kind == "http" {
		return x.httpStep(i, limit)
	}
	if s.Kind == "own" {
		return x.ownStep(i, timeout, limit)
	}
	timedOut := ""
	r := x.perform(limit, "", func(begin, context time.Duration) time.Duration {
		work, quiet := s.length(i)*time.Duration(s.Tasks), ms(s.Quiet)
		closes := max(begin, work) + quiet
		if at := begin + timeout; at != closes {
			timedOut = fmt.Sprint(at < closes)
			closes = min(at, closes)
		}
		if end := max(closes, work); end < context {
			return end
		}
		if closes >= context {
			timedOut = ""
		}
		return max(min(closes, context), work)
	})
	if r != nil {
		r.timedOut, r.timeout = timedOut, timeout
	}
	return r
}

// budget is the documentation of Step, "The time of a step".
func (x *exit) budget(i int) (timeout, limit time.Duration) {
	s, left := &x.p.Steps[i], x.left()
	kept := x.kept(i + 1)
	if !s.hasExecutor() {
		limit = allBut(kept, left)
		switch {
		case s.Deadline > 0:
			limit = s.deadline()
		case s.Kind == "graceful" || s.Kind == "http":
			limit -= min(heedTime, limit/2)
		default:
			limit = min(stepDeadline, limit)
		}
		return 0, limit
	}
	drain := orDefault(ms(s.Drain), leastTime)
	timeout = max(min(orDefault(ms(s.Timeout), stepDeadline), left-min(drain, left/2)), ms(s.Quiet))
	switch {
	case s.Deadline > 0:
		return timeout, s.deadline()
	case s.Drain > 0:
		return timeout, timeout + ms(s.Drain)
	}
	return timeout, timeout + allBut(kept, left-timeout)
}

// kept is the time reserved for the steps from number first on.
func (x *exit) kept(first int) (total time.Duration) {
	for _, s := range x.p.Steps[min(first, len(x.p.Steps)):] {
		total += heedTime
		switch {
		case s.Deadline > 0:
			total += s.deadline()
		case !s.hasExecutor():
			total += leastTime
		default:
			total += max(ms(s.Timeout), ms(s.Quiet)) + orDefault(ms(s.Drain), leastTime)
		}
	}
	return total
}

// allBut is left without kept, but at least half of left.
func allBut(kept, left time.Duration) time.Duration { return max(left-min(kept, left), left/2) }

func orDefault[N int | time.Duration](d, otherwise N) N {
	if d == 0 {
		return otherwise
	}
	return d
}

func sum(a, b time.Duration) time.Duration {
	if a > never-b {
		return never
	}
	return a + b
}

// awaitStart predicts the end of Start, whose context ended before the first step.
func (x *exit) awaitStart() {
	if !x.startsAt {
		return
	}
	x.start = &row{begun: true}
	for i, s := range x.p.starts() {
		r := &row{begun: true, end: s.takes(i), failure: ending(s.End)}
		if s.Heeds && x.endStart < r.end {
			r.end, r.failure = x.endStart, ""
			if s.Ended == "joined" || s.Ended == endsFailed {
				r.failure = s.Ended
			}
		}
		x.start.end = max(x.start.end, r.end)
		if x.p.Start != nil {
			x.start.failure = r.failure
			break
		}
		x.parts = append(x.parts, r)
		if r.failure != "" {
			x.start.failure += fmt.Sprintf("part %d: %s; ", i, r.failure)
		}
	}
	x.extend(stepDeadline)
	x.wait(x.start, min(sum(x.now, stepDeadline), x.deadline))
}
