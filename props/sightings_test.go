package props

import (
	"flag"
	"fmt"
	"strconv"
	"testing"

	"eventide/props/lane"

	"pgregory.net/rapid"
)

// fullRun is how many programs each property gets unless it is told otherwise.
const fullRun = 1000

// mostRounds bounds how often a property that saw too little goes on with as many new
// programs as its first round had.
const mostRounds = 20

// share is how many of so many programs must exercise the guarantee: the part of
// Needed that they are of a full run, and one at least.
func (g Guarantee) share(programs int) int { return max(1, g.Needed()*programs/fullRun) }

// sightings counts the programs of one property, and those that exercised its
// guarantee.
type sightings struct {
	of                  Guarantee
	programs, exercised int
}

func (s *sightings) observe(v Verdict) {
	s.programs++
	if v.Exercised[s.of.ID] {
		s.exercised++
	}
}

// gather calls round, which reports its programs to observe, until enough of them
// have exercised the guarantee: the share of the first round. It gives up after
// mostRounds, with an error that begins with lane.NotExercised.
func (s *sightings) gather(round func(n int)) error {
	round(0)
	want := s.of.share(s.programs)
	for n := 1; s.exercised < want; n++ {
		if n == mostRounds {
			return fmt.Errorf("%s%s: %d programs, of which %d exercised it, want %d; no violation was found, and nothing is shown", lane.NotExercised, s.of.ID, s.programs, s.exercised, want)
		}
		round(n)
	}
	return nil
}

// checkExercised checks a property on generated programs, and on more of them while
// too few have exercised the guarantee: a property whose premise never occurs has shown
// nothing.
func checkExercised(t *testing.T, id string, property func(observe func(Verdict)) func(*rapid.T)) {
	g, _ := Lookup(id)
	s := &sightings{of: g}
	check := property(s.observe)
	err := s.gather(func(n int) {
		defer reseed(t, n)()
		rapid.Check(t, check)
	})
	t.Logf("%s: exercised by %d of %d programs", id, s.exercised, s.programs)
	if err != nil {
		t.Error(err)
	}
}

// reseed gives a later round other programs if a seed is given: with one, each round
// would have the same. The returned function takes it back.
func reseed(t *testing.T, round int) (restore func()) {
	given := flag.Lookup("rapid.seed").Value.String()
	seed, err := strconv.ParseUint(given, 10, 64)
	if err != nil {
		t.Fatalf("-rapid.seed is %q: %v", given, err)
	}
	if seed == 0 || round == 0 {
		return func() {}
	}
	const golden = 0x9e3779b97f4a7c15 // far from the seeds that a round counts up to
	other := max(1, seed+uint64(round)*golden)
	if err := flag.Set("rapid.seed", strconv.FormatUint(other, 10)); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := flag.Set("rapid.seed", given); err != nil {
			t.Fatal(err)
		}
	}
}
