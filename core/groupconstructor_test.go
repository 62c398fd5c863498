package core

import (
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// closeCounter is a poller that only counts its Close calls.
type closeCounter struct {
	Poller
	closed int
}

func (p *closeCounter) Close() error { p.closed++; return nil }

// TestPropG21GroupConstructor: if a child cannot be made, the children made before it have terminated when
// the constructor returns, and the error names the child.
func TestPropG21GroupConstructor(t *testing.T) {
	cause := errors.New("no descriptor left")
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		failing := rapid.IntRange(0, n-1).Draw(t, "the child that fails")
		var made []*Executor
		g, err := newGroup("NewGroup", n, func(g *Group, i int) (*Executor, error) {
			if i == failing {
				return nil, cause
			}
			cfg, err := newConfig("New", nil)
			if err != nil {
				return nil, err
			}
			cfg.poller = &closeCounter{}
			made = append(made, newExecutor(cfg, g))
			return made[i], nil
		})
		want := fmt.Sprintf("core: NewGroup: child %d of %d: no descriptor left", failing, n)
		if g != nil || !errors.Is(err, cause) || err.Error() != want {
			t.Fatalf("G21: got %v, %v, want nil, %q", g, err, want)
		}
		if len(made) != failing {
			t.Fatalf("G21: %d children were made, want %d: none after the one that fails", len(made), failing)
		}
		for i, child := range made {
			if s := child.State(); s != StateTerminated || child.Termination().Err() != nil {
				t.Fatalf("G21: child %d is %v with %v, want Terminated, nil", i, s, child.Termination().Err())
			}
			if err := child.Execute(func() {}); !errors.Is(err, ErrRejected) || !errors.Is(err, ErrShutdown) {
				t.Fatalf("G21: child %d accepts: %v", i, err)
			}
			if closed := child.poller.(*closeCounter).closed; closed != 1 {
				t.Fatalf("G24: the poller of child %d was closed %d times, want once", i, closed)
			}
		}
	})
}
