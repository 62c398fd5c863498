package blocking_test

import (
	"errors"
	"net"
	"strings"
	"testing"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// askingError is an error whose text has the state of a group.
type askingError struct{ g *blocking.Group }

func (e *askingError) Error() string { return "no goroutine for a " + e.g.String() }

// TestG15TextOfAnErrorMayUseTheGroup: the group formats the error of an executor, and so calls the Error method of the spawner's error,
// without holding its lock: the method may use the group.
func TestG15TextOfAnErrorMayUseTheGroup(t *testing.T) {
	refusal := new(askingError)
	g, err := blocking.NewGroup(0, core.WithSpawner(func(func()) error { return refusal }))
	coretest.Must(t, err)
	refusal.g = g
	ours, theirs := net.Pipe()
	closeAtEnd(t, theirs)
	if _, err := g.Register(ours, echo()); !errors.Is(err, refusal) {
		t.Errorf("G17: Register: %v, want the spawner's error", err)
	}
	go g.Shutdown()
	coretest.Await(t, "the end of the group (G15)", g.Termination().Done())
	if err := g.Termination().Err(); !errors.Is(err, refusal) || !strings.Contains(err.Error(), ": no goroutine for a blocking group") {
		t.Errorf("G15: the error of the group is %v, want the spawner's error with the name of the executor", err)
	}
}
