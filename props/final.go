package props

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"eventide/core"
	"eventide/props/history"
)

// Final has the report, the counters and the error of a terminated executor. checkFinal compares
// them with the log, which has the same facts from calls, bodies and transitions.
type Final struct {
	Report core.Report
	Stats  core.Stats
	Err    error // of the Termination
	Early  int   // tasks that were refused with a State before Terminated
	Traced int   // timers of which the tracer was told that they were cancelled

	Reports  Reports
	Handler  Handler     // of the program
	Metered  *Metered    // nil: the program made no meter
	Reads    []MeterRead // of the meter, before
	Plain    bool        // not an event loop: it has no channels, and its poller is not rebuilt
	Reopened int         // how often the scripted poller was reopened; -1: a real one
	Kept     int         // how often it could not be, though it had not failed
	Faults   *Faults     // nil: nothing that the executor was given can fail
}

// final reads the Final of the executor, which must have terminated.
func (h *harness) final() *Final {
	t := h.ex.Termination()
	f := &Final{Report: t.Report(), Stats: h.ex.Stats(), Err: t.Err(), Early: int(h.refusedEarly.Load()), Reports: h.reporter.take(), Handler: h.handler, Metered: h.metered()}
	f.Plain = h.fds.loop == nil
	f.Traced = h.rec.cancelledTimers()
	if h.meter != nil {
		f.Reads = h.meter.reads
	}
	if f.Err != nil {
		h.lookAtStart(f.Err, false)
	}
	switch kernel := h.fds.kernel.(type) {
	case nil:
		f.Faults = h.clock.happened()
	case *poller:
		f.Reopened, f.Kept = kernel.rebuilt()
		f.Faults = kernel.happened(&h.clock)
	default:
		f.Reopened = -1
	}
	return f
}

// refusal counts the error of a call that submits a task, for Final.Early.
func (h *harness) refusal(err error) error {
	if err == nil {
		return nil
	}
	h.lookAtStart(err, answer(err) == history.RefusedStartFailed)
	var refused *core.RejectedError
	if errors.As(err, &refused) && refused.State < core.StateTerminated {
		h.refusedEarly.Add(1)
	} else if refused != nil {
		h.lookAtLateRefusal(refused)
	}
	return err
}

// lookAtLateRefusal compares the reason of a refusal after the end with the end: if there was no loop for
// the shutdown, because the start failed, that is the reason, also if admission had been closed before
// with another one (G17).
func (h *harness) lookAtLateRefusal(refused *core.RejectedError) {
	end := h.ex.Termination().Err()
	if end == nil {
		return
	}
	if kind := kindOfStart(end); kind != "" && kindOfStart(refused.Reason) != kind {
		h.blame("G17: the executor has ended because its start failed with %v, and then refuses a task with the reason %v", end, refused.Reason)
	}
}

// fromLog has the values that the log implies for the fields of a Final.
type fromLog struct {
	tally                      history.Tally
	hooks, timerRuns           int // bodies that began
	scheduled, timersCancelled int
	parks, wakes               int
	panicked                   int            // bodies, without listeners
	first                      *history.Event // the Invoke of the shutdown call that took effect first
	firstAt, closedAt, done    time.Duration
	timedOut, failed           bool
	terminated                 bool           // the state has moved to Terminated
	late                       *history.Event // the first body that began on the loop before the panic handler got an earlier panic
	kept, asleep               bool           // at a close by the timeout: a body ran before and after that instant; the loop slept
	open                       []int          // then these bodies ran
	idle                       bool           // then it slept, and no task had been submitted that had not begun
	needless                   *history.Event // a wake-up that claimed no sleep: there was none since the last wake-up
}

