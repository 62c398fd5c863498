package process

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// The log and the report name the task that runs when the step's time is over: the one
// that ran at the Timeout may have ended long before.
func TestG11TheTaskThatRunsAtTheEndIsNamed(t *testing.T) {
	tests := []struct {
		name string
		make func(t *testing.T) core.EventExecutor
	}{
		{"executor", func(t *testing.T) core.EventExecutor { return coretest.NewExecutor(t, core.WithName("engine")) }},
		{"group", func(t *testing.T) core.EventExecutor {
			g, err := core.NewExecutorGroup(2, core.WithName("engine"))
			if err != nil {
				t.Fatal(err)
			}
			return g
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ex, gate := tt.make(t), make(chan struct{})
				coretest.MustExecute(t, ex, func() { slowTask() })
				if tt.name == "group" { // the next turn is the other child's
					coretest.MustExecute(t, ex, func() {})
				}
				coretest.MustExecute(t, ex, func() { stuckTask(gate) })
				c := newCalls()
				tr := launch(t, t.Context(), Plan{Steps: []Step{{Name: "engine", Executor: ex, Timeout: time.Second, Drain: 5 * time.Second}, c.step("next")}})
				tr.signals <- os.Interrupt
				tr.wantCode(CodeFailed)
				s := tr.report.Steps[0]
				if !strings.Contains(s.Running, "stuckTask") || !strings.Contains(s.Work.Running, "slowTask") {
					t.Errorf("G11: Running is %q, and was %q at the Timeout; want stuckTask, and slowTask", s.Running, s.Work.Running)
				}
				tr.wantLine("level=ERROR", "step's deadline passed", "step=engine", "engine", "a task is running", "stuckTask")
				tr.wantLine("level=ERROR", "still running", "step=engine", "a task is running", "stuckTask")
				close(gate)
				<-ex.Termination().Done()
			})
		})
	}
}

//go:noinline
func slowTask() { time.Sleep(2 * time.Second) }
