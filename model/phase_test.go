package model

import (
	"fmt"
	"testing"
)

// G1: phases only move forward, and only as the table says; anything else
// panics with both ends.
func TestMoves(t *testing.T) {
	for from := NotStarted; from <= Terminated; from++ {
		for to := NotStarted; to <= Terminated; to++ {
			for by := range numKinds {
				s := State{Phase: from}
				legal := false
				for _, m := range moves {
					legal = legal || m.from == from && m.to == to && m.by.has(by)
				}
				panicked := catch(func() { s.moveTo(to, by) })
				switch {
				case legal && (panicked != "" || s.Phase != to):
					t.Errorf("G1: %v -> %v by %v: got %q and %v, want the move", from, to, kindWord(by), panicked, s.Phase)
				case !legal && panicked != fmt.Sprintf("model: illegal move %v -> %v by %v", from, to, kindWord(by)):
					t.Errorf("G1: %v -> %v by %v: got %q, want a panic that names both ends", from, to, kindWord(by), panicked)
				}
			}
		}
	}
	for _, m := range moves {
		if m.to <= m.from {
			t.Errorf("G1: the table moves back: %v -> %v", m.from, m.to)
		}
	}
}

func catch(f func()) (message string) {
	defer func() {
		if p := recover(); p != nil {
			message = fmt.Sprint(p)
		}
	}()
	f()
	return ""
}

// No row of the table is dead: exploring takes each move by each of its actions.
func TestEveryMoveIsTaken(t *testing.T) {
	type step struct {
		from, to Phase
		by       Op
	}
	taken := map[step]bool{}
	m := newMachine(rules[:], effects)
	m.steps = append(m.steps[:len(m.steps):len(m.steps)], stepInvariant{"G1", "note", func(s *State, a *Action, t *State) string {
		taken[step{s.Phase, t.Phase, a.Kind}] = true
		return ""
	}})
	b := queueBounds()
	b.Tasks, b.Tails, b.Hooks = 1, 0, 0
	if r := m.explore(b, Options{}); !r.Complete {
		t.Fatalf("not complete: %v", r.Violation)
	}
	for _, mv := range moves {
		for by := range numKinds {
			if mv.by.has(by) && !taken[step{mv.from, mv.to, by}] {
				t.Errorf("never taken: %v -> %v by %v", mv.from, mv.to, kindWord(by))
			}
		}
	}
}

const mermaidGolden = `stateDiagram-v2
    direction LR
    [*] --> NotStarted
    NotStarted --> Started: first use, once the spawner has accepted
    NotStarted --> ShuttingDown: a shutdown call
    NotStarted --> Shutdown: Shutdown, or a timeout of 0
    NotStarted --> Terminated: a shutdown call whose own start failed
    Started --> ShuttingDown: a shutdown call
    Started --> Shutdown: Shutdown, a timeout of 0, or a broken loop
    ShuttingDown --> Shutdown: quiet period over, timeout, Shutdown, or a broken loop
    ShuttingDown --> Terminated: the start failed during the shutdown
    Shutdown --> Terminated: nothing left, or the start failed
    Terminated --> [*]
`

// The diagram that the README shows.
func TestMermaid(t *testing.T) { equal(t, Mermaid(), mermaidGolden, "diagram") }
