package blocking_test

import (
	"errors"
	"net"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// The group counts what an executor had refused when it terminated. A later refusal is in the
// Stats of the executor alone, before and after the end of the group.
func TestRefusalsAfterTheEndOfAnExecutor(t *testing.T) {
	g := newGroup(t, 0)
	ours, theirs := net.Pipe()
	defer theirs.Close()
	loop := mustRegister(t, g, ours, &handler{}).EventLoop()
	gate, added := make(chan struct{}), make(chan struct{})
	coretest.MustExecute(t, loop, func() { <-gate })
	loop.Shutdown()
	refused := func() {
		if err := loop.Execute(func() {}); !errors.Is(err, core.ErrRejected) {
			t.Errorf("Execute after Shutdown: %v, want ErrRejected", err)
		}
	}
	refused()
	loop.Termination().OnDone(func(core.Report, error) { close(added) }) // after the listener of the group
	close(gate)
	coretest.Await(t, "the group has added the executor up", added)
	coretest.Want(t, "the refusals of the group", g.Stats().Rejected, 1)
	refused()
	coretest.Want(t, "the refusals of the executor", loop.Stats().Rejected, 2)
	coretest.Want(t, "the refusals of the group, which has added the executor up", g.Stats().Rejected, 1)
	g.Shutdown()
	r := coretest.AwaitDone(t, g)
	coretest.Want(t, "the refusals in the report of the group", r.Rejected, 1)
}
