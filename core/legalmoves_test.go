package core

import (
	"fmt"
	"strings"
	"testing"
)

// The table of moves, checked against the text of G1.
func TestG1LegalMoves(t *testing.T) {
	const text = `
		NotStarted -> Started ShuttingDown Shutdown Terminated
		Started -> ShuttingDown Shutdown
		ShuttingDown -> Shutdown Terminated
		Shutdown -> Terminated`
	want := map[string]bool{}
	for line := range strings.Lines(strings.TrimSpace(text)) {
		from, to, _ := strings.Cut(strings.TrimSpace(line), " -> ")
		for _, s := range strings.Fields(to) {
			want[from+s] = true
		}
	}
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
