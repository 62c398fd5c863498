package core_test

import (
	"errors"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// A group is done when its last child is, even if that child ends inside an unrelated
// listener: the rest of that listener does not delay the group.
func TestG21DoneDoesNotWaitForAnUnrelatedListener(t *testing.T) {
	var g *core.Group
	g = coretest.NewExecutorGroup(t, 1, core.WithSpawner(func(func()) error {
		g.Shutdown()
		return errSpawn
	}))
	heard := make(chan error, 1)
	g.Termination().OnDone(func(_ core.Report, err error) { heard <- err })
	p := core.NewPromise[int](nil)
	p.Future().OnDone(func(int, error) {
		if err := g.Execute(func() {}); !errors.Is(err, errSpawn) {
			t.Errorf("G17: Execute: got %v, want the spawner's error", err)
		}
		select {
		case <-g.Termination().Done():
		default:
			t.Errorf("G21: the child is %v, the group %v: its Done waits for a listener of another", g.Next().State(), g.State())
		}
		if len(heard) != 0 {
			t.Error("G9: the group's listener was called inside another")
		}
	})
	p.TrySuccess(1)
	if len(heard) != 1 {
		t.Fatal("G21: the group's listener was not called")
	}
	if err := <-heard; !errors.Is(err, errSpawn) {
		t.Errorf("G21: the group's listener got %v, want the spawner's error", err)
	}
}

// The group's listeners run after those of the child that ended last, and before
// the listeners that these add; if one of them does not return, the others still run.
func TestG21ListenersOfTheGroupComeAfterTheLastChilds(t *testing.T) {
	var log panicLog
	g := coretest.NewExecutorGroup(t, 1, core.WithPanicHandler(log.handle))
	child := g.Next()
	var j coretest.Journal
	all := make(chan struct{})
	child.Termination().OnDone(func(core.Report, error) {
		select {
		case <-g.Termination().Done():
		default:
			t.Error("G21: a listener of the last child is called, and the group is not done")
		}
		j.Add("child")
		child.Termination().OnDone(func(core.Report, error) { j.Add("added"); close(all) })
	})
	child.Termination().OnDone(func(core.Report, error) { j.Add("child, exits"); goexit() })
	g.Termination().OnDone(func(core.Report, error) { j.Add("group, panics"); panics() })
	g.Termination().OnDone(func(core.Report, error) { j.Add("group") })
	g.Shutdown()
	coretest.Await(t, "the last listener", all)
	j.Want(t, "G21", "child child, exits group, panics group added")
	if n := len(log.all()); n != 1 {
		t.Errorf("G14: %d panics of listeners reported, want 1", n)
	}
}
