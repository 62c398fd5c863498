package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"eventide/props/lane"
	"eventide/props/lanes/sockets/shadow"
	"eventide/props/mutant"
	"eventide/props/mutant/auto"
	"eventide/props/mutant/score"
)

// autoJudge lets each kind of check look for a pick, in the order of score.Order.
type autoJudge struct {
	settings
	checks  map[score.By]autoCheck
	control func() error // that the lanes find nothing without a mutant
}

// autoCheck looks for a mutant of a package, and may leave what it builds in dir for the
// checks behind it. The second result is false if it does not run the package.
type autoCheck func(m mutant.Mutant, pkg, dir string) (look score.Look, looked bool, err error)

// judge returns what became of a pick. If whole is false, no check runs after the first
// one that kills the pick.
func (j *autoJudge) judge(p auto.Pick, whole bool) (score.Pick, error) {
	v := newScore(p, j.seed)
	v.Brief = !whole
	m := p.Mutant()
	m.Guarantee = "" // nobody chose one, so every property looks for it
	dir, err := filepath.Abs(filepath.Join(j.out, "auto", p.Name()))
	if err != nil {
		return v, err
	}
	if err := os.RemoveAll(dir); err != nil { // of an interrupted run: its binaries may be of other sources
		return v, err
	}
	defer os.RemoveAll(dir)
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
		score.ByKit:        "every program of the kits, once",
		score.ByRaceLane:   fmt.Sprintf("%d schedules", raceSchedules),
		score.ByTest:       "every test of the package and of the measured packages that import it, once",
		score.ByRaceTest:   "the same with -race -short",
	}
}

const (
	autoWall  = 3 * time.Minute  // the most that a lane may take
	autoStall = 30 * time.Second // silence of a lane that counts as a hang
)

func newAutoJudge(s settings) (*autoJudge, error) {
	tree, err := coreTree(s.root)
	if err != nil {
		return nil, err
	}
	s.stall, s.interleave = autoStall, autoWall
	lanes := &autoLanes{settings: s}
	tests := newTestRunner(s, tree)
	return &autoJudge{settings: s, control: lanes.control, checks: map[score.By]autoCheck{
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
type autoLanes struct{ settings }

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
	dir, err := filepath.Abs(filepath.Join(a.out, "auto", "control"))
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	none := mutant.Mutant{Name: "control"}
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
		look, _, err := check(none, pkg, dir)
		if err != nil {
			return fmt.Errorf("lane %s without a mutant: %w", name, err)
		}
		if look.Killed {
			return fmt.Errorf("lane %s finds something without a mutant, so what it finds with one means nothing: %s", name, look.What)
		}
	}
	return nil
}

// properties builds the properties with a mutant, once for the checks that run them.
func (s settings) properties(m mutant.Mutant, dir string) (bin string, err error) {
	bin = filepath.Join(dir, "properties.test")
	if _, err := os.Stat(bin); err == nil {
		return bin, nil
	}
	overlay := ""
	if len(m.Edits) > 0 {
		if overlay, err = m.Overlay(s.root, filepath.Join(dir, "overlay")); err != nil {
			return "", err
		}
	}
	return lane.Build(s.root, dir, "properties", overlay)
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
	run.Bin, run.Cases = bin, filepath.Join(dir, "cases")
	return a.search(run, most)
}

// search runs a lane until it has found something or has run so many programs.
func (a *autoLanes) search(run lane.Run, most int) (score.Look, bool, error) {
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
		look, looked, err := a.programs(name, shadow.Binary{Root: a.root, Dir: filepath.Join(dir, name), Changed: changed}, socketPrograms)
		if err != nil || look.Killed {
			return look, looked, err
		}
		runs := look.Runs
		look, looked, err = a.programs(name, shadow.Binary{Root: a.root, Dir: filepath.Join(dir, name+"-race"), Changed: changed, Race: true}, socketRacePrograms)
		look.Runs += runs
		return look, looked, err
	}
}

// programs runs programs of a lane until one of them has violated something or so many have run.
func (a *autoLanes) programs(name string, b shadow.Binary, most int) (score.Look, bool, error) {
	which, err := shadow.Named(name)
	if err != nil {
		return score.Look{}, false, err
	}
	bin, err := b.Build(which)
	if err != nil {
		return score.Look{}, false, err
	}
	return a.search(lane.Run{Bin: bin, Lane: which.Test}, most)
}

// schedules is the check by the lane that chooses schedules.
func (a *autoLanes) schedules(race bool, most int) autoCheck {
	inter := newInterleaver(a.settings)
	inter.look = func(bin, cases, lean string, race bool, budget time.Duration) (lane.Result, error) {
		return a.lookForSchedules(bin, cases, lean, race, budget, most)
	}
	return func(m mutant.Mutant, pkg, dir string) (score.Look, bool, error) {
		if !inVirtual(pkg) {
			return score.Look{}, false, nil
		}
		e := newEntry(m)
		killed, err := inter.try(m, &e, filepath.Join(dir, fmt.Sprint("schedules-race-", race)), race)
		if err != nil {
			return lookOf(lane.Result{}, err)
		}
		return score.Look{Killed: killed, What: e.Reason, Runs: e.Schedules}, true, nil
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
