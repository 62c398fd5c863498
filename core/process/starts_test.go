package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// readinessOf returns what the readiness probe of h answers.
func readinessOf(h *Health) string {
	_, text := probe(h.Readiness())
	return strings.TrimSpace(text)
}

// serving returns a Start that is ready after a while, and serves until its context ends.
func (c *calls) serving(name string, after time.Duration) Part {
	return Part{Name: name, Start: func(ctx context.Context) error {
		time.Sleep(after)
		if err := Ready(ctx); err != nil {
			return err
		}
		<-ctx.Done()
		c.note(name + " ended")
		return ctx.Err()
	}}
}

// The program is ready with the last of its parts, and not before.
func TestStartsAreReadyTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, h := newCalls(), &Health{}
		twice := Part{Name: "twice", Start: func(ctx context.Context) error {
			coretest.Must(t, Ready(ctx))
			coretest.Must(t, Ready(ctx)) // the second call does not count for another part
			<-ctx.Done()
			return nil
		}}
		loaded := Part{Name: "cache", Start: func(context.Context) error { time.Sleep(2 * time.Second); return nil }}
		tr := launch(t, t.Context(), Plan{Health: h, PreDrain: time.Second,
			Starts: []Part{c.serving("http", time.Second), twice, loaded, c.serving("queue", 3*time.Second)}})
		for _, want := range []string{"not ready: starting", "not ready: starting", "not ready: starting", "ready"} {
			synctest.Wait()
			coretest.Want(t, fmt.Sprint("readiness after ", time.Since(c.began)), readinessOf(h), want)
			time.Sleep(time.Second)
		}
		tr.signals <- os.Interrupt
		tr.wantCode(CodeClean)
		if got := c.String(); got != "http ended@5s queue ended@5s" && got != "queue ended@5s http ended@5s" {
			t.Errorf("the parts ended as %q, want both after PreDrain, at 5s", got)
		}
		for i, name := range []string{"http", "twice", "cache", "queue"} {
			coretest.Want(t, "report of a part", fmt.Sprint(tr.report.Starts[i].Name, tr.report.Starts[i].Outcome), name+Done.String())
		}
		coretest.Want(t, "report of Start", tr.report.Start.Outcome, Done)
	})
}

// The first failure begins the exit. The other parts serve until PreDrain has passed.
func TestStartsFirstFailureBeginsTheExit(t *testing.T) {
	lost := errors.New("broker is gone")
	tests := []struct {
		name string
		fail func() error
		is   func(error) bool
		line string
	}{
		{"error", func() error { return lost }, func(err error) bool { return errors.Is(err, lost) }, "broker is gone"},
		{"panic", func() error { panic("no broker") }, func(err error) bool { var p *core.PanicError; return errors.As(err, &p) }, "stack="},
		{"Goexit", func() error { runtime.Goexit(); return nil }, func(err error) bool { return errors.Is(err, core.ErrGoexit) }, "Goexit"},
		{"its own Canceled", func() error { return context.Canceled }, func(err error) bool { return errors.Is(err, context.Canceled) }, "canceled"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, h := newCalls(), &Health{}
				tr := launch(t, t.Context(), Plan{
					Health:   h,
					PreDrain: 5 * time.Second,
					NotReady: func() { c.note("not ready") },
					Starts: []Part{c.serving("http", 0), {Name: "queue", Start: func(ctx context.Context) error {
						coretest.Must(t, Ready(ctx))
						time.Sleep(time.Second)
						return tt.fail()
					}}},
					Steps: []Step{c.step("one")},
				})
				time.Sleep(time.Second)
				synctest.Wait()
				wantLine(t, tr.log.String(), "level=ERROR", "start failed", "start=queue", tt.line)
				wantLine(t, tr.log.String(), "level=ERROR", "exit begins", `start \"queue\"`)
				tr.wantCode(CodeFailed)
				if got := c.String(); got != "not ready@1s http ended@6s one@6s" && got != "not ready@1s one@6s http ended@6s" {
					t.Errorf("the exit was %q, want http to serve until PreDrain has passed", got)
				}
				var part *PartError
				if !errors.As(tr.report.Cause, &part) || part.Part != "queue" || !tt.is(part) {
					t.Errorf("the cause is %v, want a PartError of queue", tr.report.Cause)
				}
				if r := tr.report; r.Start.Outcome != Failed || !tt.is(r.Start.Err) || r.Starts[0].Outcome != Done || r.Starts[1].Outcome != Failed {
					t.Errorf("the report is %+v, want Start and its part queue failed", r)
				}
			})
		})
	}
}

// The cause is a PartError also if no other part runs any more.
func TestStartsCauseOfTheLastPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lost := errors.New("broker is gone")
		tr := launch(t, t.Context(), Plan{Starts: []Part{
			{Name: "cache", Start: func(context.Context) error { return nil }},
			{Name: "queue", Start: func(context.Context) error { coretest.Pass(time.Second); return lost }},
		}})
		tr.wantCode(CodeFailed)
		if part, is := tr.report.Cause.(*PartError); !is || part.Part != "queue" || part.Err != lost {
			t.Errorf("the cause is a %T: %v, want the PartError of queue", tr.report.Cause, tr.report.Cause)
		}
	})
}

