//go:build linux

package exits

import (
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"eventide/core"
	"eventide/core/process"
)

// judgeRecords compares the records of the log with the specification: how many there are with each
// message, and what they say.
func (r *run) judgeRecords(got process.Report) {
	r.log.mu.Lock()
	all := slices.Clone(r.log.said)
	r.log.mu.Unlock()
	counts := map[string]int{}
	for _, one := range all {
		if begun := counts["INFO exit begins"]+counts["ERROR exit begins"] > 0; one.ofExit() && !begun {
			r.violate("the log has %q %v in front of \"exit begins\"", one.text, one.attrs)
		}
		counts[one.text]++
		r.judgeRecord(one, got)
	}
	r.judgeStart(all, got)
	for text, want := range r.wantRecords() {
		if n := int64(counts[text]); !want.contain(n) {
			r.violate("the log has %d records %q, want %d to %d", n, text, want.least, want.most)
		}
	}
	for text := range counts {
		if !slices.Contains(knownRecords, text) {
			r.violate("the log has an unknown record %q", text)
		}
	}
	for i, s := range got.Steps {
		n := 0
		if s.Outcome == process.NotBegun && s.Lost > 0 {
			n = 1
		}
		if found := records(all, notBegunText, s.Name); len(found) != n {
			r.violate("the log has %d records %q of step %d, want %d", len(found), notBegunText, i, n)
		}
	}
}

// judgeStart compares the time of the record about Start: it comes when Start has ended, if the exit
// begins then or the program still serves, and not after the steps.
func (r *run) judgeStart(all []said, got process.Report) {
	x, w, want := r.want, r.want.start, time.Duration(0)
	switch {
	case w == nil || got.Start.Outcome == process.NotBegun:
		return
	case x.startFailedBy(x.begin):
		want = x.begin
	case x.preDrainSkipped:
		want = x.servesFrom
	case x.servesFrom < x.endStart && w.end < x.endStart:
		want = max(w.end, x.servesFrom)
	default:
		return
	}
	for _, one := range all {
		if one.step() == "Start" && one.at.Sub(r.began) != want {
			r.violate("the record %q of Start comes at %v, want %v", one.text, one.at.Sub(r.began), want)
		}
	}
}

const (
	notBegunText = "ERROR step not begun, and accepted tasks were not run"
	leftText     = "ERROR still running"
	lateText     = "ERROR step's deadline passed"
)

// knownRecords are the records of an exit.
var knownRecords = []string{
	"INFO exit begins", "ERROR exit begins", "INFO step begins", "INFO still serving", "WARN PreDrain is skipped: Start has failed",
	"INFO signal during the exit; the next one forces it", "WARN timeout passed: admission is closed, and accepted tasks continue",
	"ERROR start failed", "WARN the service manager was not notified", "ERROR executors are stuck: the watchdog is not fed",
	"INFO step done", "ERROR step failed", "ERROR step done, and accepted tasks were not run",
	"ERROR step done, and channels were closed with answers in flight", "WARN step done after its timeout",
	"WARN step done, and channels refused writes", "WARN step done, and channels were aborted", lateText, leftText, notBegunText,
	"INFO exit", "ERROR exit",
}

// records returns those with a text that are about a step.
func records(all []said, text, step string) (found []said) {
	for _, one := range all {
		if one.text == text && len(one.attrs) > 0 && one.attrs[0].Key == "step" && one.attrs[0].Value.String() == step {
			found = append(found, one)
		}
	}
	return found
}

// number of records, at least and at most: what happens at the time of the end may be logged or not.
type bounds struct{ least, most int64 }

func (b bounds) contain(n int64) bool { return b.least <= n && n <= b.most }

// count counts something that happens at a time if that is before the end.
func (b *bounds) count(at, end time.Duration) {
	if at <= end {
		b.most++
	}
	if at < end {
		b.least++
	}
}

