package blocking

import (
	"slices"
	"testing"

	"eventide/core"

	"pgregory.net/rapid"
)

// idleSpec is a group whose executors are never started, and which of them are idle: the last one is used next.
type idleSpec struct {
	t       *rapid.T
	g       *Group
	live    []*child // not terminated, in the order made
	idle    []*child
	taken   []*child // by acquire
	started bool
	shut    bool
}

// acquire takes an executor.
func (s *idleSpec) acquire() {
	c, err := s.g.acquire()
	switch n := len(s.idle); {
	case s.shut:
		if c != nil || err == nil {
			s.t.Fatalf("G16: acquire: %v, %v after the shutdown call", c, err)
		}
		return
	case err != nil:
		s.t.Fatal(err)
	case n > 0:
		if c != s.idle[n-1] {
			s.t.Fatal("R177: acquire does not return the executor that was idle last")
		}
		s.idle = s.idle[:n-1]
	case slices.Contains(s.live, c):
		s.t.Fatal("R177: acquire returns an executor that is not idle")
	default:
		s.live, s.started = append(s.live, c), true
	}
	s.taken = append(s.taken, c)
}

// putIdle gives an executor back, which may have terminated meanwhile.
func (s *idleSpec) putIdle() {
	if len(s.taken) == 0 {
		return
	}
	i := rapid.IntRange(0, len(s.taken)-1).Draw(s.t, "taken")
	c := s.taken[i]
	s.taken = slices.Delete(s.taken, i, i+1)
	s.g.putIdle(c)
	if slices.Contains(s.live, c) {
		s.idle = append(s.idle, c)
	}
}

// awaitListeners returns when the listeners that were added before have returned.
func awaitListeners(term *core.Termination) {
	done := make(chan struct{})
	term.OnDone(func(core.Report, error) { close(done) })
	<-done
}

// end shuts an executor down.
func (s *idleSpec) end() {
	if len(s.live) == 0 {
		return
	}
	c := rapid.SampledFrom(s.live).Draw(s.t, "executor")
	awaitListeners(c.loop.Shutdown())
	is := func(x *child) bool { return x == c }
	s.live, s.idle = slices.DeleteFunc(s.live, is), slices.DeleteFunc(s.idle, is)
}

// shutDown shuts the group down.
func (s *idleSpec) shutDown() {
	awaitListeners(s.g.Shutdown())
	s.shut, s.live, s.idle = true, nil, nil
}

// check compares the counts, the list of executors and the state.
func (s *idleSpec) check() {
	want := core.StateNotStarted
	switch {
	case s.shut:
		want = core.StateTerminated
	case s.started:
		want = core.StateStarted
	}
	stats := s.g.Stats()
	if stats.Executors != len(s.live) || stats.Idle != len(s.idle) || stats.State != want || !slices.Equal(s.g.snapshot(), s.live) {
		s.t.Fatalf("G20: %+v, want %d executors, %d of them idle, and %v", stats, len(s.live), len(s.idle), want)
	}
}

// TestPropIdleExecutors: acquire returns the executor that became idle last, or a new one if none is idle. An executor that has
// terminated is not listed and not idle, also if it is given back afterwards (R177, G20).
func TestPropIdleExecutors(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g, err := NewGroup(0)
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { <-g.Shutdown().Done() }()
		s := &idleSpec{t: rt, g: g}
		steps := map[string]func(){"acquire": s.acquire, "put idle": s.putIdle, "end": s.end, "shut down": s.shutDown}
		names := rapid.SampledFrom([]string{"acquire", "acquire", "acquire", "acquire", "put idle", "put idle", "put idle", "end", "end", "shut down"})
		for range rapid.IntRange(1, 20).Draw(rt, "steps") {
			steps[names.Draw(rt, "step")]()
			s.check()
		}
	})
}