// A part that fails before the last one is ready: the program is never ready.
func TestStartsThatFailAreNeverReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, h := newCalls(), &Health{}
		tr := launch(t, t.Context(), Plan{Health: h, Starts: []Part{
			c.serving("slow", 2*time.Second),
			{Name: "broken", Start: func(context.Context) error { return errors.New("port is taken") }},
		}})
		tr.wantCode(CodeFailed)
		if got := readinessOf(h); !strings.Contains(got, "port is taken") {
			t.Errorf("the probe gets %q, want the failure", got)
		}
	})
}

// Parts that all return nil end the program, and it does not become ready in between.
func TestStartsThatAllReturnNil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		job := func(name string, takes time.Duration) Part {
			return Part{Name: name, Start: func(context.Context) error { time.Sleep(takes); return nil }}
		}
		tr := launch(t, t.Context(), Plan{Starts: []Part{job("a", time.Second), job("b", 2*time.Second)}})
		tr.wantCode(CodeClean)
		tr.wantTook(2 * time.Second)
		coretest.WantErr(t, "cause", tr.report.Cause, ErrStartReturned)
	})
}

// No part is left when one fails: the program serves no traffic, so PreDrain is skipped.
func TestStartsWithoutASurvivorSkipPreDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := launch(t, t.Context(), Plan{PreDrain: 5 * time.Second, Starts: []Part{
			{"cache", func(context.Context) error { return nil }},
			{"http", func(context.Context) error { time.Sleep(time.Second); return errors.New("port is taken") }},
		}})
		tr.wantCode(CodeFailed)
		tr.wantTook(time.Second)
		tr.wantLine("level=ERROR", "exit begins", "port is taken")
		tr.wantLine("level=WARN", "PreDrain is skipped")
		coretest.WantText(t, "Start.Err", tr.report.Start.Err, `process: start "http": port is taken`)
	})
}

// A second failure during the exit is logged at once, and is in the report.
func TestStartsReportEachFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fail := func(what string, after time.Duration) func(context.Context) error {
			return func(context.Context) error { time.Sleep(after); return errors.New(what) }
		}
		tr := launch(t, t.Context(), Plan{PreDrain: 5 * time.Second, Starts: []Part{{"a", fail("first", 0)}, {"b", fail("second", time.Second)}}})
		time.Sleep(time.Second)
		synctest.Wait()
		wantLine(t, tr.log.String(), "level=ERROR", "start failed", "start=b", "second")
		tr.wantCode(CodeFailed)
		coretest.WantText(t, "cause", tr.report.Cause, `process: start "a": first`)
		coretest.WantText(t, "Start.Err", tr.report.Start.Err, "process: start \"a\": first\nprocess: start \"b\": second")
	})
}

// Parts that ignore their context are left behind after the last step, and named.
func TestStartsThatDoNotEndAreNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		defer close(gate)
		c := newCalls()
		tr := launch(t, t.Context(), Plan{Starts: []Part{c.serving("http", 0), {"deaf", until(gate)}}})
		tr.signals <- os.Interrupt
		tr.wantCode(CodeFailed)
		tr.wantTook(DefaultStepDeadline + heedTime)
		coretest.Want(t, "still running", fmt.Sprint(tr.report.StillRunning()), "[deaf]")
		tr.wantLine("level=ERROR", "still running", "step=Start", "starts=[deaf]")
		if r := tr.report.Starts[1]; r.Outcome != StillRunning || !r.DeadlinePassed {
			t.Errorf("the report of deaf is %+v, want it still running past its deadline", r)
		}
	})
}

func TestStartsOfABadPlan(t *testing.T) {
	serve := func(context.Context) error { return nil }
	tests := []struct {
		plan Plan
		want string
	}{
		{Plan{Start: serve, Starts: []Part{{"a", serve}}}, "process: Plan: Start and Starts are both set, want one of them"},
		{Plan{Starts: []Part{{"", serve}}}, "process: Plan: Starts[0].Name is empty, want a name"},
		{Plan{Starts: []Part{{"a", serve}, {"a", serve}}}, `process: Plan: Starts[1].Name is "a", want one that Starts[0] does not have`},
		{Plan{Starts: []Part{{"a", nil}}}, "process: Plan: Starts[0].Start is nil, want a function"},
	}
	for _, tt := range tests {
		coretest.WantText(t, "Validate", tt.plan.Validate(), tt.want)
	}
	coretest.Must(t, Plan{Starts: []Part{{"http", serve}}, Steps: []Step{{Name: "http", Run: serve}}}.Validate())
}

// TestDeadlineOfStartIsThatOfThePartsThatRun: only a part that still runs at the deadline of Start has missed it.
func TestDeadlineOfStartIsThatOfThePartsThatRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		tr := launch(t, t.Context(), Plan{Starts: []Part{
			{Name: "stuck", Start: until(gate)},
			newCalls().serving("http", 0),
		}})
		tr.signals <- os.Interrupt
		r := tr.wait()
		close(gate)
		if !r.Start.DeadlinePassed || !r.Starts[0].DeadlinePassed || r.Starts[1].DeadlinePassed || r.Starts[1].Outcome != Done {
			t.Errorf("the report is %+v, want the deadline to have passed for Start and for its first part", r)
		}
	})
}
