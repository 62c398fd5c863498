package process

import (
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"slices"
	"syscall"
	"testing"
	"time"

	"eventide/core"

	"pgregory.net/rapid"
)

// TestPropLinesOfAReport compares the lines of generated reports with a specification, argument by argument: the line of each
// part as it ends, and the lines at the end of the exit. Each part that was begun has one line. A figure of an executor that
// is 0 in most exits has no place in the line then. The code of the exit is that of the worst part.
func TestPropLinesOfAReport(t *testing.T) {
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(r *rapid.T) {
		e := drawReportedExit(r)
		var got []string
		x := &exit{plan: &Plan{Steps: make([]Step, len(e.report.Steps))}, log: &scribe{ctx: t.Context(), logger: slog.New(lineHandler{slog.DiscardHandler, &got})}}
		x.notReady, x.start = e.attempt(0), e.attempt(len(e.parts())-1)
		for i := range e.report.Steps {
			x.steps = append(x.steps, e.attempt(i+1))
		}
		var want []string
		for i, a := range x.attempts() {
			if part := e.parts()[i]; e.ended[i] {
				x.logStep(a, part)
				x.logStep(a, part) // has no effect
				want = append(want, e.lineOf(part)...)
			}
		}
		x.logExit(e.report)
		x.log.flush(time.Hour)
		if want = append(want, e.lastLines()...); !slices.Equal(got, want) {
			r.Fatalf("the lines are\n%q\nwant\n%q", got, want)
		}
		if code := e.report.code(); code != e.wantCode() {
			r.Fatalf("the code of %+v is %d, want %d", e.report, code, e.wantCode())
		}
	})
}

// reportedExit is a report, and which of its parts have their line before the end of the exit.
type reportedExit struct {
	report Report
	ended  []bool
}

// parts are NotReady, the steps, and Start.
func (e *reportedExit) parts() []StepReport {
	return slices.Concat([]StepReport{e.report.NotReady}, e.report.Steps, []StepReport{e.report.Start})
}

func drawReportedExit(t *rapid.T) *reportedExit {
	e := &reportedExit{report: Report{Code: rapid.IntRange(0, 2).Draw(t, "code"), Elapsed: time.Second}}
	e.report.NotReady, e.report.Start = drawPart(t, "NotReady"), drawPart(t, "Start")
	for i := range rapid.IntRange(0, 3).Draw(t, "steps") {
		s := drawPart(t, fmt.Sprint("s", i))
		if rapid.Bool().Draw(t, "the step has an executor") {
			drawWork(t, &s)
		}
		e.report.Steps = append(e.report.Steps, s)
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "parts of Start") {
		e.report.Starts = append(e.report.Starts, drawPart(t, fmt.Sprint("part", i)))
	}
	e.report.Ended = rapid.SampledFrom([]error{nil, nil, ErrDeadline, &SignalError{syscall.Signal(2), true}}).Draw(t, "end")
	for _, part := range e.parts() {
		e.ended = append(e.ended, part.Outcome != NotBegun && (part.Outcome != StillRunning || part.DeadlinePassed) && rapid.Bool().Draw(t, "has its line"))
	}
	return e
}

// drawPart draws the report of a part without an executor.
func drawPart(t *rapid.T, name string) StepReport {
	s := StepReport{Name: name, Outcome: rapid.SampledFrom([]Outcome{Done, NotBegun, Failed, StillRunning}).Draw(t, "outcome of "+name)}
	if s.Outcome == NotBegun {
		return s
	}
	s.Elapsed = time.Duration(rapid.IntRange(1, 3).Draw(t, "elapsed"))
	s.DeadlinePassed = rapid.IntRange(0, 3).Draw(t, "late") == 0
	if s.Outcome == Failed {
		s.Err = rapid.SampledFrom([]error{errOfPart, &core.PanicError{Value: "p", Stack: []byte("the stack")}}).Draw(t, "error")
	}
	return s
}

var errOfPart = errors.New("no luck")

// drawWork draws the figures of an executor.
func drawWork(t *rapid.T, s *StepReport) {
	few := func(name string) int64 {
		return max(0, rapid.Int64Range(-3, 2).Draw(t, name))
	}
	w := &s.Work
	w.Accepted, w.Ran, w.Rejected, w.Panicked = few("accepted"), few("ran"), few("rejected"), few("panicked")
	w.Cancelled, w.TimersCancelled = few("cancelled"), few("timers cancelled")
	w.ChannelsDrained, w.ChannelsAborted, w.BytesDiscarded = few("drained"), few("aborted"), few("discarded")
	w.WritesRefused, w.ChannelsHeld = few("refused"), few("held")
	if w.ChannelsHeld > 0 {
		w.Held = "the holds"
	}
	w.TimedOut = few("timed out") > 0
	if few("running at the timeout") > 0 {
		w.Running = "then"
	}
	if s.Outcome == StillRunning && few("running") > 0 {
		s.Running = "now"
	}
	s.Lost = few("lost")
}

// attempt is the attempt of a part.
func (e *reportedExit) attempt(i int) *attempt {
	if e.parts()[i].Outcome == NotBegun {
		return nil
	}
	return &attempt{}
}

