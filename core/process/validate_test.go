package process

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

type noTermination struct{ Executor }

func (noTermination) Termination() *core.Termination { return nil }

// flag is a signal that os/signal does not know.
type flag struct{}

func (flag) Signal()        {}
func (flag) String() string { return "a flag" }

func TestValidate(t *testing.T) {
	ok := func(context.Context) error { return nil }
	ex := coretest.NewExecutor(t)
	steps := func(s ...Step) Plan { return Plan{Steps: s} }
	tests := []struct {
		name string
		plan Plan
		want []string // parts of the error; none: the plan is good
	}{
		{"the zero plan", Plan{}, nil},
		{"defaults", steps(Step{Name: "a", Run: ok}, Step{Name: "b", Executor: ex}), nil},
		{"Deadline equal to Timeout", steps(Step{Name: "a", Executor: ex, Timeout: time.Second, Deadline: time.Second}), nil},
		{"no signals", Plan{Signals: []os.Signal{}}, nil},
		{"neither", steps(Step{Name: "a"}), []string{"Steps[0]", "Run and Executor are nil"}},
		{"both", steps(Step{Name: "a", Run: ok, Executor: ex}), []string{"Steps[0]", "both set"}},
		{"a nil pointer", steps(Step{Name: "a", Executor: (*core.Group)(nil)}), []string{"Steps[0].Executor", "nil *core.Group"}},
		{"no name", steps(Step{Run: ok}), []string{"Steps[0].Name is empty"}},
		{"two without a name", steps(Step{Run: ok}, Step{Run: ok}), []string{"Steps[0].Name is empty", "Steps[1].Name is empty"}},
		{"a name twice", steps(Step{Name: "a", Run: ok}, Step{Name: "b", Run: ok}, Step{Name: "a", Run: ok}), []string{`Steps[2].Name is "a"`, "Steps[0]"}},
		{"negative step Deadline", steps(Step{Name: "a", Run: ok, Deadline: -time.Second}), []string{"Steps[0].Deadline is -1s", "0 or more"}},
		{"negative Quiet", steps(Step{Name: "a", Executor: ex, Quiet: -time.Second}), []string{"Steps[0].Quiet is -1s"}},
		{"negative Timeout", steps(Step{Name: "a", Executor: ex, Timeout: -time.Second}), []string{"Steps[0].Timeout is -1s"}},
		{"negative Drain", steps(Step{Name: "a", Executor: ex, Drain: -time.Second}), []string{"Steps[0].Drain is -1s", "0 or more"}},
		{"Drain with Run", steps(Step{Name: "a", Run: ok, Drain: time.Second}), []string{"Steps[0]", "Drain 1s", "without Executor"}},
		{"Drain and Deadline", steps(Step{Name: "a", Executor: ex, Drain: time.Second, Deadline: time.Minute}), []string{"Steps[0]: Drain is 1s", "Deadline 1m0s", "one of them"}},
		{"Quiet with Run", steps(Step{Name: "a", Run: ok, Quiet: time.Second}), []string{"Steps[0]: Quiet is 1s", "without Executor"}},
		{"Quiet over the default Timeout", steps(Step{Name: "a", Executor: ex, Quiet: 6 * time.Second}), []string{"Steps[0].Timeout is 5s", "Quiet, which is 6s"}},
		{"Deadline under Timeout", steps(Step{Name: "a", Executor: ex, Timeout: 2 * time.Second, Deadline: time.Second}), []string{"Steps[0].Deadline is 1s", "Timeout, which is 2s"}},
		{"negative PreDrain", Plan{PreDrain: -1}, []string{"PreDrain is -1ns"}},
		{"negative Deadline", Plan{Deadline: -1}, []string{"Deadline is -1ns"}},
		{"PreDrain takes it all", Plan{PreDrain: DefaultDeadline}, []string{"PreDrain is 25s", "Deadline, which is 25s"}},
		{"a nil signal", Plan{Signals: []os.Signal{os.Interrupt, nil}}, []string{"Signals[1] is nil"}},
		{"a signal that kills", Plan{Signals: []os.Signal{os.Kill}}, []string{"Signals[0] is killed", "caught"}},
		{"the least and the greatest signal", Plan{Signals: []os.Signal{syscall.Signal(1), syscall.Signal(64)}}, nil},
		{"signal 0", Plan{Signals: []os.Signal{syscall.Signal(0)}}, []string{"Signals[0] is signal 0", "caught", "1 to 64"}},
		{"a negative signal", Plan{Signals: []os.Signal{syscall.Signal(-1)}}, []string{"Signals[0] is signal -1", "caught", "1 to 64"}},
		{"the first signal that is none", Plan{Signals: []os.Signal{syscall.Signal(65)}}, []string{"Signals[0] is signal 65", "caught", "1 to 64"}},
		{"signal 200 after a good one", Plan{Signals: []os.Signal{os.Interrupt, syscall.Signal(200)}}, []string{"Signals[1] is signal 200", "caught", "1 to 64"}},
		{"a signal of no system", Plan{Signals: []os.Signal{flag{}}}, []string{"Signals[0] is a flag", "caught"}},
		{"every signal is wrong", Plan{Signals: []os.Signal{os.Kill, syscall.Signal(0), nil}}, []string{"Signals[0] is killed", "Signals[1] is signal 0", "Signals[2] is nil"}},
		{"all at once", Plan{PreDrain: -1, Deadline: -1, Steps: []Step{{}}}, []string{"PreDrain", "Deadline", "Steps[0].Name", "Run and Executor"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.plan.Validate()
			if len(tt.want) == 0 {
				if err != nil {
					t.Errorf("Validate: %v, want nil", err)
				}
				return
			}
			if err == nil || !holdsAll(err.Error(), tt.want) {
				t.Errorf("Validate: %v, want an error with %q", err, tt.want)
			}
		})
	}
}

