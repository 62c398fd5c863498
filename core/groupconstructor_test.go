package core

import (
	"errors"
	"fmt"
	"testing"
)

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
