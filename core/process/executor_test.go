package process

import (
	"context"
	"errors"
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

func TestExecutorsEndInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		boss := coretest.NewExecutor(t, core.WithName("boss"))
		workers, err := core.NewExecutorGroup(2, core.WithName("worker"))
		if err != nil {
			t.Fatal(err)
		}
		c := newCalls()
		ran := 0
		coretest.MustExecute(t, boss, func() { time.Sleep(time.Second); c.note("boss") })
		for range 4 {
			coretest.MustExecute(t, workers.Next(), func() { time.Sleep(time.Second) })
		}
		tr := launch(t, t.Context(), Plan{Steps: []Step{
			{Name: "acceptors", Executor: boss},
			{Name: "between", Run: func(context.Context) error {
				if boss.State() != core.StateTerminated || workers.State() >= core.StateShuttingDown {
					t.Errorf("between: boss %v, workers %v; want Terminated, and not yet shutting down", boss.State(), workers.State())
				}
				return workers.Execute(func() { ran++ }) // an accepted task is not lost
			}},
			{Name: "workers", Executor: workers, Quiet: 2 * time.Second, Timeout: 5 * time.Second},
		}})
		tr.signals <- os.Interrupt
		tr.wantCode(0)
		c.want(t, "boss@1s")
		tr.wantTook(4 * time.Second) // tasks until 2 s at the latest, and the quiet period
		if ran != 1 || tr.report.Lost() != 0 || tr.report.Steps[2].Work.Ran != 5 {
			t.Errorf("G3: ran %d, lost %d, workers %+v; want 1, 0, Ran 5", ran, tr.report.Lost(), tr.report.Steps[2].Work)
		}
		tr.wantLine("step done", "step=workers", "accepted=5", "ran=5", "lost=0")
	})
}

func TestStuckTaskIsNamedAndLostWorkCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ex, gate := coretest.NewExecutor(t, core.WithName("engine")), make(chan struct{})
		coretest.MustExecute(t, ex, func() { stuckTask(gate) })
		coretest.MustExecute(t, ex, func() {})
		cancelled := core.Submit(ex, func() (int, error) { return 0, nil })
		cancelled.Cancel()
		if _, err := ex.Schedule(time.Hour, func() {}); err != nil {
			t.Fatal(err)
		}
		c := newCalls()
		tr := launch(t, t.Context(), Plan{Steps: []Step{{Name: "engine", Executor: ex, Timeout: 3 * time.Second, Drain: time.Second}, c.step("next")}})
		tr.signals <- os.Interrupt
		tr.wantCode(1)
		c.want(t, "next@4.1s") // Timeout, Drain, and a moment to heed
		s := tr.report.Steps[0]
		if !strings.Contains(s.Work.Running, "stuckTask") || s.Outcome != StillRunning || !s.DeadlinePassed {
			t.Errorf("the step: %+v, want still running, with the stack of stuckTask", s)
		}
		if got := tr.report.Lost(); got != 3 {
			t.Errorf("Lost is %d, want 3: the running task and the two behind it", got)
		}
		tr.wantLine("still running", "step=engine", "lost=3", "engine: a task is running", "stuckTask")
		tr.wantLine("msg=exit", "lost=3")
		close(gate)
		<-ex.Termination().Done()
	})
}

// A Timeout that the deadline of the exit would cut off passes a second before it, so
// that the stuck task is named, but not before half of the time has passed that there
// is; Quiet is kept.
func TestTimeoutIsShortenedToFitTheDeadline(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	tests := []struct{ deadline, quiet, timeout, want time.Duration }{
		{10 * s, 0, s, s},
		{10 * s, 0, time.Hour, 9 * s},
		{10 * s, time.Minute, time.Hour, time.Minute},
		{3 * s, 0, 0, 2 * s},
		{2 * s, 0, 0, s},
		{1500 * ms, 0, 0, 750 * ms},
		{s, 0, 0, 500 * ms},
		{s, 0, 200 * ms, 200 * ms},
		{s, 700 * ms, 0, 700 * ms},
		{2, 0, 0, 1},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%v of %v", tt.want, tt.deadline), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ex, gate := coretest.NewExecutor(t), make(chan struct{})
				coretest.MustExecute(t, ex, func() { stuckTask(gate) })
				tr := launch(t, t.Context(), Plan{Deadline: tt.deadline, Steps: []Step{
					{Name: "engine", Executor: ex, Quiet: tt.quiet, Timeout: tt.timeout, Deadline: time.Hour},
				}})
				tr.signals <- os.Interrupt
				tr.wantCode(1)
				tr.wantTook(tt.deadline)
				work := tr.report.Steps[0].Work
				if work.Timeout != tt.want {
					t.Errorf("G11: of a Deadline of %v the Timeout is %v, want %v", tt.deadline, work.Timeout, tt.want)
				}
				if named := strings.Contains(work.Running, "stuckTask"); named != (tt.want < tt.deadline) {
					t.Errorf("G11: Timeout %v, Deadline %v: the stuck task is named: %v", work.Timeout, tt.deadline, named)
				}
				close(gate)
				<-ex.Termination().Done()
			})
		})
	}
}