// wantRecords returns how many records there are with a text.
func (r *run) wantRecords() map[string]bounds {
	x, p := r.want, r.p
	var begun, serving, signals, timeouts, failed, stuck bounds
	for _, w := range append([]*row{x.notReady}, x.steps...) {
		if w != nil {
			begun.count(0, 1)
		}
	}
	if p.PreDrain > 0 && !x.preDrainSkipped {
		serving.count(0, 1)
	}
	for i, s := range p.Sent {
		if p.wanted(s.Signal) {
			if at := signalAt(p, i); at > x.begin {
				signals.count(at, x.now)
			}
			break
		}
	}
	for i, w := range x.steps {
		if w != nil && p.Steps[i].hasExecutor() {
			timeouts.count(w.begin+w.timeout, min(w.end, x.now))
		}
	}
	for _, w := range x.parts {
		if w.failure != "" {
			failed.count(w.end, x.now)
		}
	}
	names, told := r.stuck(), false
	for i, l := range r.looks() {
		if l.probe < 0 {
			if len(names[i]) > 0 && !told {
				stuck.count(l.at, x.now)
			}
			told = len(names[i]) > 0
		}
	}
	return map[string]bounds{
		"INFO step begins": begun, "INFO still serving": serving, "INFO signal during the exit; the next one forces it": signals,
		"WARN timeout passed: admission is closed, and accepted tasks continue": timeouts,
		"ERROR start failed": failed, "ERROR executors are stuck: the watchdog is not fed": stuck,
	}
}

// judgeRecord compares what one record says.
func (r *run) judgeRecord(one said, got process.Report) {
	x, p := r.want, r.p
	var want []any
	switch one.text {
	case "INFO exit begins", "ERROR exit begins":
		if len(one.attrs) == 2 && one.attrs[0].Key == "cause" && one.attrs[0].Value.Any() == any(got.Cause) {
			one.attrs = one.attrs[1:]
		}
		want = []any{"deadline", x.planDeadline()}
	case "INFO step begins":
		want = []any{"step", one.step()}
	case "INFO still serving":
		want = []any{"for", x.served}
	case "WARN PreDrain is skipped: Start has failed":
		want = []any{"predrain", p.preDrain()}
	case "WARN timeout passed: admission is closed, and accepted tasks continue":
		want = []any{"step", one.step(), "pending", r.pendingAtTimeout(one.step())}
	case "INFO exit", "ERROR exit":
		want = exitArgs(got)
	case notBegunText:
		want = append([]any{"step", one.step()}, stepArgs(stepOf(got, one.step()))...)
	case leftText:
		s := stepOf(got, one.step())
		want = append([]any{"step", s.Name, "elapsed", s.Elapsed}, stepArgs(s)...)
		if s.Name == "Start" && len(got.Starts) > 0 {
			want = []any{"step", s.Name, "elapsed", s.Elapsed, "starts", leftOf(got.Starts)}
		}
	case "ERROR start failed":
		for _, s := range got.Starts {
			if len(one.attrs) > 0 && one.attrs[0].Value.String() == s.Name {
				if s.Outcome == process.StillRunning { // it has ended at the time of the report
					return
				}
				want = append([]any{"start", s.Name}, stepArgs(s)...)
			}
		}
	case "INFO signal during the exit; the next one forces it", "WARN the service manager was not notified", "ERROR executors are stuck: the watchdog is not fed":
		return // their texts are counted
	case lateText:
		if n := len(one.attrs); n < 3 || one.attrs[0].Key != "step" || one.attrs[1].Key != "elapsed" || one.attrs[n-1].Key != "outcome" {
			r.violate("the record %q has %v, want step, elapsed and outcome", one.text, one.attrs)
		}
		return
	default:
		s := stepOf(got, one.step())
		want = append([]any{"step", s.Name, "elapsed", s.Elapsed}, stepArgs(s)...)
	}
	if have := one.flat(); !slices.Equal(have, texts(want)) {
		r.violate("the record %q has %q, want %q", one.text, have, texts(want))
	}
}

