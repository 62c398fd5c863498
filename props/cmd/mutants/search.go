package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"eventide/props"
	"eventide/props/lane"
	"eventide/props/mutant"
)

// searcher builds mutants and lets the lane look for them.
type searcher struct {
	settings
	build func(name, overlay string) (bin string, err error)
	look  func(bin, cases, only string, budget time.Duration) (lane.Result, error)

	marks     map[string]mark // by name; none means the virtual lane
	schedules func(m mutant.Mutant, e *entry, dir string, race bool) (bool, error)
	tests     func(m mutant.Mutant, by mark, e *entry, dir string) (bool, error)
}

func newSearcher(s settings) *searcher {
	return &searcher{settings: s, build: s.build, look: s.look, schedules: newInterleaver(s).try, tests: newTestRunner(s, nil).planted}
}

// control runs the lane on core as it is. Whatever it finds there, it would find
// in every mutant.
func (s *searcher) control() error {
	bin, err := s.build("control", "")
	if err != nil {
		return err
	}
	defer os.Remove(bin)
	r, err := s.look(bin, "", "", s.forControl(s.own))
	if err != nil {
		return fmt.Errorf("without a mutant: %w", err)
	}
	if k, found := killOf(r, ""); found {
		return fmt.Errorf("the lane finds something without a mutant, so what it finds with one means nothing: %s", k.what)
	}
	return nil
}

// try returns what became of one mutant.
func (s *searcher) try(m mutant.Mutant) (e entry, err error) {
	e = newEntry(m)
	dir, err := filepath.Abs(filepath.Join(s.out, "mutants", m.Name))
	if err != nil {
		return e, err
	}
	if err := os.RemoveAll(dir); err != nil {
		return e, err
	}
	var tried []string
	for _, lane := range s.lanes(m) {
		tried = append(tried, lane)
		found, err := s.tryIn(lane, m, &e, dir)
		if err != nil {
			return e, err
		}
		if found {
			e.Lane = lane
			return e, s.disproves(m, e)
		}
	}
	e.Lane = strings.Join(tried, "+")
	e.survived()
	if proof := s.marks[m.Name].equivalent; proof != "" {
		e.Verdict, e.Reason = equivalent, proof
	}
	return e, nil
}

// disproves returns an error if what was killed is said to be equivalent.
func (s *searcher) disproves(m mutant.Mutant, e entry) error {
	if proof := s.marks[m.Name].equivalent; proof != "" {
		return fmt.Errorf("it is said to be equivalent (%s), and %s sees it: %s", proof, e.by(), e.Reason)
	}
	return nil
}

// lanes are those that look for a mutant, in this order.
func (s *searcher) lanes(m mutant.Mutant) []string {
	mark := s.marks[m.Name]
	first := cmp.Or(mark.lane, laneVirtual)
	file := m.Edits[0].File
	ofCore := filepath.Dir(file) == "core" || strings.HasPrefix(file, "core/internal/")
	if s.interleave <= 0 || !ofCore || first == laneInterleave || first == laneRace {
		return []string{first} // the interleave lane runs core, and nothing else
	}
	return []string{first, laneInterleave}
}

func (s *searcher) tryIn(lane string, m mutant.Mutant, e *entry, dir string) (bool, error) {
	switch lane {
	case laneInterleave, laneRace:
		return s.schedules(m, e, dir, lane == laneRace)
	case laneTest:
		return s.tests(m, s.marks[m.Name], e, dir)
	}
	if look := inShadow[lane]; look != nil {
		return s.programs(lane, m, e, dir)
	}
	return s.virtual(m, e, dir)
}

// programs lets a lane of package shadow look for a mutant.
func (s *searcher) programs(lane string, m mutant.Mutant, e *entry, dir string) (bool, error) {
	defer e.clock()()
	lanes := &autoLanes{settings: s.settings}
	lanes.stall = autoStall
	look, looked, err := lanes.shadowed(lane)(m, path.Dir(m.Edits[0].File), dir)
	if err == nil && !looked {
		err = fmt.Errorf("lane %s does not run %s", lane, m.Edits[0].File)
	}
	e.Schedules += look.Runs
	if look.Killed {
		e.killed(kill{by: lane, what: look.What})
	}
	return look.Killed, err
}

// virtual lets the properties in virtual time look for a mutant.
func (s *searcher) virtual(m mutant.Mutant, e *entry, dir string) (bool, error) {
	overlay, err := m.Overlay(s.root, dir)
	if err != nil {
		return false, err
	}
	bin, err := s.build(m.Name, overlay)
	if err != nil {
		return false, err
	}
	defer os.Remove(bin)
	defer e.clock()()
	for _, l := range s.places(m) {
		r, err := s.look(bin, dir, l.only, l.budget)
		if err != nil {
			return false, err
		}
		e.Schedules += r.Runs
		blame := m.Guarantee
		if l.only == "" {
			blame = keptFor(dir, blame)
		}
		if k, found := killOf(r, blame); found {
			e.killed(k)
			return true, nil
		}
	}
	return false, nil
}

// keptFor returns the guarantee that the first program kept in dir broke, or
// otherwise if there is none: of all that a run of all properties reports, this is
// what made one fail.
func keptFor(dir, otherwise string) string {
	paths, err := filepath.Glob(filepath.Join(dir, "*.case"))
	if err != nil || len(paths) == 0 {
		return otherwise
	}
	c, err := props.LoadCase(paths[0])
	if err != nil {
		return otherwise
	}
	return c.Guarantee
}

type place struct {
	only   string
	budget time.Duration
}

// places is where a mutant is looked for: first where it should be seen.
func (s settings) places(m mutant.Mutant) []place {
	all := place{"", s.all}
	if g, ok := props.Lookup(m.Guarantee); !ok || !g.Checked() {
		return []place{all}
	}
	return []place{{m.Guarantee, s.own}, all}
}

func (s settings) build(name, overlay string) (string, error) {
	dir := filepath.Join(s.out, "bin")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	return lane.Build(s.root, dir, "mutant-"+name, overlay)
}

// look runs the lane until it has found something or the budget is spent. The
// programs that failed are kept in cases, made small. On a machine that is busy a lane
// may look as if it hung: one that does so twice does.
func (s settings) look(bin, cases, only string, budget time.Duration) (lane.Result, error) {
	return twiceIfHung(budget, func() (lane.Result, error) {
		return lane.Run{
			Bin: bin, Only: only, Budget: budget, Seed: s.seed, Cases: cases, Stall: s.stall, MaxMemory: maxMemory,
			Until: func(r lane.Result) bool { return len(r.Failed) > 0 },
		}.Do(s.root)
	})
}

// twiceIfHung runs again what hung without having found anything. What still had
// something to say when its budget was spent, and was cut off later, did not hang.
func twiceIfHung(budget time.Duration, run func() (lane.Result, error)) (r lane.Result, err error) {
	var silent lane.ErrSilent
	for range 2 {
		r, err = run()
		if err == nil && r.Ending == lane.Hung && r.Seconds >= budget.Seconds() {
			r.Ending = lane.Ended
		}
		hung := errors.As(err, &silent) && silent.Ending == lane.Hung || err == nil && r.Ending == lane.Hung
		if !hung || len(r.Failed) > 0 {
			return r, err
		}
	}
	if err != nil {
		return r, fmt.Errorf("the lane hung before it had run anything: that shows nothing\n%w", silent)
	}
	return r, nil
}