// readLog reads it.
func readLog(h *history.History) (l fromLog) {
	l.tally = h.Tally()
	timers := map[int]bool{}
	var bodies []*history.Event // the begins of those that run
	asleep, running, unreported := false, 0, 0
	waiting := 0              // tasks that were submitted and have not begun
	claimable := false        // a sleep has begun, and no wake-up has claimed it
	awake := map[int64]bool{} // of a pool: its workers
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case e.Kind == history.End && e.Outcome == history.Panicked && e.InLoop:
			unreported++
		case e.Kind == history.Begin && e.ID == handlerID && e.InLoop:
			unreported--
		case e.Kind == history.Begin && e.Body != history.BodyListener && unreported > 0 && l.late == nil:
			l.late = e
		}
		switch e.Kind {
		case history.Invoke:
			waiting += one(e.Op.Tasks())
		case history.Begin:
			waiting -= one(e.Body == history.BodyTask || e.Body == history.BodyTail)
			if e.Body != history.BodyListener {
				bodies = append(bodies, e)
				running++
				if h.Rules.Overlap {
					awake[e.G] = true
				}
			}
			l.hooks += one(e.Body == history.BodyHook)
			l.timerRuns += one(e.Body == history.BodyTimer)
		case history.End:
			l.panicked += one(e.Outcome == history.Panicked && e.Body != history.BodyListener)
			if i := lastOf(bodies, e.G); e.Body != history.BodyListener && i >= 0 {
				l.kept = l.kept || l.timedOut && bodies[i].At < l.closedAt && l.closedAt < e.At
				bodies = slices.Delete(bodies, i, i+1)
				running--
			}
		case history.Return:
			waiting -= one(e.Op.Tasks() && e.Outcome == history.Refused)
			if e.Op.Timers() && e.Outcome == history.Accepted {
				l.scheduled++
				timers[e.ID] = true
			}
		case history.Complete:
			l.timersCancelled += one(timers[e.ID] && e.Outcome == history.Cancelled)
		case history.Park:
			l.parks++
			asleep, claimable = true, true
			if h.Rules.Overlap {
				delete(awake, e.G)
			}
		case history.Unpark:
			asleep = false
			if h.Rules.Overlap {
				awake[e.G] = true
			}
		case history.Wake:
			l.wakes++
			if !claimable && !h.Rules.Overlap && l.needless == nil {
				l.needless = e
			}
			claimable = false
		case history.Admit:
			if e.Op.Shuts() && e.Outcome == history.True && l.first == nil {
				l.first, l.firstAt = &h.Events[e.Call-1], e.At
			}
		case history.Transit:
			l.failed, l.terminated = l.failed || e.Cause.Failure(), l.terminated || e.To == history.Terminated
			if e.Cause == history.CauseTimeout && e.To == history.Shutdown {
				l.timedOut, l.closedAt = true, e.At
				// In a pool a worker may be between the end of a body and its sleep, while another sleeps:
				// for the pool the body still runs.
				l.asleep = asleep && running == 0 && (!h.Rules.Overlap || len(awake) == 0)
				l.idle = l.asleep && waiting == 0
				for _, begin := range bodies {
					l.open = append(l.open, begin.ID)
				}
			}
		case history.Done:
			l.done = e.At
		}
	}
	return l
}

// lastOf returns the position of the last event of a goroutine, or -1.
func lastOf(events []*history.Event, g int64) int {
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].G == g {
			return i
		}
	}
	return -1
}

