package process

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"math"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

func init() {
	// A mechanical mutant must not be found by what another one has left behind. A plan takes little time, so
	// there are enough to meet pairs of mistakes.
	for name, value := range map[string]string{"rapid.nofailfile": "true", "rapid.shrinktime": "3s", "rapid.checks": "1000"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
}

// drawnPlan is a plan with the mistakes that the doc comments of Plan, Step, Part and Validate find
// in it, in the order of the doc comment of Validate.
type drawnPlan struct {
	t        *rapid.T
	ex       *core.Executor
	plan     Plan
	mistakes []mistake
	called   bool // Run has called a function of the plan
}

// mistake is what one line of the error has to say: it begins with the field, and has the other parts.
type mistake []string

func (d *drawnPlan) wrong(says ...string) { d.mistakes = append(d.mistakes, says) }

// duration draws a value at and beside the bounds that a field may have.
func (d *drawnPlan) duration(field string) time.Duration {
	return rapid.OneOf(
		rapid.Just(time.Duration(0)),
		rapid.SampledFrom([]time.Duration{-1, 1, math.MinInt64, math.MaxInt64}),
		rapid.SampledFrom([]time.Duration{
			DefaultStepDeadline - 1, DefaultStepDeadline, DefaultStepDeadline + 1,
			DefaultDeadline - 1, DefaultDeadline, DefaultDeadline + 1,
		}),
	).Draw(d.t, field)
}

// notNegative draws a duration that must be 0 or more.
func (d *drawnPlan) notNegative(field string) time.Duration {
	v := d.duration(field)
	if v < 0 {
		d.wrong(field, fmt.Sprintf(" is %v", v), "want 0 or more")
	}
	return v
}

func (d *drawnPlan) bool(what string) bool { return rapid.Bool().Draw(d.t, what) }

func (d *drawnPlan) name(of string) string {
	return rapid.SampledFrom([]string{"", "a", "b", "c", "d"}).Draw(d.t, of)
}

func (d *drawnPlan) call(context.Context) error {
	d.called = true
	return nil
}

func (d *drawnPlan) times() {
	p := &d.plan
	p.PreDrain, p.Deadline = d.notNegative("PreDrain"), d.notNegative("Deadline")
	if d.bool("Health") {
		p.Health = &Health{StuckAfter: d.notNegative("Health.StuckAfter")}
	}
	deadline := p.Deadline
	if deadline == 0 {
		deadline = DefaultDeadline
	}
	if deadline > 0 && p.PreDrain >= deadline {
		d.wrong("PreDrain", fmt.Sprintf(" is %v", p.PreDrain), fmt.Sprintf("less than Deadline, which is %v", deadline))
	}
}

// signals are values of Plan.Signals, and whether a process can catch them.
var signals = []struct {
	os.Signal
	says string // "": it can
}{
	{os.Interrupt, ""}, {syscall.SIGTERM, ""}, {syscall.Signal(1), ""}, {syscall.Signal(64), ""}, {nil, "nil"}, {os.Kill, "killed"},
	{syscall.Signal(0), "signal 0"}, {syscall.Signal(-1), "signal -1"}, {syscall.Signal(65), "signal 65"}, {syscall.Signal(200), "signal 200"}, {flagSignal{}, "a flag"},
}

// flagSignal is a signal that os/signal does not know.
type flagSignal struct{}

func (flagSignal) Signal()        {}
func (flagSignal) String() string { return "a flag" }

func (d *drawnPlan) signals() {
	if d.bool("no signal") {
		d.plan.Signals = []os.Signal{}
	}
	for i := range rapid.IntRange(0, 3).Draw(d.t, "signals") {
		s := rapid.SampledFrom(signals).Draw(d.t, "signal")
		d.plan.Signals = append(d.plan.Signals, s.Signal)
		switch s.says {
		case "":
		case "nil":
			d.wrong(fmt.Sprintf("Signals[%d]", i), "is nil", "want a signal")
		default:
			d.wrong(fmt.Sprintf("Signals[%d]", i), "is "+s.says, "caught", "1 to 64")
		}
	}
}

func (d *drawnPlan) starts() {
	p := &d.plan
	if d.bool("Start") {
		p.Start = d.call
	}
	n := rapid.SampledFrom([]int{0, 0, 1, 2, 3}).Draw(d.t, "starts")
	if p.Start != nil && n > 0 {
		d.wrong("Start and Starts", "both set")
	}
	first := map[string]int{}
	for i := range n {
		where := fmt.Sprintf("Starts[%d]", i)
		part := Part{Name: d.name(where), Start: d.call}
		if j, used := first[part.Name]; part.Name == "" {
			d.wrong(where+".Name", "empty")
		} else if used {
			d.wrong(where+".Name", fmt.Sprintf("%q", part.Name), fmt.Sprintf("Starts[%d]", j))
		} else {
			first[part.Name] = i
		}
		if d.bool("without a function") {
			part.Start = nil
			d.wrong(where+".Start", "nil")
		}
		p.Starts = append(p.Starts, part)
	}
}

func (d *drawnPlan) steps() {
	first := map[string]int{}
	for i := range rapid.IntRange(0, 3).Draw(d.t, "steps") {
		where := fmt.Sprintf("Steps[%d]", i)
		s := Step{Name: d.name(where)}
		if j, used := first[s.Name]; used && s.Name != "" {
			d.wrong(where+".Name", fmt.Sprintf("%q", s.Name), fmt.Sprintf("Steps[%d]", j))
		} else {
			first[s.Name] = i
		}
		s.Quiet, s.Timeout = d.notNegative(where+".Quiet"), d.notNegative(where+".Timeout")
		s.Drain, s.Deadline = d.notNegative(where+".Drain"), d.notNegative(where+".Deadline")
		if s.Name == "" {
			d.wrong(where+".Name", "empty")
		}
		d.does(where, &s)
		d.plan.Steps = append(d.plan.Steps, s)
	}
}

// does draws what the step does.
func (d *drawnPlan) does(where string, s *Step) {
	switch rapid.SampledFrom([]string{"Run", "Executor", "Executor", "nil pointer", "both", "neither", "mistake"}).Draw(d.t, where) {
	case "Run":
		if s.Run = d.call; s.Quiet > 0 || s.Timeout > 0 || s.Drain > 0 {
			d.wrong(where+":", fmt.Sprintf("Quiet is %v, Timeout %v and Drain %v", s.Quiet, s.Timeout, s.Drain), "without Executor")
		}
	case "Executor":
		s.Executor = d.ex
		d.executor(where, s)
	case "nil pointer":
		s.Executor = (*core.Group)(nil)
		d.wrong(where+".Executor", "nil *core.Group")
		d.executor(where, s)
	case "both":
		s.Run, s.Executor = d.call, d.ex
		d.wrong(where+":", "both set")
	case "neither":
		d.wrong(where+":", "Run and Executor are nil")
	case "mistake":
		s.mistake = HTTP(nil, HTTPOptions{}).mistake
		d.wrong(where+":", "HTTP: srv is nil")
	}
}

// executor compares the durations of a step with Executor.
func (d *drawnPlan) executor(where string, s *Step) {
	timeout := s.Timeout
	if timeout == 0 {
		timeout = DefaultStepDeadline
	}
	if timeout >= 0 && s.Quiet > timeout {
		d.wrong(where+".Timeout", fmt.Sprintf("is %v", timeout), fmt.Sprintf("Quiet, which is %v", s.Quiet))
	}
	if s.Drain > 0 && s.Deadline > 0 {
		d.wrong(where+":", fmt.Sprintf("Drain is %v and Deadline %v", s.Drain, s.Deadline), "one of them")
	}
	if s.Deadline > 0 && s.Deadline < timeout {
		d.wrong(where+".Deadline", fmt.Sprintf("is %v", s.Deadline), fmt.Sprintf("Timeout, which is %v", timeout))
	}
}

// check compares the error of Validate with the mistakes, one line each.
func (d *drawnPlan) check() {
	err := d.plan.Validate()
	var lines []string
	if err != nil {
		lines = strings.Split(err.Error(), "\n")
	}
	if len(lines) != len(d.mistakes) {
		d.t.Fatalf("Validate: %v, want the mistakes %q", err, d.mistakes)
	}
	for i, says := range d.mistakes {
		if !strings.HasPrefix(lines[i], "process: Plan: "+says[0]) || !holdsAll(lines[i], says) {
			d.t.Errorf("mistake %d of Validate: %q, want one with %q", i, lines[i], says)
		}
	}
	ctx := d.t.Context()
	if d.bool("a context that never ends") {
		ctx = context.Background()
	}
	p := &d.plan
	beginless := p.Start == nil && len(p.Starts) == 0 && p.Signals != nil && len(p.Signals) == 0 && ctx.Done() == nil
	want := "Start is nil, Signals is empty and ctx never ends"
	switch {
	case err != nil: // whatever else is wrong
		want = err.Error()
	case !beginless:
		return
	}
	p.Logger = slog.New(slog.DiscardHandler)
	if r := RunReport(ctx, *p); r.Code != CodeBadPlan || r.Err == nil || !strings.Contains(r.Err.Error(), want) || err != nil && r.Err.Error() != want {
		d.t.Errorf("Run: code %d, %v, want %d and %s", r.Code, r.Err, CodeBadPlan, want)
	}
	if d.called || d.ex.State() != core.StateNotStarted {
		d.t.Errorf("Run of a bad plan has called a function (%v) or an executor, which is %v", d.called, d.ex.State())
	}
}

// TestPropArguments: Validate finds exactly the mistakes of a plan, in the documented order. Run of such a
// plan returns them, and otherwise that nothing can begin the exit, and calls nothing.
func TestPropArguments(t *testing.T) {
	ex := coretest.NewExecutor(t)
	for name, fields := range map[string][]func(*drawnPlan){
		"times":   {(*drawnPlan).times},
		"signals": {(*drawnPlan).signals},
		"starts":  {(*drawnPlan).starts},
		"steps":   {(*drawnPlan).steps},
		"all":     {(*drawnPlan).times, (*drawnPlan).signals, (*drawnPlan).starts, (*drawnPlan).steps},
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				d := &drawnPlan{t: t, ex: ex}
				for _, draw := range fields {
					draw(d)
				}
				d.check()
			})
		})
	}
}