// A short Deadline is time all the same: what is brought meanwhile is accepted, and runs.
func TestG11ShortDeadlineLeavesTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ex, gate := coretest.NewExecutor(t), make(chan struct{})
		coretest.MustExecute(t, ex, held(gate))
		tr := launch(t, t.Context(), Plan{Deadline: time.Second, Steps: []Step{{Name: "engine", Executor: ex}}})
		tr.signals <- os.Interrupt
		time.Sleep(400 * time.Millisecond)
		if err := ex.Execute(func() {}); err != nil {
			t.Errorf("G11: Execute 400 ms into an exit with a Deadline of 1 s: %v, want nil", err)
		}
		close(gate)
		tr.wantCode(0)
		tr.wantTook(400 * time.Millisecond)
		if work := tr.report.Steps[0].Work; work.TimedOut || work.Ran != 2 {
			t.Errorf("G11: the report is %+v, want 2 ran, and no timeout", work)
		}
	})
}

//go:noinline
func stuckTask(gate <-chan struct{}) { <-gate }

// What is over in time is no failure, though the timeout had to close admission.
func TestTimeoutThatPassesIsAWarning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		coretest.MustExecute(t, ex, func() { time.Sleep(1500 * time.Millisecond) })
		tr := launch(t, t.Context(), Plan{Steps: []Step{{Name: "engine", Executor: ex, Timeout: time.Second}}})
		tr.signals <- os.Interrupt
		tr.wantCode(0)
		tr.wantLine("level=WARN", "step done after its timeout", "lost=0")
	})
}

func TestExecutorThatFailsIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := errors.New("no goroutine today")
		ex := coretest.NewExecutor(t, core.WithSpawner(func(func()) error { return refused }))
		tr := launch(t, t.Context(), Plan{Steps: []Step{{Name: "engine", Executor: ex}}})
		tr.signals <- os.Interrupt
		tr.wantCode(1)
		tr.wantLine("step failed", "step=engine", "no goroutine today")
	})
}

// Nothing more is accepted that would be lost.
func TestG5ForcedExitClosesEveryExecutor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ex, idle, gate := coretest.NewExecutor(t), coretest.NewExecutor(t), make(chan struct{})
		coretest.MustExecute(t, ex, held(gate))
		for range 3 {
			coretest.MustExecute(t, idle, held(gate))
		}
		tr := launch(t, t.Context(), Plan{Steps: []Step{{Name: "engine", Executor: ex}, {Name: "idle", Executor: idle}}})
		tr.signals <- os.Interrupt
		synctest.Wait()
		tr.signals <- os.Interrupt
		tr.wantCode(128 + signalNumber(os.Interrupt))
		for i, e := range []*core.Executor{ex, idle} {
			if err := e.Execute(func() {}); !errors.Is(err, core.ErrShutdown) {
				t.Errorf("G5: Execute on the executor of step %d after the forced exit: %v, want ErrShutdown", i, err)
			}
		}
		if got := tr.report.Lost(); got != 4 {
			t.Errorf("Lost is %d, want 4: three of a step that was not begun", got)
		}
		tr.wantLine("msg=exit", "still_running=[engine]", "not_begun=[idle]", "lost=4")
		close(gate)
		<-ex.Termination().Done()
		<-idle.Termination().Done()
	})
}

func held(gate <-chan struct{}) func() { return func() { <-gate } }

func TestG18RunInsideAnExecutorOfThePlan(t *testing.T) {
	group, err := core.NewExecutorGroup(2)
	if err != nil {
		t.Fatal(err)
	}
	single := coretest.NewExecutor(t)
	tests := []struct {
		name string
		ex   interface {
			Executor
			Execute(func()) error
		}
	}{{"executor", single}, {"group", group}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			result := make(chan Report, 1)
			plan := Plan{
				Start:  func(context.Context) error { t.Error("Start was called"); return nil },
				Steps:  []Step{{Name: "it", Executor: tt.ex}},
				Logger: slog.New(slog.DiscardHandler),
			}
			if err := tt.ex.Execute(func() { result <- RunReport(context.Background(), plan) }); err != nil {
				t.Fatal(err)
			}
			if r := <-result; r.Code != CodeBadPlan || !errors.Is(r.Err, core.ErrInEventLoop) || !strings.Contains(r.Err.Error(), `"it"`) {
				t.Errorf("G18: code %d, %v; want %d, ErrInEventLoop, the step's name", r.Code, r.Err, CodeBadPlan)
			}
			tt.ex.Shutdown()
			<-tt.ex.Termination().Done()
		})
	}
}

