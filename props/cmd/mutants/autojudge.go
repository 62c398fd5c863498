package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"eventide/props/lane"
	"eventide/props/lanes/interleave/build"
	"eventide/props/lanes/sockets/shadow"
	"eventide/props/mutant"
	"eventide/props/mutant/auto"
	"eventide/props/mutant/chosen"
	"eventide/props/mutant/score"
)

// autoJudge lets each kind of check look for a pick, in the order of score.Order.
type autoJudge struct {
	settings
	checks  map[score.By]autoCheck
	control func() error  // that the lanes find nothing without a mutant
	with    auto.Combined // picks that share their programs; it may be empty
	dir     string        // of these programs
}

// autoCheck looks for a mutant of a package, and leaves what it builds in dir for the checks
// behind it, and for the mutants that share the program. The second result is false if it
// does not run the package.
type autoCheck func(m mutant.Mutant, pkg, dir string) (look score.Look, looked bool, err error)

// judge returns what became of a pick. If whole is false, no check runs after the first
// one that kills the pick.
func (j *autoJudge) judge(p auto.Pick, whole bool) (score.Pick, error) {
	m := p.Mutant()
	m.Guarantee = "" // nobody chose one, so every property looks for it
	if number := j.with.Number(p); number > 0 {
		m.Texts, m.Number = j.with.Changed, number
		return j.judgeIn(j.dir, p, m, whole)
	}
	dir, err := emptyDirectory(filepath.Join(j.out, "auto", p.Name()))
	if err != nil {
		return score.Pick{}, err
	}
	defer os.RemoveAll(dir)
	return j.judgeIn(dir, p, m, whole)
}

// emptyDirectory makes a directory, without what an interrupted run has left in it: its
// binaries may be of other sources.
func emptyDirectory(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return path, errors.Join(os.RemoveAll(path), os.MkdirAll(path, 0o755))
}

// judgeIn is judge with the place where programs are built.
func (j *autoJudge) judgeIn(dir string, p auto.Pick, m mutant.Mutant, whole bool) (score.Pick, error) {
	v := newScore(p, j.seed)
	v.Brief = !whole
	began := time.Now()
	for _, by := range score.Order() {
		if !j.looks(by) {
			continue
		}
		if v.Verdict == score.Killed && (!whole || !by.Always()) || by.Races() && !aboutLocks[p.Operator] {
			continue
		}
		at := time.Now()
		look, looked, err := j.checks[by](m, p.Package(), dir)
		if err != nil {
			return v, fmt.Errorf("%s: %w", by, err)
		}
		if !looked {
			continue
		}
		look.By, look.Seconds, look.What = by, time.Since(at).Seconds(), withoutStack(look.What)
		v.Looks = append(v.Looks, look)
		if look.Killed {
			v.Verdict = score.Killed
		}
	}
	v.Seconds = time.Since(began).Seconds()
	return v, nil
}

// looks reports whether the kind of check is one of those that look.
func (s settings) looks(by score.By) bool {
	return s.by == "" || slices.Contains(strings.Split(s.by, ","), string(by))
}

// aboutLocks are the operators whose mutants may be data races and nothing else. The race
// detector looks for these only: its programs are slow to build and to run.
var aboutLocks = map[string]bool{"drop-lock": true, "move-lock": true, "defer": true, "swap": true}

// The most that a lane does for one pick. It is counted in programs and schedules, so that
// a busy machine takes longer and finds the same.
const (
	virtualPrograms     = 6_000
	interleaveSchedules = 40_000
	raceSchedules       = 4_000
	realPrograms        = 600
	socketPrograms      = 8_000
	socketRacePrograms  = 1_000
)

// autoBudget is the most that each kind of check does for one pick, for people.
func autoBudget() map[score.By]string {
	return map[score.By]string{
		score.ByVirtual:    fmt.Sprintf("%d programs", virtualPrograms),
		score.ByInterleave: fmt.Sprintf("%d schedules", interleaveSchedules),
		score.ByReal:       fmt.Sprintf("%d programs", realPrograms),
		score.BySockets:    fmt.Sprintf("%d programs, then %d with the race detector", socketPrograms, socketRacePrograms),
		score.ByBlocking:   fmt.Sprintf("%d programs, then %d with the race detector", socketPrograms, socketRacePrograms),
		score.ByExits:      fmt.Sprintf("%d programs, then %d with the race detector", socketPrograms, socketRacePrograms),
		score.ByKit:        "every program of the kits, once, and 200 to 5000 inputs of each property",
		score.ByRaceLane:   fmt.Sprintf("%d schedules", raceSchedules),
		score.ByTest:       "every test of the package and of the measured packages that import it, once",
		score.ByRaceTest:   "every test of the package, and of core for what core is made of, with -race -short",
	}
}

const (
	autoWall  = 3 * time.Minute  // the most that a lane may take
	autoStall = 20 * time.Second // silence of a lane that counts as a hang, if it comes twice
)