// lineOf is the line of a part that has ended, or that is late.
func (e *reportedExit) lineOf(s StepReport) []string {
	line, more := "INFO step done", ""
	switch w := s.Work; {
	case s.DeadlinePassed:
		line, more = "ERROR step's deadline passed", " outcome="+s.Outcome.String()
	case s.Outcome == Failed:
		line = "ERROR step failed"
	case s.Lost > 0:
		line = "ERROR step done, and accepted tasks were not run"
	case w.ChannelsHeld > 0:
		line = "ERROR step done, and channels were closed with answers in flight"
	case w.TimedOut:
		line = "WARN step done after its timeout"
	case w.WritesRefused > 0:
		line = "WARN step done, and channels refused writes"
	case w.ChannelsAborted > 0, w.BytesDiscarded > 0:
		line = "WARN step done, and channels were aborted"
	}
	return []string{line + fmt.Sprintf(" step=%s elapsed=%v", s.Name, s.Elapsed) + resultOf(s) + more}
}

// resultOf has the error and the figures of a part.
func resultOf(s StepReport) (text string) {
	if s.Err != nil {
		text = fmt.Sprintf(" error=%v", s.Err)
		if s.Err != errOfPart {
			text += " stack=the stack"
		}
	}
	w := s.Work
	if w == (core.Report{}) {
		return text
	}
	text += fmt.Sprintf(" accepted=%d ran=%d lost=%d rejected=%d panicked=%d cancelled=%d timers_cancelled=%d channels_drained=%d channels_aborted=%d bytes_discarded=%d",
		w.Accepted, w.Ran, s.Lost, w.Rejected, w.Panicked, w.Cancelled, w.TimersCancelled, w.ChannelsDrained, w.ChannelsAborted, w.BytesDiscarded)
	if w.WritesRefused != 0 {
		text += fmt.Sprint(" writes_refused=", w.WritesRefused)
	}
	if w.ChannelsHeld != 0 {
		text += fmt.Sprintf(" channels_held=%d held=the holds", w.ChannelsHeld)
	}
	switch {
	case s.Running != "":
		text += " running=now"
	case w.Running != "":
		text += " running_at_timeout=then"
	}
	return text
}

// lastLines are the lines at the end of the exit.
func (e *reportedExit) lastLines() (lines []string) {
	parts := e.parts()
	for i, s := range parts {
		isStart := i == len(parts)-1
		switch {
		case s.Outcome == StillRunning && isStart && len(e.report.Starts) > 0:
			line := fmt.Sprintf("ERROR still running step=%s elapsed=%v starts=%v", s.Name, s.Elapsed, namesWith(e.report.Starts, StillRunning))
			lines = append(lines, line)
		case s.Outcome == StillRunning:
			lines = append(lines, fmt.Sprintf("ERROR still running step=%s elapsed=%v", s.Name, s.Elapsed)+resultOf(s))
		case s.Outcome == NotBegun && s.Lost > 0:
			lines = append(lines, fmt.Sprintf("ERROR step not begun, and accepted tasks were not run step=%s", s.Name)+resultOf(s))
		case s.Outcome != NotBegun && !e.ended[i]:
			lines = append(lines, e.lineOf(s)...)
		}
	}
	named := parts
	if len(e.report.Starts) > 0 {
		named = slices.Concat(parts[:len(parts)-1], e.report.Starts)
	}
	lost, cancelled := int64(0), int64(0)
	for _, s := range e.report.Steps {
		lost += s.Lost
		cancelled += s.Work.Cancelled + s.Work.TimersCancelled
	}
	last := fmt.Sprintf("exit code=%d elapsed=%v lost=%d cancelled=%d", e.report.Code, e.report.Elapsed, lost, cancelled)
	if e.report.Ended != nil {
		last += fmt.Sprintf(" ended=%v", e.report.Ended)
	}
	if names := namesWith(named, StillRunning); len(names) > 0 {
		last += fmt.Sprintf(" still_running=%v", names)
	}
	if names := namesWith(named, NotBegun); len(names) > 0 {
		last += fmt.Sprintf(" not_begun=%v", names)
	}
	level := "ERROR "
	if e.report.Code == CodeClean {
		level = "INFO "
	}
	return append(lines, level+last)
}

// namesWith are the names of the parts with an outcome.
func namesWith(parts []StepReport, o Outcome) (names []string) {
	for _, s := range parts {
		if s.Outcome == o {
			names = append(names, s.Name)
		}
	}
	return names
}

// wantCode is the code of the exit.
func (e *reportedExit) wantCode() int {
	if s, ok := e.report.Ended.(*SignalError); ok {
		return 128 + int(s.Signal.(syscall.Signal))
	}
	failed := e.report.Ended != nil
	for _, s := range e.parts() {
		failed = failed || s.DeadlinePassed || s.Outcome == Failed || s.Outcome == StillRunning || s.Lost > 0 || s.Work.ChannelsHeld > 0
	}
	if failed {
		return CodeFailed
	}
	return CodeClean
}
