package model

import (
	"testing"

	"pgregory.net/rapid"
)

// wide has room for everything at once. It is too large to explore.
func wide(p TimerPolicy) Bounds {
	b := queueBounds()
	b.Producers, b.Tails, b.Timers, b.Periodic, b.Hooks, b.Limit, b.Policy = 5, 4, 3, 2, 5, 4, p
	b.FDs, b.Channels, b.Lost = 2, 2, true
	return b
}

// walk goes some random way from the start and returns the state at its end.
func walk(t *rapid.T, b Bounds) *State {
	s := New(b.Config)
	for range rapid.IntRange(0, 60).Draw(t, "steps") {
		s, _ = randomStep(t, s, b)
	}
	return &s
}

func randomStep(t *rapid.T, s State, b Bounds) (State, Action) {
	enabled := Enabled(s, b)
	a := enabled[rapid.IntRange(0, len(enabled)-1).Draw(t, "action")]
	next := Next(s, a)
	return next[rapid.IntRange(0, len(next)-1).Draw(t, "tie")], a
}

// On every random walk the invariants hold, Next leaves its argument alone and
// gives states that differ, and the walk is a trace that Simulate accepts, with
// or without the hidden steps in it.
func TestRandomWalks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := wide(TimerPolicy(rapid.IntRange(0, 2).Draw(t, "policy")))
		s := New(b.Config)
		var shown, all []Action
		hidden := kinds(DefaultHidden()...)
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			before := s.Key()
			after, a := randomStep(t, s, b)
			equal(t, s.Key(), before, "Next changed its argument: "+a.String())
			for _, v := range []*Violation{CheckStep(s, a, after), CheckState(after), standard.checkCan(&after, nil)} {
				if v != nil {
					t.Fatalf("after %v: %v", all, v)
				}
			}
			s = after
			all = append(all, a)
			if !hidden.has(a.Kind) {
				shown = append(shown, a)
			}
		}
		for _, trace := range [][]Action{shown, all} {
			set, at, err := Simulate(b.Config, trace)
			noError(t, err, "")
			equal(t, at, len(trace), "actions followed")
			equal(t, len(set) > 0, true, "a state is left")
		}
	})
}

// What Next returns shares no memory with its argument: scribbling over all of
// it changes nothing.
func TestNextSharesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := wide(RunDueTimers)
		s := *walk(t, b)
		before := s.Key()
		for _, a := range Enabled(s, b) {
			for _, n := range Next(s, a) {
				scribble(&n)
			}
		}
		equal(t, s.Key(), before, "the argument of Next")
	})
}

func scribble(s *State) {
	for _, ids := range [][]int{s.Queue, s.Tails} {
		for i := range ids {
			ids[i] = -1
		}
	}
	clear(s.Timers)
	clear(s.Hooks)
	clear(s.Regs)
	clear(s.Ledger)
}

// Keys tell states apart: a state and any successor that differs in one field
// have different keys.
func TestKeySeesEveryField(t *testing.T) {
	base := func() State {
		return State{
			Queue: []int{1}, Tails: []int{1}, Timers: []Timer{{ID: 1}}, Hooks: []Hook{{ID: 1}}, Regs: []Reg{{Body: FD(1)}},
			Ledger: []Record{{Body: Task(1)}},
		}
	}
	seen := map[string]int{base().Key(): -1}
	for i, change := range []func(*State){
		func(s *State) { s.Policy = RunDueTimers }, func(s *State) { s.Limit = 1 }, func(s *State) { s.Limit = 200 },
		func(s *State) { s.Phase = Started }, func(s *State) { s.Up = true }, func(s *State) { s.StartFailed = true },
		func(s *State) { s.Quiet = true }, func(s *State) { s.Timeout = true }, func(s *State) { s.QuietElapsed = true },
		func(s *State) { s.ClosedBy = OpShutdown }, func(s *State) { s.Running = Task(1) }, func(s *State) { s.Running = Tail(1) },
		func(s *State) { s.LastHook = true }, func(s *State) { s.Queue = []int{1, 2} }, func(s *State) { s.Queue[0] = 2 },
		func(s *State) { s.Tails[0] = 2 }, func(s *State) { s.Tails = nil }, func(s *State) { s.Marked = 1 }, func(s *State) { s.MarkedTail = 1 },
		func(s *State) { s.Timers[0].ID = 2 }, func(s *State) { s.Timers[0].At = 1 }, func(s *State) { s.Timers[0].Status = 1 },
		func(s *State) { s.Timers[0].Periodic = true }, func(s *State) { s.Hooks[0].ID = 2 }, func(s *State) { s.Hooks[0].At = 1 },
		func(s *State) { s.Drain = CloseChannels }, func(s *State) { s.Regs = nil }, func(s *State) { s.Regs[0].ID = 2 },
		func(s *State) { s.Regs[0].Kind = ChannelBody }, func(s *State) { s.Regs[0].Asked = Abort }, func(s *State) { s.Regs[0].Lost = true },
		func(s *State) { s.Regs[0].Closed = true }, func(s *State) { s.Ledger[0].Closed = true }, func(s *State) { s.Ledger[0].Drains = 1 },
		func(s *State) { s.Ledger[0].Aborts = 1 },
		func(s *State) { s.Accepted = 1 }, func(s *State) { s.Ran = 1 }, func(s *State) { s.Cancelled = 1 }, func(s *State) { s.Refused = 1 },
		func(s *State) { s.Ledger[0].ID = 2 }, func(s *State) { s.Ledger[0].Kind = HookBody }, func(s *State) { s.Ledger[0].At = 1 },
		func(s *State) { s.Ledger[0].Periodic = true }, func(s *State) { s.Ledger[0].Refused = true }, func(s *State) { s.Ledger[0].Cancelled = true },
		func(s *State) { s.Ledger[0].Begun = 1 }, func(s *State) { s.Ledger[0].Inside = true }, func(s *State) { s.Ledger[0].Ran = true },
	} {
		s := base()
		change(&s)
		other, clash := seen[s.Key()]
		if clash {
			t.Errorf("changes %d and %d have the same key", i, other)
		}
		seen[s.Key()] = i
	}
}
