package model

import (
	"strings"
	"testing"
)

// REF2: the default bounds and one set of bounds for each part of the model are
// explored completely, without a violation.
func TestExplore(t *testing.T) {
	for _, tc := range []struct {
		name string
		b    Bounds
	}{
		{"default", DefaultBounds()},
		{"queue", queueBounds()},
		{"hooks", hookBounds()},
		{"tails", tailBounds()},
		{"timers/CancelTimers", timerBounds(CancelTimers)},
		{"timers/RunDueTimers", timerBounds(RunDueTimers)},
		{"timers/RunTimersUntilTimeout", timerBounds(RunTimersUntilTimeout)},
		{"channels/DrainChannels", ChannelBounds(DrainChannels)},
		{"channels/CloseChannels", ChannelBounds(CloseChannels)},
		{"channels/failures", channelBounds()},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := Explore(sized(tc.b), Options{})
			t.Logf("states=%d edges=%d depth=%d taken=%v", r.States, r.Edges, r.Depth, r.Taken)
			if r.Violation != nil || !r.Complete {
				t.Fatalf("complete=%v, want true and no violation: %v", r.Complete, r.Violation)
			}
			for _, k := range []Op{OpExecute, OpShutdown, OpShutdownGracefully, StepTimeoutFires, StepLoopCloses, StepDone} {
				if r.Taken[kindWord(k)] == 0 && (k != OpExecute || tc.b.Tasks > 0) {
					t.Errorf("%v was never taken", k)
				}
			}
		})
	}
}

// sized makes b smaller under -short: less of each sort, everything else as it is.
func sized(b Bounds) Bounds {
	if testing.Short() {
		b.Tasks, b.Tails, b.Hooks = min(b.Tasks, 1), min(b.Tails, 1), min(b.Hooks, 1)
	}
	return b
}

// A model that can go round for ever after a shutdown call never deadlocks, and
// yet done is out of reach.
func TestExploreFindsLivelock(t *testing.T) {
	m := newMachine(rules[:], effects)
	m.effects[StepEnd] = func(s *State, a *Action) {
		end(s, a)
		for i := range s.Timers {
			if s.Timers[i].Status == timerUnsettled {
				s.Timers[i].Status = TimerDue
			}
		}
	}
	b := Bounds{Config: Config{Policy: RunDueTimers}, Periodic: 1, Timeout: true, Graceful: true}
	v := m.explore(b, Options{}).Violation
	if v == nil || v.Sentence != "after a shutdown call done stays reachable" {
		t.Fatalf("got %v, want that done is not reachable", v)
	}
}

// A violation reads: the sentence, the shortest path, the state.
func TestViolationText(t *testing.T) {
	m := mutant{"done after tasks", "dropped", func(m *machine) {
		ruleOf(m, "done after tasks").holds = func(*State, *Action) bool { return true }
	}}.machine()
	got := m.explore(tailBounds(), Options{}).Violation.String()
	want := `G3 every accepted body has ended when Done is closed: task 1
   1  startOK
   2  submit 1 accepted
   3  shutdownGracefully quiet=0 timeout=0
   4  done
      {Terminated, closed by shutdownGracefully, queue [1], before the shutdown call 1+0, accepted 1 ran 0 cancelled 0 refused 0}
`
	equal(t, got, want, "violation")
}

// A search that was cut short is not complete.
func TestExploreMaxStates(t *testing.T) {
	r := Explore(DefaultBounds(), Options{MaxStates: 100})
	if r.Complete || r.States <= 100 || r.States > 200 {
		t.Errorf("got complete=%v states=%d, want false and little more than 100", r.Complete, r.States)
	}
}

func TestExploreProgress(t *testing.T) {
	levels, last := 0, 0
	b := Bounds{Producers: 1, Tasks: 1, Shutdown: true}
	r := Explore(b, Options{Progress: func(states, edges, depth int) {
		levels++
		if states < last || depth > levels {
			t.Errorf("level %d: states=%d depth=%d after states=%d", levels, states, depth, last)
		}
		last = states
	}})
	equal(t, levels, r.Depth+1, "calls of Progress")
	equal(t, last, r.States, "states at the last call")
}

// The text of a state leaves out what is empty.
func TestStateText(t *testing.T) {
	equal(t, New(Config{}).String(), "{NotStarted, no loop}", "new state")
	set, _, err := Simulate(Config{Policy: RunTimersUntilTimeout}, parse(t, `
		startOK
		submit 1 accepted
		submit 2 accepted
		submitTail 1 accepted
		schedule 4 accepted
		addHook 7 accepted
		begin task 1
		shutdownGracefully quiet=1 timeout=1`))
	noError(t, err, "simulate")
	equal(t, set[0].String(), "{ShuttingDown, quiet period running, running task 1, queue [2], tails [1], "+
		"before the shutdown call 1+1, timers [4 waiting], hooks [7], accepted 3 ran 0 cancelled 0 refused 0}", "state")
}

func parse(t *testing.T, lines string) (trace []Action) {
	t.Helper()
	for line := range strings.Lines(strings.TrimSpace(lines)) {
		a, err := ParseAction(line)
		noError(t, err, line)
		trace = append(trace, a)
	}
	return trace
}
