package props

import (
	"slices"
	"testing"
	"time"

	"eventide/props/history"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// anyCall reports whether the program makes a call for which what is true.
func anyCall(p Program, what func(Step) bool) bool {
	var in func([]Step) bool
	in = func(steps []Step) bool {
		return slices.ContainsFunc(steps, func(s Step) bool {
			return what(s) || s.Body != nil && (in(s.Body.Steps) || s.Body.Listener != nil && in(s.Body.Listener.Steps))
		})
	}
	return slices.ContainsFunc(p.Actors, func(a Actor) bool { return in(a.Steps) })
}

// TestMinimiseLeavesOnlyWhatIsNeeded: whatever else the program does, one call
// with its duration is left of it, and the program given is not changed.
func TestMinimiseLeavesOnlyWhatIsNeeded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Programs(Profile{Abrupt: true, Long: true, Spawner: true}).Draw(t, "program")
		p.Actors = append(p.Actors, Actor{Steps: []Step{{Op: history.OpShutdownGracefully, Quiet: 7, Timeout: 8, Wait: time.Second}}})
		before := p.String()
		wanted := func(s Step) bool { return s.Op == history.OpShutdownGracefully && s.Quiet == 7 }
		least := Minimise(p, func(q Program) bool { return anyCall(q, wanted) })
		require.Equal(t, before, p.String(), "the program was changed")
		want := Program{Timers: p.Timers, Actors: []Actor{{Steps: []Step{{Op: history.OpShutdownGracefully, Quiet: 7, Timeout: 8}}}}}
		require.Equal(t, want.String(), least.String())
	})
}

// TestMinimiseKeepsWhatNeverViolates: a program that does not violate stays.
func TestMinimiseKeepsWhatNeverViolates(t *testing.T) {
	p := Program{Limit: 16, Actors: []Actor{{Steps: []Step{{Op: history.OpShutdown}}}}}
	require.Equal(t, p.String(), Minimise(p, func(Program) bool { return false }).String())
}