// newAutoJudge returns a judge of picks that share programs, which it builds in dir, or, if
// there are none with it, of picks that have programs of their own.
func newAutoJudge(s settings, with auto.Combined, dir string) (*autoJudge, error) {
	tree, err := coreTree(s.root)
	if err != nil {
		return nil, err
	}
	s.stall, s.interleave = autoStall, autoWall
	base := mutant.Mutant{Name: "none", Texts: with.Changed}
	lanes := &autoLanes{settings: s, base: base, dir: dir}
	tests := newTestRunner(s, tree)
	tests.base, tests.dir, tests.apart = base, dir, newTestRunner(s, tree)
	return &autoJudge{settings: s, with: with, dir: dir, control: lanes.control, checks: map[score.By]autoCheck{
		score.ByVirtual:    lanes.virtual,
		score.ByInterleave: lanes.schedules(false, interleaveSchedules),
		score.ByReal:       lanes.real,
		score.BySockets:    lanes.shadowed("sockets"),
		score.ByBlocking:   lanes.shadowed("blocking"),
		score.ByExits:      lanes.shadowed("exits"),
		score.ByKit:        tests.kits,
		score.ByRaceLane:   lanes.schedules(true, raceSchedules),
		score.ByTest:       tests.all(false),
		score.ByRaceTest:   tests.all(true),
	}}, nil
}

// autoLanes lets the lanes look for mechanical mutants.
type autoLanes struct {
	settings
	base mutant.Mutant // the sources with no mutant that runs
	dir  string        // of its programs, if it has some that mutants share; "": nowhere
}

// inVirtual are the packages that programs in virtual time and under chosen schedules run:
// core, and what it is made of that is not a poller of the kernel.
func inVirtual(pkg string) bool {
	return pkg == "core" || pkg == "core/internal/tasks" || pkg == "core/internal/poll"
}

// inReal are the packages that programs in real time run.
func inReal(pkg string) bool {
	return inVirtual(pkg) || pkg == "core/internal/epoll" || pkg == "core/internal/netpoll"
}