// checkFinal compares a Final with the log. It compares times only in lanes with exact times.
func checkFinal(p Program, h *history.History, rules history.Rules, f *Final) *history.Violation {
	if f == nil {
		return nil
	}
	l := readLog(h)
	r, s := f.Report, f.Stats
	var wrong string
	equal := func(what string, says int64, log int) {
		if wrong == "" && says != int64(log) {
			wrong = fmt.Sprintf("%s is %d, and the log has %d", what, says, log)
		}
	}
	equal("Report.Accepted", r.Accepted, l.tally.Accepted)
	equal("Report.Ran", r.Ran, l.tally.Begun)
	equal("Report.Cancelled", r.Cancelled, l.tally.Accepted-l.tally.Begun)
	equal("Report.Rejected", r.Rejected, f.Early)
	equal("Report.HooksRun", r.HooksRun, l.hooks)
	equal("Report.TimersRun", r.TimersRun, l.timerRuns)
	equal("Report.TimersCancelled", r.TimersCancelled, l.timersCancelled)
	equal("the number of timers that were traced as cancelled", int64(f.Traced), l.timersCancelled)
	for what, n := range map[string]int64{"Report.Panicked": r.Panicked, "Stats.Panicked": s.Panicked} {
		// A listener's panic may come after the report is sealed.
		equal(what, n, min(max(int(n), l.panicked), l.tally.Panicked))
	}
	equal("Stats.Accepted", s.Accepted, l.tally.Accepted)
	equal("Stats.Ran", s.Ran, l.tally.Begun)
	equal("Stats.Cancelled", s.Cancelled, l.tally.Accepted-l.tally.Begun)
	equal("Stats.Pending", s.Pending, 0)
	equal("Stats.Rejected", s.Rejected, l.tally.Rejected)
	equal("Stats.Timers", s.Timers, 0)
	equal("Stats.Registrations", s.Registrations, 0)
	equal("Stats.HooksRun", s.HooksRun, l.hooks)
	equal("Stats.Hooks", s.Hooks, 0)
	equal("Stats.TimersScheduled", s.TimersScheduled, l.scheduled)
	equal("Stats.TimersEnded", s.TimersEnded, l.scheduled-l.timersCancelled)
	equal("Stats.TimersCancelled", s.TimersCancelled, l.timersCancelled)
	equal("Stats.TimersRun", s.TimersRun, l.timerRuns)
	equal("Stats.Parks + Stats.Spins", s.Parks+s.Spins, l.parks)
	equal("Stats.Wakes", s.Wakes, l.wakes)
	equal("Stats.Workers", s.Workers, 0) // an executor is no pool
	equal("Stats.Busy", s.Busy, 0)
	equal("Report.ChannelsHeld", r.ChannelsHeld, 0) // only channels of core/tcp can be held
	equal("bytes of Report.Held", int64(len(r.Held)), 0)
	if f.Plain { // S21 judges those of an event loop
		equal("Report.ChannelsDrained", r.ChannelsDrained, 0)
		equal("Report.ChannelsAborted", r.ChannelsAborted, 0)
		equal("Report.BytesDiscarded", r.BytesDiscarded, 0)
		equal("Report.WritesRefused", r.WritesRefused, 0)
	}
	if f.Reopened >= 0 {
		equal("Stats.Rebuilds", s.Rebuilds, f.Reopened)
	}
	equal("Stats.State", int64(s.State), int(core.StateTerminated))
	equal("the number of moves to Terminated", 1, one(l.terminated))
	if wrong == "" {
		wrong = checkEnd(p, l, rules, f)
	}
	if wrong != "" {
		return &history.Violation{Guarantee: "G20", Predicate: "Final", Sentence: "the report and the last snapshot agree with the log", Text: wrong}
	}
	if l.needless != nil {
		return &history.Violation{Guarantee: "G12", Predicate: "Final", Sentence: "a wake-up claims a sleep", Text: fmt.Sprintf("event %d is a wake-up, and no sleep has begun since the last one", l.needless.N)}
	}
	if wrong = f.wrongFaults(rules); wrong != "" {
		return &history.Violation{Guarantee: "G15", Predicate: "Faults", Sentence: "an executor ends with the failures of its poller, and with no other", Text: wrong}
	}
	return checkReports(l, rules, f)
}

