package process

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// A Timeout bounds admission (G11). Tasks that were accepted have the time that the
// Plan has left (G3), and the next step, which closes what they use, waits for them.
func TestG3AcceptedTasksOutliveTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		const tasks = 180
		for range tasks {
			coretest.MustExecute(t, ex, func() { time.Sleep(100 * time.Millisecond) })
		}
		c := newCalls()
		tr := launch(t, t.Context(), Plan{Deadline: 20 * time.Second, Steps: []Step{
			{Name: "workers", Executor: ex, Timeout: 300 * time.Millisecond},
			c.step("database"),
		}})
		tr.signals <- os.Interrupt
		tr.wantCode(CodeClean)
		c.want(t, "database@18s")
		s := tr.report.Steps[0]
		<-ex.Termination().Done()
		if s.Lost != 0 || s.Outcome != Done || !s.Work.TimedOut {
			t.Errorf("G3: %d of %d accepted tasks were lost, the step: %+v; want none, done, closed by its timeout", s.Lost, tasks, s)
		}
	})
}

// A Drain limits the accepted tasks, whatever the Plan has left: the next step begins
// then, and the report says how many were not run.
func TestG3DrainLimitsAcceptedTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t, core.WithName("engine"))
		for range 10 {
			coretest.MustExecute(t, ex, func() { time.Sleep(time.Second) })
		}
		c := newCalls()
		tr := launch(t, t.Context(), Plan{Steps: []Step{
			{Name: "workers", Executor: ex, Timeout: 500 * time.Millisecond, Drain: 3 * time.Second},
			c.step("database"),
		}})
		tr.signals <- os.Interrupt
		tr.wantCode(CodeFailed)
		c.want(t, "database@3.6s") // Timeout, Drain, and a moment to heed
		s := tr.report.Steps[0]
		if s.Lost != 7 || s.Work.Ran != 3 || !s.DeadlinePassed || s.Outcome != StillRunning {
			t.Errorf("G3: the step: %+v, want 3 ran, 7 lost, its time over, still running", s)
		}
		tr.wantLine("level=ERROR", "step's deadline passed", "step=workers", "ran=3", "lost=7")
		<-ex.Termination().Done()
	})
}

// fx #1035: the time of later steps is kept for them, and no more than that.
func TestG11StuckExecutorLeavesTheTimeOfLaterSteps(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	run := func(deadline time.Duration) Step { return Step{Run: hang, Deadline: deadline} }
	shut := func(quiet, timeout, drain time.Duration) Step {
		return Step{Executor: coretest.NewExecutor(t), Quiet: quiet, Timeout: timeout, Drain: drain}
	}
	tests := []struct {
		name    string
		step    Step // has 20 s
		later   []Step
		timeout time.Duration
		limit   time.Duration
	}{
		{"no later step", shut(0, s, 0), nil, s, 20 * s},
		{"a later step that gives no time has a second", shut(0, s, 0), []Step{run(0)}, s, 18900 * ms},
		{"two of them", shut(0, s, 0), []Step{run(0), run(0)}, s, 17800 * ms},
		{"a later Deadline", shut(0, s, 0), []Step{run(4 * s)}, s, 15900 * ms},
		{"a later Timeout and Drain", shut(0, s, 0), []Step{shut(0, 2*s, 3*s)}, s, 14900 * ms},
		{"a later Timeout, and a second", shut(0, s, 0), []Step{shut(0, 2*s, 0)}, s, 16900 * ms},
		{"a later Quiet, and a second", shut(0, s, 0), []Step{shut(3*s, 0, 0)}, s, 15900 * ms},
		{"a later Drain", shut(0, s, 0), []Step{shut(0, 0, 3*s)}, s, 16900 * ms},
		{"half of the rest at most", shut(0, 4*s, 0), []Step{run(time.Hour)}, 4 * s, 12 * s},
		{"a Drain", shut(0, s, 2*s), []Step{run(4 * s)}, s, 3 * s},
		{"a Drain is not shortened for later steps", shut(0, s, 19*s), []Step{run(4 * s)}, s, 20 * s},
		{"a Timeout leaves the Drain", shut(0, time.Hour, 5*s), nil, 15 * s, 20 * s},
		{"half of what is left at least", shut(0, time.Hour, time.Hour), nil, 10 * s, time.Hour + 10*s},
		{"a Timeout without Drain leaves a second", shut(0, time.Hour, 0), []Step{run(0)}, 19 * s, 19500 * ms},
		{"the default Timeout", shut(0, 0, 0), nil, 5 * s, 20 * s},
		{"Run has its default", run(0), []Step{run(0)}, 0, 5 * s},
		{"Run has its Deadline", run(19 * s), []Step{run(4 * s)}, 0, 19 * s},
		{"Run without Deadline leaves the time of later steps", run(0), []Step{run(8 * s), run(7 * s)}, 0, 5 * s},
		{"Run without Deadline has half of what is left, or its default", run(0), []Step{run(time.Hour)}, 0, 5 * s},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := Plan{Steps: append([]Step{tt.step}, tt.later...)}
			if got := p.budget(0, 20*s); got.timeout != tt.timeout || got.limit != tt.limit {
				t.Errorf("G11: of 20 s the step has Timeout %v, limit %v; want %v, %v", got.timeout, got.limit, tt.timeout, tt.limit)
			}
		})
	}
}