// control runs the lanes of generated programs on core as it is. What they find there they
// would find with every mutant.
func (a *autoLanes) control() error {
	dir := a.dir
	if dir == "" {
		var err error
		if dir, err = emptyDirectory(filepath.Join(a.out, "auto", "control")); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	for name, check := range map[string]autoCheck{
		"virtual": a.virtual, "real": a.real, "sockets": a.shadowed("sockets"), "blocking": a.shadowed("blocking"), "exits": a.shadowed("exits"),
	} {
		if !a.looks(score.By(name)) {
			continue
		}
		pkg := "core"
		if of := inShadow[name]; of != nil && !of(pkg) {
			pkg = "core/" + map[string]string{"blocking": "blocking", "exits": "process"}[name]
		}
		if err := finding(name)(check(a.base, pkg, dir)); err != nil {
			return err
		}
	}
	return nil
}

// properties builds the properties with a mutant, once for the checks that run them.
func (s settings) properties(m mutant.Mutant, dir string) (bin string, err error) {
	return s.room.build(filepath.Join(dir, "properties.test"), func() (string, error) {
		overlay, err := s.overlay(m, dir)
		if err != nil {
			return "", err
		}
		return lane.Build(s.root, dir, "properties", overlay)
	})
}

// overlay writes the overlay of a mutant to a directory of dir, and returns its path, or "" if
// the mutant changes nothing.
func (s settings) overlay(m mutant.Mutant, dir string) (string, error) {
	if !m.Changes() {
		return "", nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(dir, "overlay") // programs of one mutant are built side by side
	if err != nil {
		return "", err
	}
	return m.Overlay(s.root, dir)
}

func (a *autoLanes) virtual(m mutant.Mutant, pkg, dir string) (score.Look, bool, error) {
	if !inVirtual(pkg) {
		return score.Look{}, false, nil
	}
	return a.generated(m, dir, lane.Run{}, virtualPrograms)
}

// real runs programs in real time. On a busy machine one of them may fail by itself, so a
// finding counts if the same programs give one again.
func (a *autoLanes) real(m mutant.Mutant, pkg, dir string) (score.Look, bool, error) {
	if !inReal(pkg) {
		return score.Look{}, false, nil
	}
	look, looked, err := a.generated(m, dir, lane.Run{Lane: "TestRealLane"}, realPrograms)
	if err != nil || !look.Killed {
		return look, looked, err
	}
	return a.generated(m, dir, lane.Run{Lane: "TestRealLane"}, realPrograms)
}

// generated runs a lane of the properties until it has found something or has run so many
// programs.
func (a *autoLanes) generated(m mutant.Mutant, dir string, run lane.Run, most int) (score.Look, bool, error) {
	bin, err := a.properties(m, dir)
	if err != nil {
		return score.Look{}, false, err
	}
	run.Bin, run.Cases = bin, filepath.Join(dir, "cases", m.Name)
	return a.search(m, run, most)
}

// search runs a lane with a mutant until it has found something or has run so many programs.
func (a *autoLanes) search(m mutant.Mutant, run lane.Run, most int) (score.Look, bool, error) {
	run.Env = append(run.Env, chosen.Environment(m.Number))
	run.Budget, run.Seed, run.Stall, run.MaxMemory = autoWall, a.seed, a.stall, maxMemory
	run.Until = func(r lane.Result) bool { return len(r.Failed)+len(r.Seen) > 0 || r.Runs >= most }
	r, err := twiceIfHung(run.Budget, func() (lane.Result, error) { return run.Do(a.root) })
	if len(r.Failed) == 0 {
		r.Failed = r.Seen
	}
	return lookOf(r, err)
}

// inShadow are the packages that the lanes over a model run, by lane.
var inShadow = map[string]func(pkg string) bool{
	"sockets":  func(pkg string) bool { return inReal(pkg) || pkg == "core/tcp" || pkg == "core/internal/transport" },
	"blocking": func(pkg string) bool { return pkg == "core/blocking" || pkg == "core/internal/transport" },
	"exits":    func(pkg string) bool { return pkg == "core/process" },
}

// shadowed is the check by a lane of package shadow: by generated programs over a model. What they
// miss, fewer of them look for with the race detector.
func (a *autoLanes) shadowed(name string) autoCheck {
	return func(m mutant.Mutant, pkg, dir string) (score.Look, bool, error) {
		if !inShadow[name](pkg) {
			return score.Look{}, false, nil
		}
		changed, err := m.Apply(a.root)
		if err != nil {
			return score.Look{}, false, err
		}
		look, looked, err := a.programs(m, name, shadow.Binary{Root: a.root, Dir: filepath.Join(dir, name), Changed: changed}, socketPrograms)
		if err != nil || look.Killed {
			return look, looked, err
		}
		runs := look.Runs
		look, looked, err = a.programs(m, name, shadow.Binary{Root: a.root, Dir: filepath.Join(dir, name+"-race"), Changed: changed, Race: true}, socketRacePrograms)
		look.Runs += runs
		return look, looked, err
	}
}

// programs runs programs of a lane until one of them has violated something or so many have run.
func (a *autoLanes) programs(m mutant.Mutant, name string, b shadow.Binary, most int) (score.Look, bool, error) {
	which, err := shadow.Named(name)
	if err != nil {
		return score.Look{}, false, err
	}
	bin, err := a.room.build(filepath.Join(b.Dir, which.Name+".test"), func() (string, error) { return b.Build(which) })
	if err != nil {
		return score.Look{}, false, err
	}
	return a.search(m, lane.Run{Bin: bin, Lane: which.Test}, most)
}

// schedules is the check by the lane that chooses schedules. The first time it looks without a
// mutant.
func (a *autoLanes) schedules(race bool, most int) autoCheck {
	control := sync.OnceValue(func() error {
		dir := a.dir
		if dir == "" {
			var err error
			if dir, err = emptyDirectory(filepath.Join(a.out, "auto", fmt.Sprint("control-race-", race))); err != nil {
				return err
			}
			defer os.RemoveAll(dir)
		}
		return finding("interleave")(a.explore(a.base, dir, race, most))
	})
	return func(m mutant.Mutant, pkg, dir string) (score.Look, bool, error) {
		if !inVirtual(pkg) {
			return score.Look{}, false, nil
		}
		if err := control(); err != nil {
			return score.Look{}, false, err
		}
		return a.explore(m, dir, race, most)
	}
}

// explore runs schedules of a mutant.
func (a *autoLanes) explore(m mutant.Mutant, dir string, race bool, most int) (score.Look, bool, error) {
	changed, err := m.Apply(a.root)
	if err != nil {
		return score.Look{}, false, err
	}
	place := filepath.Join(dir, fmt.Sprint("schedules-race-", race))
	bin, err := a.room.build(filepath.Join(place, "lane"), func() (string, error) {
		return build.Lane{Root: a.root, Dir: place, Changed: changed, Race: race}.Build()
	})
	if err != nil {
		return score.Look{}, false, err
	}
	return lookOf(a.lookForSchedules(m.Number, bin, filepath.Join(dir, "cases", m.Name), "", race, a.interleave, most))
}

// finding is an error if a lane found something without a mutant.
func finding(name string) func(look score.Look, _ bool, err error) error {
	return func(look score.Look, _ bool, err error) error {
		if err != nil {
			return fmt.Errorf("lane %s without a mutant: %w", name, err)
		}
		if look.Killed {
			return fmt.Errorf("lane %s finds something without a mutant, so what it finds with one means nothing: %s", name, look.What)
		}
		return nil
	}
}

// lookOf is what a lane found. A lane that crashes or hangs before it has run anything
// shows nothing of a planted bug, which is to break one guarantee; a mechanical mutant may
// well break everything, and the lane without it does run.
func lookOf(r lane.Result, err error) (score.Look, bool, error) {
	var silent lane.ErrSilent
	switch {
	case errors.As(err, &silent):
		return score.Look{Killed: true, What: "the lane ended before its first run: " + lastPanic(silent.Output)}, true, nil
	case err != nil:
		return score.Look{}, false, err
	}
	k, found := killOf(r, "")
	return score.Look{Killed: found, What: strings.TrimSpace(k.what), Runs: r.Runs}, true, nil
}