// checkEnd compares the fields of the report about the shutdown with the log.
func checkEnd(p Program, l fromLog, rules history.Rules, f *Final) string {
	r := f.Report
	quiet, timeout := time.Duration(0), time.Duration(0)
	if l.first != nil {
		quiet, timeout = l.first.Quiet, l.first.Timeout
	}
	switch {
	case l.first == nil && !l.failed:
		return "" // the caller of the shutdown is not in the log
	case r.Quiet != quiet || r.Timeout != timeout:
		return fmt.Sprintf("Report.Quiet and Timeout are %v and %v, and the first call gave %v and %v", r.Quiet, r.Timeout, quiet, timeout)
	case r.TimedOut != l.timedOut:
		return fmt.Sprintf("Report.TimedOut is %v, and the log has %v", r.TimedOut, l.timedOut)
	case l.failed && f.Err == nil, f.Err != nil && !l.failed && !rules.Breaks && !rules.Spawner: // it may fail after the close
		return fmt.Sprintf("Termination.Err is %v, and by the log the executor failed: %v", f.Err, l.failed)
	case rules.Virtual && l.first != nil && r.Elapsed != l.done-l.firstAt && !f.clockPanicked():
		return fmt.Sprintf("Report.Elapsed is %v, and the log has %v", r.Elapsed, l.done-l.firstAt)
	case r.Running == "" && slices.ContainsFunc(l.open, p.awaits):
		return fmt.Sprintf("Report.Running is empty, and a body waited for Context as the timeout passed at %v", l.closedAt)
	case rules.Virtual && l.kept && r.Running == "":
		return fmt.Sprintf("Report.Running is empty, and a body ran as the timeout passed at %v", l.closedAt)
	case rules.Virtual && (l.asleep || !l.timedOut) && r.Running != "":
		return fmt.Sprintf("Report.Running names a body, and none ran as the timeout passed (timed out: %v): %s", l.timedOut, r.Running)
	}
	return ""
}

// checkReports compares what was reported with the log and the report.
func checkReports(l fromLog, rules history.Rules, f *Final) *history.Violation {
	wrong := wrongReports(l, rules, f)
	if wrong == "" {
		return nil
	}
	return &history.Violation{Guarantee: "G14", Predicate: "Reports", Sentence: "each panic and each failure is reported once", Text: wrong}
}

// wrongReports returns the first difference, or "".
func wrongReports(l fromLog, rules history.Rules, f *Final) string {
	logged := func(message string) int { return f.Reports.Logged[message] }
	panics := f.Reports.Handled
	if f.Handler == HandlerNone {
		panics = logged("panic in a body")
	}
	timeouts := logged("timeout of the graceful shutdown passed")
	failures := logged("the loop failed") + logged("the pool failed")
	switch {
	case panics < l.panicked || panics > l.tally.Panicked: // that of a listener may be reported later
		return fmt.Sprintf("%d panics were reported, and %d bodies and %d bodies and listeners panicked", panics, l.panicked, l.tally.Panicked)
	case f.Handler != HandlerNone && l.late != nil && !rules.Overlap:
		return fmt.Sprintf("a body began at #%d, and the panic handler had not got the panic before", l.late.N)
	case f.Handler != HandlerNone && logged("panic in a body") > 0:
		return "a panic was logged, though there is a panic handler"
	case logged("panic in the panic handler") != f.Reports.HandlerPanics:
		return fmt.Sprintf("the panic handler panicked %d times, and %d panics of it were logged", f.Reports.HandlerPanics, logged("panic in the panic handler"))
	case timeouts > one(l.timedOut), f.Report.Running != "" && timeouts == 0:
		return fmt.Sprintf("%d timeouts were logged, and the log has one: %v; the body that ran: %q", timeouts, l.timedOut, f.Report.Running)
	case rules.Virtual && f.Plain && l.idle && timeouts > 0: // channels are unfinished work too
		return fmt.Sprintf("a timeout was logged, and nothing was unfinished as it passed at %v", l.closedAt)
	case failures != one(l.failed) && f.Err == nil:
		return fmt.Sprintf("%d failures were logged, and the executor failed: %v", failures, l.failed)
	}
	never := []string{"panic in the tracer", "panic in the function of WithGoroutineStart"}
	if f.Faults == nil {
		never = append(never, secondAlarm)
	}
	for _, message := range never {
		if n := logged(message); n > 0 {
			return fmt.Sprintf("%q was logged %d times", message, n)
		}
	}
	if rebuilds := logged(rebuilt); f.Reopened >= 0 && int64(rebuilds) != f.Stats.Rebuilds {
		return fmt.Sprintf("%d rebuilt pollers were logged, and Stats.Rebuilds is %d", rebuilds, f.Stats.Rebuilds)
	}
	if kept := logged("the poller could not be rebuilt, the old one stays"); f.Reopened >= 0 && kept != f.Kept {
		return fmt.Sprintf("%d pollers were logged that could not be rebuilt, and there were %d", kept, f.Kept)
	}
	return ""
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}
