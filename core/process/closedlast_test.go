package process

import (
	"context"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
)

// hanging is an executor whose ShutdownGracefully returns when gate is closed.
type hanging struct {
	ended
	gate chan struct{}
	c    *calls
}

func (e hanging) ShutdownGracefully(time.Duration, time.Duration) (*core.Termination, error) {
	<-e.gate
	return e.term, nil
}

func (e hanging) Shutdown() *core.Termination {
	e.c.note("Shutdown")
	return e.ended.Shutdown()
}

// TestG5ExecutorsAreClosedAfterStart: an executor that a step has left behind is closed when Start has returned, and not
// before, because Start may still need it.
func TestG5ExecutorsAreClosedAfterStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCalls()
		ex := hanging{newEnded(core.Report{}), make(chan struct{}), c}
		tr := launch(t, t.Context(), Plan{
			Start: func(ctx context.Context) error {
				<-ctx.Done()
				time.Sleep(4 * time.Second)
				c.note("Start returns")
				return nil
			},
			Steps: []Step{{Name: "hanging", Executor: ex, Timeout: time.Second, Deadline: 2 * time.Second}},
		})
		tr.signals <- os.Interrupt
		tr.wantCode(CodeFailed)
		c.want(t, "Start returns@4s", "Shutdown@4s")
		close(ex.gate)
	})
}