func TestG18RunInsideTheSpawnerOfAnExecutorOfThePlan(t *testing.T) {
	var ex *core.Executor
	var r Report
	ex = coretest.NewExecutor(t, core.WithSpawner(func(loop func()) error {
		r = RunReport(context.Background(), Plan{Steps: []Step{{Name: "it", Executor: ex}}, Logger: slog.New(slog.DiscardHandler)})
		go loop()
		return nil
	}))
	coretest.MustExecute(t, ex, func() {})
	if r.Code != CodeBadPlan || !errors.Is(r.Err, core.ErrStarting) {
		t.Errorf("G18: code %d, %v; want %d, ErrStarting", r.Code, r.Err, CodeBadPlan)
	}
	if err := ex.Close(); err != nil {
		t.Error(err)
	}
}

// Its error says ErrStarting, and is not the answer to a call of ours.
func TestExecutorThatHasEndedWithErrStarting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t, core.WithSpawner(func(func()) error { return fmt.Errorf("no luck: %w", core.ErrStarting) }))
		<-ex.Shutdown().Done()
		tr := launch(t, t.Context(), Plan{Steps: []Step{{Name: "engine", Executor: ex}}})
		tr.signals <- os.Interrupt
		tr.wantCode(1)
		tr.wantLine("step failed", "step=engine", "no luck")
	})
}

// An executor that has ended already is a step that is done.
func TestExecutorThatHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		if err := ex.Close(); err != nil {
			t.Fatal(err)
		}
		tr := launch(t, t.Context(), Plan{Steps: []Step{{Name: "engine", Executor: ex}}})
		tr.signals <- os.Interrupt
		tr.wantCode(0)
		tr.wantLine("step done", "step=engine")
	})
}

// refusing is an executor that is not ours and does not take the arguments.
type refusing struct{ *core.Executor }

func (refusing) ShutdownGracefully(quiet, timeout time.Duration) (*core.Termination, error) {
	return nil, errors.New("quiet is " + quiet.String() + ", timeout " + timeout.String())
}

func TestExecutorThatRefusesIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := launch(t, t.Context(), Plan{Steps: []Step{
			{Name: "engine", Executor: refusing{coretest.NewExecutor(t)}, Quiet: time.Second, Timeout: 2 * time.Second},
		}})
		tr.signals <- os.Interrupt
		tr.wantCode(1)
		tr.wantLine("step failed", "step=engine", "quiet is 1s, timeout 2s")
	})
}

// explosive is an executor that is not ours and panics.
type explosive struct{ *core.Executor }

func (explosive) ShutdownGracefully(time.Duration, time.Duration) (*core.Termination, error) {
	panic("no shutdown")
}

// An executor whose step has failed accepts no more tasks when Run has returned.
func TestG5ExecutorThatRefusesIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refuses, panics := coretest.NewExecutor(t), coretest.NewExecutor(t)
		tr := launch(t, t.Context(), Plan{Steps: []Step{{Name: "refuses", Executor: refusing{refuses}}, {Name: "panics", Executor: explosive{panics}}}})
		tr.signals <- os.Interrupt
		tr.wantCode(CodeFailed)
		for _, ex := range []*core.Executor{refuses, panics} {
			coretest.WantErr(t, "G5: Execute after the exit", ex.Execute(func() {}), core.ErrShutdown)
		}
	})
}

// stubborn does not return from Shutdown.
type stubborn struct {
	*core.Executor
	gate <-chan struct{}
}

func (s stubborn) Shutdown() *core.Termination { <-s.gate; return s.Executor.Shutdown() }

// Nothing that an executor does keeps a forced exit.
func TestExecutorThatDoesNotCloseDoesNotHoldUpTheExit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ex, gate := coretest.NewExecutor(t), make(chan struct{})
		tr := launch(t, t.Context(), Plan{Steps: []Step{{Name: "stuck", Run: until(gate)}, {Name: "engine", Executor: stubborn{ex, gate}}}})
		tr.signals <- os.Interrupt
		synctest.Wait()
		tr.signals <- os.Interrupt
		tr.wantCode(128 + signalNumber(os.Interrupt))
		tr.wantTook(100 * time.Millisecond)
		close(gate)
		<-ex.Termination().Done()
	})
}

// deaf ignores its timeout.
type deaf struct{ *core.Executor }

func (d deaf) ShutdownGracefully(quiet, _ time.Duration) (*core.Termination, error) {
	return d.Executor.ShutdownGracefully(quiet, time.Hour)
}

// An executor that is left behind accepts nothing more that the next step might not wait for.
func TestG5ExecutorThatIsLeftBehindIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ex, gate := coretest.NewExecutor(t), make(chan struct{})
		coretest.MustExecute(t, ex, held(gate))
		tr := launch(t, t.Context(), Plan{Steps: []Step{
			{Name: "engine", Executor: deaf{ex}, Timeout: time.Second, Drain: time.Second},
			{Name: "next", Run: func(context.Context) error {
				if err := ex.Execute(func() {}); !errors.Is(err, core.ErrShutdown) {
					t.Errorf("G5: Execute in the next step: %v, want ErrShutdown", err)
				}
				return nil
			}},
		}})
		tr.signals <- os.Interrupt
		tr.wantCode(CodeFailed)
		close(gate)
		<-ex.Termination().Done()
	})
}
