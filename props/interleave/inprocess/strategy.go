package inprocess

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// names are the strategies that New makes, in the order in which a mix takes them.
var names = []string{"pct3", "pos", "walk", "sticky", "pct2", "surw", "feedback", "pct4", "pct5"}

// Exhaustive is the name of the strategy that goes through every schedule.
const Exhaustive = "exhaustive"

// Names returns the names of all strategies that New makes.
func Names() []string { return slices.Clone(names) }

// A Strategy makes the schedules of one program, one after the other. What it has learnt
// from them is lost when another Strategy begins a schedule, except for a replay, which
// learns nothing and may be made between two schedules.
type Strategy struct {
	of       []string // one name, or those of a mix
	seed     uint64
	n        uint64 // schedules that were begun
	bound    int    // of the exhaustive one
	pruned   int
	replay   bool
	switches []Switch
	last     result
}

// learning is the Strategy of which the engine has learnt.
var learning *Strategy

// New returns a strategy by its name.
func New(name string, seed uint64) (*Strategy, error) { return NewMix(seed, name) }

// NewMix returns a strategy that takes those of the names in turn.
func NewMix(seed uint64, of ...string) (*Strategy, error) {
	for _, name := range of {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("inprocess: there is no strategy %q, want one of %v", name, names)
		}
	}
	return &Strategy{of: of, seed: seed}, nil
}

// NewExhaustive returns the strategy that goes through every schedule with at most so
// many preemptions: first those with none, then those with one, and so on.
func NewExhaustive(most int) *Strategy { return &Strategy{of: []string{Exhaustive}, bound: most} }

// NewReplay returns the strategy that takes the switches, and the default everywhere else.
func NewReplay(switches []Switch) *Strategy {
	return &Strategy{of: []string{"replay"}, replay: true, switches: slices.Clone(switches)}
}

// Name returns the name of the strategy whose schedule was begun last.
func (s *Strategy) Name() string { return s.of[(max(s.n, 1)-1)%uint64(len(s.of))] }

// Begin starts the next schedule. It returns false if there is none.
func (s *Strategy) Begin() bool {
	if learning != s && !s.replay {
		learning = s
		forget(s.bound)
	}
	s.n++
	return !s.exhaustive() || nextOfDFS()
}

func (s *Strategy) exhaustive() bool { return s.of[0] == Exhaustive }

// End says that the class of the schedule that was run last was new, or was not.
func (s *Strategy) End(r *Result, fresh bool) {
	if r.Verdict == Pruned {
		s.pruned++
		return
	}
	if !s.exhaustive() && !s.replay {
		learn(fresh)
	}
}

// Unused returns how many switches of a replay had no occasion: they do not fit the
// program, or the program has changed.
func (s *Strategy) Unused() int { return s.last.unused }

// Pruned returns how many schedules reached a state from which all had been seen.
func (s *Strategy) Pruned() int { return s.pruned }

// Bound returns the number of preemptions that is explored, or was last.
func (s *Strategy) Bound() int {
	bound, _, _ := boundOfDFS()
	return bound
}

// Complete reports whether every schedule within the bound was seen.
func (s *Strategy) Complete() bool {
	_, complete, _ := boundOfDFS()
	return complete
}

// All reports whether no schedule has more preemptions than the bound, and Complete.
func (s *Strategy) All() bool {
	_, complete, cutOff := boundOfDFS()
	return complete && !cutOff
}

// Chance returns the depth of the bugs that the theorem of PCT speaks of for the schedule
// that was run last, and the least chance with which such a bug is found in one schedule.
// The depth is 0 if the strategy is not PCT. The chance is 0 for a schedule that had more
// decisions than expected, or in which priorities were drawn again.
func (s *Strategy) Chance(goroutines int) (depth int, chance float64) {
	digits, isPCT := strings.CutPrefix(s.Name(), "pct")
	if !isPCT {
		return 0, 0
	}
	depth, _ = strconv.Atoi(digits) // of pct2 to pct5
	longest := s.last.longest
	if s.last.decisions > longest || s.last.decisions >= 8*defaultFair {
		return depth, 0
	}
	return depth, 1 / (float64(goroutines) * math.Pow(float64(longest), float64(depth-1)))
}