// Nothing starts, and the error is logged.
func TestBadCallsStartNothing(t *testing.T) {
	forbidden := func(context.Context) error { t.Error("it was called"); return nil }
	ex := coretest.NewExecutor(t)
	tests := []struct {
		name string
		ctx  context.Context
		plan Plan
		want string
	}{
		{"bad plan", t.Context(), Plan{Start: forbidden, Deadline: -1}, "Deadline is -1ns"},
		{"nil ctx", nil, Plan{Start: forbidden}, "ctx is nil"},
		{"nothing can begin the exit", context.Background(), Plan{Signals: []os.Signal{}}, "Signals is empty"},
		{"no signal that can be caught", t.Context(), Plan{Start: forbidden, Signals: []os.Signal{syscall.Signal(0), syscall.Signal(200)}}, "Signals[1] is signal 200"},
		{"no termination", t.Context(), Plan{Start: forbidden, Steps: []Step{{Name: "a", Executor: noTermination{ex}}}}, "Termination() is nil"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			log := &coretest.Log{}
			tt.plan.Logger = slog.New(slog.NewTextHandler(log, nil))
			r := RunReport(tt.ctx, tt.plan)
			if r.Code != CodeBadPlan || r.Err == nil || !strings.Contains(r.Err.Error(), tt.want) {
				t.Errorf("code %d, error %v; want %d, %q", r.Code, r.Err, CodeBadPlan, tt.want)
			}
			wantLine(t, log.String(), "level=ERROR", "not started", tt.want, "code=2")
		})
	}
	if ex.State() != core.StateNotStarted {
		t.Errorf("the executor is %v, want NotStarted", ex.State())
	}
}

func TestLongDurationsDoNotOverflow(t *testing.T) {
	const forever = time.Duration(1<<63 - 1)
	step := Step{Executor: coretest.NewExecutor(t), Timeout: forever, Drain: forever}
	p := Plan{Steps: []Step{step, step, step}}
	if got := step.declared(); got != forever {
		t.Errorf("the step's own time is %v, want %v", got, forever)
	}
	if got := p.budget(0, forever).limit; got != forever {
		t.Errorf("the limit is %v, want %v", got, forever)
	}
	if got := p.kept(0); got != forever {
		t.Errorf("kept for the steps is %v, want %v", got, forever)
	}
}

func TestDefaultSignalsIsTheCallersCopy(t *testing.T) {
	DefaultSignals()[0] = nil
	if got := DefaultSignals()[0]; got != os.Interrupt {
		t.Errorf("DefaultSignals()[0] is %v, want os.Interrupt", got)
	}
}

func TestOutcomeString(t *testing.T) {
	for o, want := range map[Outcome]string{NotBegun: "not begun", Done: "done", Failed: "failed", StillRunning: "still running", 9: "Outcome(9)"} {
		if got := o.String(); got != want {
			t.Errorf("Outcome(%d).String() is %q, want %q", uint8(o), got, want)
		}
	}
}
