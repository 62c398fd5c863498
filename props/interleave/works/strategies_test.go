package works

import (
	"slices"
	"strings"
	"testing"

	"eventide/props/interleave/protocol"
)

// TestStrategies finds each small bug with each strategy.
func TestStrategies(t *testing.T) {
	bin := build(t, "kernels")
	for _, strategy := range protocol.Strategies() {
		if strategy == protocol.StrategyReplay {
			continue
		}
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			for name, verdict := range kernels {
				s, _ := finds(t, bin, name, verdict, 2000, protocol.Request{Strategy: strategy})
				if strategy != protocol.StrategyMix && !s.Warm && s.Strategy != strategy {
					t.Errorf("%s was found by %s, want %s", name, s.Strategy, strategy)
				}
			}
		})
	}
}

// TestExhausted goes through all schedules of healthy tests up to a bound.
func TestExhausted(t *testing.T) {
	bin := build(t, "suite")
	for _, name := range []string{"TestMutex", "TestCond", "TestChannels", "TestOnceMapPool", "TestPipes"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var schedules [2]uint64
			for i := range schedules {
				got := explore(t, bin, name, 1<<20, protocol.Request{Strategy: protocol.StrategyDFS, Bound: 2})
				if got.code != 0 || got.summary.Bound != 3 {
					t.Fatalf("exit code %d, summary %+v\n%s", got.code, got.summary, got.out)
				}
				schedules[i] = got.summary.Schedules
			}
			if schedules[0] != schedules[1] || schedules[0] < 10 {
				t.Errorf("%d schedules, then %d", schedules[0], schedules[1])
			}
		})
	}
}

// TestTrace has an op record for each operation, with its place in the program, and
// follows the turn.
func TestTrace(t *testing.T) {
	bin := build(t, "kernels")
	_, got := finds(t, bin, "TestLockOrder", protocol.Deadlock, 100, protocol.Request{Detail: 2, Strategy: protocol.StrategyPCT3})
	turn, steps, placed, births := uint64(0), uint64(0), 0, 0
	for _, r := range got.records {
		switch r.Kind {
		case protocol.KindSchedule:
			turn, steps = 0, 0
		case protocol.KindBorn:
			births++
		case protocol.KindTurn:
			if g := r.Number("g"); g != turn {
				t.Fatalf("goroutine %d loses the turn of %d", g, turn)
			}
			turn = r.Number("next")
		case protocol.KindOp:
			op := protocol.OpOf(r)
			if op.Number == 1 {
				turn, steps = 0, 0
			}
			if steps++; op.Number != steps || op.Goroutine != turn {
				t.Fatalf("%+v, want operation %d of goroutine %d", op, steps, turn)
			}
			turn = op.Next
			if op.Func != "" && op.Line > 0 {
				placed++
			}
		}
	}
	if placed < 20 || births < 3 {
		t.Errorf("%d places, %d births", placed, births)
	}
	holds := 0
	for _, g := range got.goroutines {
		if len(g.Holds) == 1 && g.Op == "lock" && g.Object != g.Holds[0] && g.State == "sync.Mutex.Lock" {
			holds++
		}
	}
	if holds != 2 {
		t.Errorf("%d goroutines hold one lock and wait for the other, want 2: %+v", holds, got.goroutines)
	}
}

// TestWindow lists the switches of schedules that are too long for the list, because
// they lie in a window.
func TestWindow(t *testing.T) {
	bin := build(t, "verdicts")
	for _, strategy := range []string{protocol.StrategyWalk, protocol.StrategySticky, protocol.StrategyPOS, protocol.StrategyPCT5} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			got := passes(t, bin, "TestManySteps", 20, protocol.Request{Detail: 1, Strategy: strategy})
			classes := map[uint64]bool{}
			for _, s := range got.schedules {
				classes[s.Class] = true
				if s.Cut || s.Decisions < 20000 {
					t.Errorf("%d decisions, %d switches, cut %v", s.Decisions, len(s.Switches), s.Cut)
				}
			}
			if len(classes) < 10 {
				t.Errorf("%d classes in 20 schedules", len(classes))
			}
		})
	}
}

// TestYieldsUnderPOS: a goroutine that yields draws a new priority. It would otherwise get
// the turn back after one operation of another goroutine, because its priority was high.
func TestYieldsUnderPOS(t *testing.T) {
	passes(t, build(t, "verdicts"), "TestYields", 2000, protocol.Request{Strategy: protocol.StrategyPOS})
}

// TestValues has a value record for each operation of the program on an atomic variable
// or a channel: what it found.
func TestValues(t *testing.T) {
	_, got := finds(t, build(t, "verdicts"), "TestValues", protocol.Failed, 1, protocol.Request{Detail: 2, Cold: true})
	var values []string
	own := false // not of package testing
	for _, r := range got.records {
		if r.Kind == protocol.KindOp {
			own = strings.HasSuffix(protocol.OpOf(r).File, "values_test.go")
		}
		if own && r.Kind == protocol.KindValue {
			values = append(values, r.Text("v"))
		}
	}
	want := []string{"0", "-7", "nil", "not nil", "0", "1", "0 of 3", "1 of 3", "2 of 3", "closed, 2 of 3", "-5"}
	if !slices.Equal(values, want) {
		t.Errorf("got %q, want %q", values, want)
	}
}