// ofExit reports whether a record is about something that happens only after the exit has begun.
func (s said) ofExit() bool {
	switch s.text {
	case "WARN the service manager was not notified":
		state := s.attrs[0].Value.String()
		return strings.HasPrefix(state, "STOPPING=") || strings.HasPrefix(state, "EXTEND_TIMEOUT_USEC=")
	case "INFO step begins", "INFO still serving", "WARN PreDrain is skipped: Start has failed", "INFO exit", "ERROR exit":
		return true
	}
	return false
}

// step is the step that a record is about.
func (s said) step() string {
	if len(s.attrs) > 0 && s.attrs[0].Key == "step" {
		return s.attrs[0].Value.String()
	}
	return ""
}

// flat returns keys and values by turns.
func (s said) flat() (all []string) {
	for _, a := range s.attrs {
		all = append(all, a.Key, textOf(a.Value.Any()))
	}
	return all
}

func texts(args []any) (all []string) {
	for _, a := range args {
		all = append(all, textOf(a))
	}
	return all
}

func textOf(v any) string { return slog.AnyValue(v).String() }

// stepOf returns the report of a part by its name.
func stepOf(got process.Report, name string) process.StepReport {
	for _, s := range append([]process.StepReport{got.NotReady, got.Start}, got.Steps...) {
		if s.Name == name {
			return s
		}
	}
	return process.StepReport{}
}

// leftOf names the parts that still run.
func leftOf(all []process.StepReport) (names []string) {
	for _, s := range all {
		if s.Outcome == process.StillRunning {
			names = append(names, s.Name)
		}
	}
	return names
}

// stepArgs are the error and the figures of a step.
func stepArgs(s process.StepReport) (args []any) {
	var panicked *core.PanicError
	if s.Err != nil {
		args = append(args, "error", s.Err)
	}
	if errors.As(s.Err, &panicked) {
		args = append(args, "stack", string(panicked.Stack))
	}
	w := s.Work
	if w == (core.Report{}) {
		return args
	}
	for _, figure := range []struct {
		name  string
		n     int64
		rules bool // it is named even if it is 0
	}{
		{"accepted", w.Accepted, true}, {"ran", w.Ran, true}, {"lost", s.Lost, true}, {"rejected", w.Rejected, true}, {"panicked", w.Panicked, true},
		{"cancelled", w.Cancelled, true}, {"timers_cancelled", w.TimersCancelled, true}, {"channels_drained", w.ChannelsDrained, true},
		{"channels_aborted", w.ChannelsAborted, true}, {"bytes_discarded", w.BytesDiscarded, true},
		{"writes_refused", w.WritesRefused, false}, {"channels_held", w.ChannelsHeld, false},
	} {
		if figure.rules || figure.n > 0 {
			args = append(args, figure.name, figure.n)
		}
	}
	if w.ChannelsHeld > 0 {
		args = append(args, "held", w.Held)
	}
	if s.Running != "" {
		return append(args, "running", s.Running)
	}
	if w.Running != "" {
		args = append(args, "running_at_timeout", w.Running)
	}
	return args
}

// exitArgs are what the last record says.
func exitArgs(got process.Report) []any {
	args := []any{"code", got.Code, "elapsed", got.Elapsed, "lost", got.Lost(), "cancelled", got.Cancelled()}
	if got.Ended != nil {
		args = append(args, "ended", got.Ended)
	}
	if names := got.StillRunning(); len(names) > 0 {
		args = append(args, "still_running", names)
	}
	if names := got.NotBegun(); len(names) > 0 {
		args = append(args, "not_begun", names)
	}
	return args
}

// pendingAtTimeout is how many tasks of a step had not ended when its timeout passed.
func (r *run) pendingAtTimeout(step string) int64 {
	for i, w := range r.want.steps {
		if s := &r.p.Steps[i]; stepName(i) == step && w != nil {
			n := int64(s.members())
			return n*int64(s.Tasks) - n*r.p.ran(i, w.begin+w.timeout) + int64(s.lost())
		}
	}
	return -1
}
