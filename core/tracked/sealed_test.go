package tracked

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// TestG20RefusalWhileTheReportIsSealed: a call that is refused between the sealing of the report and
// the close of Done is not in the report, so its State is Terminated.
func TestG20RefusalWhileTheReportIsSealed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGroup(WithLogger(quiet()))
		refused := make(chan error, 1)
		end := g.end
		g.end = func(r core.Report, err error) bool {
			go func() { refused <- g.TryGo("late", func(context.Context) error { return nil }) }()
			synctest.Wait()
			return end(r, err)
		}
		g.Shutdown()
		var err *core.RejectedError
		if got := <-refused; !errors.As(got, &err) {
			t.Fatalf("got the error %v, want a refusal", got)
		}
		coretest.Want(t, "State of the refusal", err.State, core.StateTerminated)
		coretest.Want(t, "Rejected", g.Report().Rejected, 0)
	})
}

// TestG20ErrorThatIsAPanicOfOthers: a function that returns the *core.PanicError of a future has not
// panicked.
func TestG20ErrorThatIsAPanicOfOthers(t *testing.T) {
	g := NewGroup(WithLogger(quiet()))
	failure := &core.PanicError{Value: "of a task"}
	coretest.Must(t, g.Go("waits", func(context.Context) error { return failure }))
	coretest.WantErr(t, "Close", g.Close(), failure)
	coretest.Want(t, "Panicked", g.Report().Panicked, 0)
}
