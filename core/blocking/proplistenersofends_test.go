package blocking_test

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// lastEnd is how the only executor of a group ends without having run: Call would start it, but the spawner makes a
// shutdown call and fails.
type lastEnd struct {
	Inside    bool   // Call is made in a listener that does not belong to the group
	Call      string // Register or Execute
	Graceful  bool   // the spawner calls ShutdownGracefully, not Shutdown
	Listeners [2]int // of the executor and of the group
}

// startsNothing registers a connection with a group whose spawner fails.
func startsNothing(g *blocking.Group) error {
	ours, theirs := net.Pipe()
	defer func() { _ = theirs.Close() }()
	_, err := g.Register(ours, echo())
	return err
}

// start makes the call, which fails.
func (e lastEnd) start(g *blocking.Group) error {
	if e.Call == "Register" {
		return startsNothing(g)
	}
	for child := range g.All() {
		return child.Execute(func() {})
	}
	return nil
}

// run returns the first difference, or "".
func (e lastEnd) run() (wrong string) {
	differs := func(format string, args ...any) {
		if wrong == "" {
			wrong = fmt.Sprintf(format, args...)
		}
	}
	var g *blocking.Group
	ends, before := false, startedHere()
	g, err := blocking.NewGroup(0, core.WithTracer(tracerFunc(func(ev core.Event) {
		if ev.Kind != core.EventDone || e.Inside {
			return
		}
		if n := startedHere(); n > before {
			differs("G21: %d goroutines of the package are there as the executor ends, want %d", n, before)
		}
	})), core.WithSpawner(func(func()) error {
		switch {
		case ends && e.Graceful:
			_, _ = g.ShutdownGracefully(0, time.Hour)
		case ends:
			g.Shutdown()
		}
		return errSpawn
	}))
	if err != nil {
		return err.Error()
	}
	if err := startsNothing(g); !errors.Is(err, errSpawn) { // the executor stays for the next call
		return fmt.Sprintf("Register: %v, want the spawner's error", err)
	}
	var calls coretest.Journal
	adds := func(name string) func(core.Report, error) {
		return func(_ core.Report, err error) { calls.Add(fmt.Sprint(name, " ", errors.Is(err, errSpawn))) }
	}
	var last core.EventExecutor
	for last = range g.All() {
	}
	ofExecutor, ofGroup := slices.Repeat([]string{"executor true"}, e.Listeners[0]), slices.Repeat([]string{"group true"}, e.Listeners[1])
	for range ofExecutor {
		last.Termination().OnDone(adds("executor"))
	}
	for range ofGroup {
		g.Termination().OnDone(adds("group"))
	}
	want := slices.Concat(ofExecutor, ofGroup)
	end := func() {
		ends = true
		if err := e.start(g); err == nil {
			differs("G17: %s: nil, want an error", e.Call)
		}
		synctest.Wait()
		select {
		case <-g.Termination().Done():
		default:
			differs("G21: the last executor has ended, and the group is not done")
		}
		if s := g.State(); s != core.StateTerminated {
			differs("G21: the last executor has ended, and the group is %v", s)
		}
	}
	if e.Inside {
		want = slices.Concat(ofGroup, ofExecutor) // those of the executor wait until the unrelated listener has returned
		p := core.NewPromise[int](nil)
		p.Future().OnDone(func(int, error) { end() })
		p.TrySuccess(1)
	} else {
		end()
	}
	synctest.Wait()
	if got := calls.All(); !slices.Equal(got, want) {
		differs("G9: the listeners are called in the order %q, want %q", got, want)
	}
	s := g.Stats()
	if of := last.(*core.EventLoop).Stats(); s.Executors != 0 || s.Channels != 0 || s.Idle != 0 || s.Rejected > of.Rejected { // a refusal after the end counts in the executor alone
		differs("G20: %+v after the end, want at most the counts %+v of the only executor", s, of)
	}
	return wrong
}

// TestPropListenersOfEnds: a group is done when its last executor has ended. If the executor ends inside a listener that
// does not belong to the group, the rest of that listener delays the listeners of the executor, and neither the group nor
// its listeners. Otherwise the listeners of the group come after those of the executor, and the end starts no goroutine.
// Each executor counts once (G9, G20, G21).
func TestPropListenersOfEnds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		e := lastEnd{
			Inside: rapid.Bool().Draw(rt, "inside"), Graceful: rapid.Bool().Draw(rt, "graceful"),
			Call:      rapid.SampledFrom([]string{"Register", "Execute"}).Draw(rt, "call"),
			Listeners: [2]int{rapid.IntRange(0, 2).Draw(rt, "of the executor"), rapid.IntRange(0, 2).Draw(rt, "of the group")},
		}
		wrong := ""
		synctest.Test(t, func(*testing.T) { wrong = e.run() })
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}
