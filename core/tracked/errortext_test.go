package tracked

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// textError is an error whose Error method is the test's.
type textError struct{ text func() string }

func (e *textError) Error() string { return e.text() }

// TestG15TextOfAnErrorMayUseTheGroup: the Error method of a function's error is called without the lock
// of the group, so that it may use the group.
func TestG15TextOfAnErrorMayUseTheGroup(t *testing.T) {
	g := NewGroup(WithLogger(quiet()))
	bad := &textError{func() string {
		return fmt.Sprintf("failed in state %v beside %d others", g.State(), len(g.Functions()))
	}}
	endInBackground(t, g, bad)
	const want = "tracked: mailer: failed in state Terminated beside 0 others"
	for name, err := range map[string]error{"Err": g.Err(), "Termination().Err": g.Termination().Err()} {
		var as *textError
		if !errors.Is(err, bad) || !errors.As(err, &as) || as != bad || err.Error() != want {
			t.Errorf("G15: %s is %v, want the error of the function, %q", name, err, want)
		}
	}
}

// TestG15TextOfAnErrorMayExit: an Error method that calls runtime.Goexit ends the goroutine of its
// caller, which is not the group.
func TestG15TextOfAnErrorMayExit(t *testing.T) {
	g := NewGroup(WithLogger(quiet()))
	bad := &textError{func() string { runtime.Goexit(); return "" }}
	endInBackground(t, g, bad)
	coretest.Want(t, "G15: the state", g.State(), core.StateTerminated)
	coretest.WantErr(t, "G15: Err", g.Err(), bad)
}

// endInBackground shuts g down after a function that returns bad, and waits for the end.
func endInBackground(t *testing.T, g *Group, bad error) {
	t.Helper()
	coretest.Must(t, g.Go("mailer", func(context.Context) error { return bad }))
	go g.Shutdown() // if it calls the Error method, it does not return
	coretest.Await(t, "the end of the group (G15)", g.Termination().Done())
}
