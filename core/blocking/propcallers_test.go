package blocking_test

import (
	"context"
	"maps"
	"net"
	"slices"
	"testing"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// callers are places from which a group is called, and whether they are inside one of its executors.
var callers = map[string]bool{
	"no executor": false, "another executor": false, "an executor of another group": false, "an executor of the group": true, "a loop inside an executor of the group": true,
	"the spawner of the group": false,
}

// callFrom calls f from a place and returns when f has returned. ch is a channel of the group, and other one of another group.
func callFrom(t testing.TB, place string, ch, other *blocking.Channel, ex *core.Executor, f func()) {
	switch place {
	case "the spawner of the group": // it has called f
	case "no executor":
		f()
	case "another executor":
		coretest.OnLoop(t, ex, f)
	case "an executor of another group":
		onLoop(t, other, f)
	case "an executor of the group":
		onLoop(t, ch, f)
	default:
		onLoop(t, ch, func() {
			var nested func()
			inner, err := core.NewExecutor(core.WithSpawner(func(loop func()) error { nested = loop; return nil }))
			coretest.Must(t, err)
			coretest.Must(t, inner.Execute(f))
			inner.Shutdown()
			nested()
		})
	}
}

// TestPropCallers: InEventLoop of a group is true in the bodies of its executors, of each of them, and in the bodies of an
// executor whose loop runs inside one. There the calls that would wait for the group return ErrInEventLoop at once, and
// Serve leaves the listener open. In the spawner the waits return ErrStarting. Elsewhere they wait (G18, G21).
func TestPropCallers(t *testing.T) {
	otherGroup, ex := newGroup(t, 0), coretest.NewExecutor(t)
	ours, theirs := net.Pipe()
	closeAtEnd(t, theirs)
	other := mustRegister(t, otherGroup, ours, &handler{})
	ended, cancel := context.WithCancelCause(context.Background())
	cancel(errOfConn)
	rapid.Check(t, func(rt *rapid.T) {
		inSpawner := func() {}
		g, err := blocking.NewGroup(0, core.WithSpawner(func(loop func()) error {
			inSpawner()
			go loop()
			return nil
		}))
		coretest.Must(t, err)
		defer func() { <-g.Shutdown().Done() }()
		place := rapid.SampledFrom(slices.Sorted(maps.Keys(callers))).Draw(rt, "place")
		inside, want := callers[place], errOfConn
		switch {
		case inside:
			want = core.ErrInEventLoop
		case place == "the spawner of the group":
			want = core.ErrStarting
		}
		check := func() {
			if g.InEventLoop() != inside {
				rt.Errorf("G21: InEventLoop of the group in %s is %v", place, !inside)
			}
			if err := g.AwaitTermination(ended); err != want {
				rt.Errorf("G18: AwaitTermination in %s: %v, want %v", place, err, want)
			}
			if _, err := g.Termination().Wait(ended); err != want {
				rt.Errorf("G18: Wait in %s: %v, want %v", place, err, want)
			}
			ln := &brokenListener{}
			if err := g.Serve(ln, newEcho); inside && err != core.ErrInEventLoop || !inside && err != errAccept || ln.closed == inside {
				rt.Errorf("G18: Serve in %s: %v, and the listener is closed: %v", place, err, ln.closed)
			}
		}
		if place == "the spawner of the group" {
			inSpawner = check
		}
		var chs []*blocking.Channel
		for range rapid.IntRange(1, 3).Draw(rt, "channels") {
			ours, theirs := net.Pipe()
			defer func() { _ = theirs.Close() }()
			chs = append(chs, mustRegister(t, g, ours, &handler{}))
		}
		callFrom(t, place, rapid.SampledFrom(chs).Draw(rt, "channel"), other, ex, check)
	})
}
