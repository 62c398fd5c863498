package core

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// movesOfG1 returns the legal moves by the text of G1: the names of the two states are the key.
func movesOfG1() map[string]bool {
	const text = `
		NotStarted -> Started ShuttingDown Shutdown Terminated
		Started -> ShuttingDown Shutdown
		ShuttingDown -> Shutdown Terminated
		Shutdown -> Terminated`
	legal := map[string]bool{}
	for line := range strings.Lines(strings.TrimSpace(text)) {
		from, to, _ := strings.Cut(strings.TrimSpace(line), " -> ")
		for _, s := range strings.Fields(to) {
			legal[from+s] = true
		}
	}
	return legal
}

// The table of moves, checked against the text of G1.
func TestG1LegalMoves(t *testing.T) {
	want := movesOfG1()
	for from := range legalMoves {
		for to := range legalMoves[from] {
			f, s := State(from), State(to)
			if legalMoves[from][to] != want[f.String()+s.String()] {
				t.Errorf("G1: %v -> %v: legal is %v, want %v", f, s, legalMoves[from][to], !legalMoves[from][to])
			}
			if legalMoves[from][to] && to <= from {
				t.Errorf("G1: %v -> %v goes back", f, s)
			}
		}
	}
}

func TestG1AnIllegalMovePanicsWithBothEnds(t *testing.T) {
	defer func() {
		want := "core: illegal move of state from NotStarted to NotStarted"
		if got := fmt.Sprint(recover()); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}()
	e := newExecutor(config{limit: unbounded}, nil)
	e.moveTo(StateNotStarted)
}

// moved is the event of a move, and what State reports while it is traced.
type moved struct {
	from, to, during State
	reason           error
}

// movesTracer records the moves of the state.
type movesTracer struct {
	state func() State
	seen  []moved
}

func (m *movesTracer) Trace(ev Event) {
	if ev.Kind == EventState {
		m.seen = append(m.seen, moved{ev.From, ev.To, m.state(), ev.Reason})
	}
}

// TestPropG1Moves: a legal move of an executor or a pool is traced with its reason and then reported, and
// any other move panics and has no effect. The move to Terminated is neither traced nor reported before Done
// is closed (G15).
func TestPropG1Moves(t *testing.T) {
	legal, cause := movesOfG1(), errors.New("the cause")
	rapid.Check(t, func(t *rapid.T) {
		tracer := &movesTracer{}
		var move func(State)
		kind := "state"
		if rapid.Bool().Draw(t, "pool") {
			p, err := NewPool(1, WithTracer(tracer))
			if err != nil {
				t.Fatal(err)
			}
			kind, move, tracer.state, p.shutdown.cause = "a pool's state", p.moveTo, p.State, cause
		} else {
			e := newExecutor(config{limit: unbounded, tracer: tracer}, nil)
			move, tracer.state, e.shutdown.cause = e.moveTo, e.State, cause
		}
		state, reported := StateNotStarted, StateNotStarted
		var traced []moved
		for range 6 {
			to := State(rapid.IntRange(int(StateNotStarted), int(StateTerminated)).Draw(t, "to"))
			want := ""
			if !legal[state.String()+to.String()] {
				want = fmt.Sprintf("core: illegal move of %s from %v to %v", kind, state, to)
			} else if state = to; to != StateTerminated {
				traced = append(traced, moved{reported, to, reported, cause})
				reported = to
			}
			if got := panicText(func() { move(to) }); got != want {
				t.Fatalf("G1: the panic is %q, want %q", got, want)
			}
			if got := tracer.state(); got != reported || !slices.Equal(tracer.seen, traced) {
				t.Fatalf("G1: State is %v after %v, want %v after %v", got, tracer.seen, reported, traced)
			}
		}
	})
}

// panicText returns the value with which f panics, as text, or "".
func panicText(f func()) (text string) {
	defer func() {
		if v := recover(); v != nil {
			text = fmt.Sprint(v)
		}
	}()
	f()
	return ""
}