// Steps that give no time and hang do not starve each other, however many they are.
func TestG11EveryStuckStepOfAShortPlanBegins(t *testing.T) {
	for _, deadline := range []time.Duration{time.Second, 3 * time.Second, 10 * time.Second, DefaultDeadline} {
		t.Run(deadline.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gate := make(chan struct{})
				var steps []Step
				for i := range 3 {
					ex := coretest.NewExecutor(t)
					coretest.MustExecute(t, ex, held(gate))
					steps = append(steps, Step{Name: fmt.Sprint("engine ", i), Executor: ex}, Step{Name: fmt.Sprint("stuck ", i), Run: until(gate)})
				}
				tr := launch(t, t.Context(), Plan{Deadline: deadline, Steps: steps})
				tr.signals <- os.Interrupt
				tr.wantCode(CodeFailed)
				tr.wantTook(deadline)
				if names := tr.report.NotBegun(); names != nil {
					t.Errorf("G11: of a Deadline of %v these steps had no turn: %s", deadline, strings.Join(names, ", "))
				}
				close(gate)
				for _, s := range steps {
					if s.Executor != nil {
						s.Executor.Shutdown()
						<-s.Executor.Termination().Done()
					}
				}
			})
		})
	}
}

// Nor does a NotReady that hangs: the steps have their time, and accepted tasks run.
func TestG11StuckNotReadyStarvesNoStep(t *testing.T) {
	tests := []struct {
		deadline, preDrain time.Duration
		want               string // when the step begins
	}{
		{4 * time.Second, 0, "one@3s"}, // a second is kept, and a moment to heed is in front of it
		{time.Second, 0, "one@600ms"},  // half of the time, and a moment
		{10 * time.Second, 6 * time.Second, "one@8.9s"},
		{10 * time.Second, 9 * time.Second, "one@9s"},
		{DefaultDeadline, 10 * time.Second, "one@15.1s"}, // DefaultStepDeadline, and a moment
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.deadline, " ", tt.preDrain), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gate := make(chan struct{})
				c := newCalls()
				tr := launch(t, t.Context(), Plan{
					NotReady: func() { <-gate },
					PreDrain: tt.preDrain,
					Deadline: tt.deadline,
					Steps:    []Step{c.step("one")},
				})
				tr.signals <- os.Interrupt
				tr.wantCode(CodeFailed)
				c.want(t, tt.want)
				close(gate)
			})
		})
	}
}

// What a step that had no turn has lost is in the log by its name.
func TestG20LostTasksOfAStepThatHadNoTurnAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate, ex := make(chan struct{}), coretest.NewExecutor(t)
		for range 3 {
			coretest.MustExecute(t, ex, held(gate))
		}
		tr := launch(t, t.Context(), Plan{Deadline: time.Second, Steps: []Step{
			{Name: "stuck", Deadline: time.Hour, Run: until(gate)},
			{Name: "engine", Executor: ex},
		}})
		tr.signals <- os.Interrupt
		tr.wantCode(CodeFailed)
		tr.wantLine("level=ERROR", "step not begun", "step=engine", "accepted=3", "ran=0", "lost=3")
		close(gate)
		<-ex.Shutdown().Done()
	})
}

// Accepted tasks that go on behind the Timeout are in the log when it passes, and not only
// when the step ends, perhaps long after.
func TestG11TimeoutThatPassesIsLoggedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		for range 5 {
			coretest.MustExecute(t, ex, func() { time.Sleep(time.Second) })
		}
		tr := launch(t, t.Context(), Plan{Steps: []Step{{Name: "workers", Executor: ex, Timeout: 1500 * time.Millisecond}}})
		tr.signals <- os.Interrupt
		time.Sleep(2500 * time.Millisecond)
		synctest.Wait()
		wantLine(t, tr.log.String(), "level=WARN", "timeout passed", "step=workers", "pending=4")
		tr.wantCode(CodeClean)
		tr.wantTook(5 * time.Second)
	})
}

// TestG11TimeoutOfATerminatedExecutorIsNotLogged: a Timeout that passes as the executor terminates is no warning.
func TestG11TimeoutOfATerminatedExecutorIsNotLogged(t *testing.T) {
	var got []string
	x := &exit{log: &scribe{ctx: t.Context(), logger: slog.New(lineHandler{slog.DiscardHandler, &got})}}
	passed := x.timeoutPassed("workers")
	ex := newEnded(core.Report{})
	passed(ex.term)
	passed(ex.Shutdown())
	x.log.flush(time.Hour)
	if len(got) != 1 {
		t.Errorf("G11: the lines are %q, want one, from before the termination", got)
	}
}

// TestPreDrainUntilTheDeadlineIsCut: a slow NotReady may leave PreDrain all the time until the deadline, and the deadline has ended the exit then.
func TestPreDrainUntilTheDeadlineIsCut(t *testing.T) {
	for range 100 { // the end of PreDrain and the deadline are both due: a select takes any
		synctest.Test(t, func(t *testing.T) {
			tr := launch(t, t.Context(), Plan{
				NotReady: func() { time.Sleep(4 * time.Second) }, // of the bubble
				PreDrain: 9 * time.Second,
				Deadline: 10 * time.Second,
			})
			tr.signals <- os.Interrupt
			tr.wantCode(CodeFailed)
			tr.wantTook(10 * time.Second)
			coretest.Want(t, "Ended", tr.report.Ended, ErrDeadline)
		})
	}
}
