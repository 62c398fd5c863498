package results

import (
	"fmt"
	"slices"
	"strings"

	"eventide/props/mutant/auto"
	"eventide/props/mutant/score"
)

// mechanical is what the page shows of the kept runs of mechanical mutants.
type mechanical struct{ kept *score.Kept }

// readMechanical returns nil if no run is kept.
func readMechanical(path string) (*mechanical, error) {
	k, err := score.ReadKept(path)
	if err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	if len(k.Runs) == 0 {
		return nil, nil
	}
	return &mechanical{k}, nil
}

// newest is the run on the newest sources.
func (m *mechanical) newest() *score.File { return m.kept.Runs[len(m.kept.Runs)-1] }

// enoughPicks make a share near 95 % whose interval, of 95 %, is less than four points wide. A run of three
// seeds has as many; one that is not complete yet stands beside the run before it.
const enoughPicks = 600

// sample has the picks of the newest runs that are enough together. Of fewer a share says little, and
// the score of a run on older sources is that of other checks.
func (m *mechanical) sample() (picks []score.Pick) {
	for _, r := range slices.Backward(m.kept.Runs) {
		if len(picks) < enoughPicks {
			picks = append(picks, r.Picks...)
		}
	}
	return picks
}

// ByPackage has a row for all packages, and then one for each.
func (m *mechanical) ByPackage() []score.Row {
	picks := m.sample()
	return append([]score.Row{{Name: "all", Share: score.Total(picks)}}, score.Rows(picks, func(p score.Pick) string { return p.Package })...)
}

func (m *mechanical) ByOperator() []score.Row {
	var order []string
	for _, o := range auto.Operators() {
		order = append(order, o[0])
	}
	return score.Rows(m.sample(), func(p score.Pick) string { return p.Operator }, order...)
}

// mechanicalCheck is one kind of check, and the most that it does for a pick.
type mechanicalCheck struct {
	score.Kind
	Budget string
}

// Always reports whether it looks for every whole pick of the packages that it runs.
func (c mechanicalCheck) Always() bool { return c.By.Always() }

func (m *mechanical) Checks() (all []mechanicalCheck) {
	for _, k := range score.Kinds(m.sample()) {
		all = append(all, mechanicalCheck{k, m.newest().Budget[k.By]})
	}
	return all
}

// mechanicalRun is the picks of one state of the sources.
type mechanicalRun struct {
	score.Share
	Revision, Seeds string
	Sites           int
}

func (m *mechanical) Runs() (all []mechanicalRun) {
	for _, r := range m.kept.Runs {
		var seeds []string
		for _, d := range r.Draws {
			seeds = append(seeds, fmt.Sprint(d.Seed))
		}
		all = append(all, mechanicalRun{score.Total(r.Picks), r.Revision, strings.Join(seeds, ", "), r.Sites})
	}
	return all
}

func (m *mechanical) Survivors() []score.Pick {
	return m.where(func(p score.Pick) bool { return p.Verdict == score.Survived })
}

// Aside are the picks that change no behaviour, one class after the other.
func (m *mechanical) Aside() (all []score.Pick) {
	for _, class := range []score.Verdict{score.Equivalent, score.Slower, score.Larger} {
		all = append(all, m.where(func(p score.Pick) bool { return p.Verdict == class })...)
	}
	return all
}

func (m *mechanical) where(is func(score.Pick) bool) []score.Pick {
	return slices.DeleteFunc(m.sample(), func(p score.Pick) bool { return !is(p) })
}

// Enough is how many picks the tables have at least, if as many are kept.
func (m *mechanical) Enough() int { return enoughPicks }
