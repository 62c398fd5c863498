package core

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// The counter of round robin wraps at n, not at 2^64: no turn is skipped, of
// whatever n (netty #10423).
func TestG21RoundRobinWraps(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7} {
		g, err := NewExecutorGroup(n)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 * n {
			if g.next.Load() >= uint64(n) {
				t.Fatalf("G21: the counter is %d with %d children", g.next.Load(), n)
			}
			if got := g.Next(); got != g.members[i%n] {
				t.Fatalf("G21: n=%d: turn %d is not child %d's", n, i, i%n)
			}
		}
		g.Shutdown()
		<-g.Termination().Done()
	}
}

// A child that cannot be made takes the others down before the constructor
// returns.
func TestG21AChildThatCannotBeMadeTakesTheOthersDown(t *testing.T) {
	cause := errors.New("no descriptor left")
	for failing := range 3 {
		var made []*Executor
		g, err := newGroup("NewGroup", 3, func(g *Group, i int) (*Executor, error) {
			if i == failing {
				return nil, cause
			}
			cfg, err := newConfig("New", nil)
			if err != nil {
				return nil, err
			}
			made = append(made, newExecutor(cfg, g))
			return made[i], nil
		})
		want := fmt.Sprintf("core: NewGroup: child %d of 3: no descriptor left", failing)
		if g != nil || !errors.Is(err, cause) || err.Error() != want {
			t.Errorf("G21: got %v, %v, want nil, %q", g, err, want)
		}
		for i, child := range made {
			if s := child.State(); s != StateTerminated || child.Termination().Err() != nil {
				t.Errorf("G21: child %d is %v with %v, want Terminated, nil", i, s, child.Termination().Err())
			}
			if err := child.Execute(func() {}); !errors.Is(err, ErrRejected) {
				t.Errorf("G21: child %d accepts: %v", i, err)
			}
		}
	}
}

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

// Nothing is left in the tables of goroutines when everything has ended.
func TestG24TheGoroutineTablesAreEmptyAfterDone(t *testing.T) {
	e, err := NewExecutor()
	if err != nil {
		t.Fatal(err)
	}
	e.Termination().OnDone(func(Report, error) { runtime.Goexit() })
	if err := e.Execute(runtime.Goexit); err != nil {
		t.Fatal(err)
	}
	heard := make(chan struct{})
	e.Termination().OnDone(func(Report, error) { close(heard) })
	e.Shutdown()
	<-heard
	for left := true; left; { // the goroutine of the listeners is unwinding
		left = false
		for _, table := range []interface {
			Range(func(k, v any) bool)
		}{&loops, &trampolines} {
			table.Range(func(_, v any) bool {
				mine, isLoop := v.(*Executor)
				_, isTrampoline := v.(*trampoline)
				left = left || isLoop && mine == e || isTrampoline
				return true
			})
		}
		runtime.Gosched()
	}
}

func TestFindStack(t *testing.T) {
	dump := "goroutine 1 [running]:\nmain.main()\n\ngoroutine 12 [select]:\nmain.f()\n\ngoroutine 2 [chan receive]:\nmain.g()"
	for _, tt := range []struct {
		goroutine int
		all       bool
		want      string
		found     bool
	}{
		{1, true, "goroutine 1 [running]:\nmain.main()", true},
		{2, true, "goroutine 2 [chan receive]:\nmain.g()", true},
		{2, false, "goroutine 2 [chan receive]:\nmain.g()", false}, // may be cut off
		{12, false, "goroutine 12 [select]:\nmain.f()", true},
		{3, true, "", false},
	} {
		got, found := findStack([]byte(dump), fmt.Appendf(nil, "goroutine %d ", tt.goroutine), tt.all)
		if string(got) != tt.want || found != tt.found {
			t.Errorf("goroutine %d, all=%v: got %q, %v, want %q, %v", tt.goroutine, tt.all, got, found, tt.want, tt.found)
		}
	}
}
