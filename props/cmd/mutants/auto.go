package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"eventide/props/internal/runner"
	"eventide/props/mutant"
	"eventide/props/mutant/auto"
	"eventide/props/mutant/score"
)

// classified is where survivors are kept that change no behaviour, with the reason.
var classified = filepath.Join("testdata", "mutants", "auto")

// runAutoMode draws mechanical mutants and lets every check look for each of them. Its exit
// code is 0 whatever the score is: the gate compares scores.
func (s settings) runAutoMode(stdout, stderr io.Writer) int {
	f, err := s.judgePicks(stderr)
	if f != nil {
		f.Table(stdout, operatorNames())
	}
	if err == nil && s.keep {
		err = s.keepRun(f)
	}
	if err != nil {
		fmt.Fprintln(stderr, "mutants:", err)
		return 2
	}
	return 0
}

// keptRuns is where runs are kept, beside the classes of their survivors.
var keptRuns = filepath.Join(classified, "score.json")

// keepRun adds a run to the kept runs.
func (s settings) keepRun(f *score.File) error {
	path := s.inRoot(keptRuns)
	k, err := score.ReadKept(path)
	if err != nil {
		return err
	}
	classes, err := readClasses(s.root, s.inRoot(classified))
	if err != nil {
		return err
	}
	k.Keep(f)
	classes.fill(k)
	return k.Write(path)
}

// checkKept compares the newest of the kept runs with those before it. Its exit code is 1
// if a score fell, and 3 if there are no two runs to compare.
func (s settings) checkKept(stdout, stderr io.Writer) int {
	k, err := score.ReadKept(s.inRoot(keptRuns))
	if err != nil {
		fmt.Fprintln(stderr, "mutants:", err)
		return 2
	}
	falls := k.Falls()
	if falls == nil {
		fmt.Fprintf(stdout, "not run: %s has %d runs, want two to compare\n", keptRuns, len(k.Runs))
		return 3
	}
	code := 0
	for _, f := range falls {
		verdict := "has not fallen"
		if f.Fell() {
			verdict, code = "HAS FALLEN", 1
		}
		fmt.Fprintf(stdout, "%s: killed %v of the newest run, %v of those before: %s (p = %.3f)\n", f.What, f.Now, f.Before, verdict, f.P)
	}
	return code
}

func operatorNames() (names []string) {
	for _, o := range auto.Operators() {
		names = append(names, o[0])
	}
	return names
}

// judgePicks returns what is known of the picks, as far as it got.
func (s settings) judgePicks(progress io.Writer) (*score.File, error) {
	picks, draw, sites, err := s.drawPicks()
	if err != nil {
		return nil, err
	}
	f, err := s.openScore(sites, progress)
	if err != nil {
		return nil, err
	}
	f.Drew(draw)
	classes, err := readClasses(s.root, s.inRoot(classified))
	if err != nil {
		return f, err
	}
	var todo []auto.Pick
	nth := map[string]int{}
	for i, p := range picks {
		nth[p.Name()] = i
		if old, known := f.Known(p.Name()); !known || s.force {
			todo = append(todo, p)
		} else if err := classes.reconsider(f, p, old); err != nil {
			return f, err
		}
	}
	fmt.Fprintf(progress, "%d picks of %d sites, seed %d, %d draws did not compile; %d of them known from %s\n",
		len(picks), sites, s.seed, draw.Stillborn, len(picks)-len(todo), s.scoreFile())
	judge, err := newAutoJudge(s)
	if err != nil {
		return f, err
	}
	if len(todo) > 0 { // a lane that finds something without a mutant shows nothing
		if err := judge.control(); err != nil {
			return f, err
		}
	}
	j := &autoJob{settings: s, judge: judge.judge, classes: classes, nth: nth, file: f, progress: progress}
	return f, j.run(todo)
}

func (s settings) scoreFile() string { return filepath.Join(s.out, "auto.json") }

func (s settings) drawPicks() (picks []auto.Pick, d score.Draw, sites int, err error) {
	var patterns []string
	for _, pkg := range measured {
		if s.pkg == "" || s.pkg == pkg {
			patterns = append(patterns, "./"+pkg)
		}
	}
	source, err := auto.Load(s.root, patterns...)
	if err != nil {
		return nil, d, 0, err
	}
	picks, stillborn, err := source.Pick(s.auto, s.seed)
	return picks, score.Draw{Seed: s.seed, Picks: len(picks), Stillborn: stillborn}, len(source.Sites), err
}

// openScore opens the file of these sources and these checks.
func (s settings) openScore(sites int, progress io.Writer) (*score.File, error) {
	var sources, checks []string
	for _, pkg := range measured {
		sources, checks = append(sources, pkg+"/*.go"), append(checks, pkg+"/*_test.go")
	}
	changes, err := hashOf(s.root, sources...)
	if err != nil {
		return nil, err
	}
	looks, err := hashOfAll(s.root, append(checks, "props/*.go", "props/*/*.go", "props/lanes/*/*.go", "props/lanes/sockets/*/*.go", "props/lanes/sockets/calls/*/*.go", "props/lanes/exits/calls/*/*.go", "model/*.go")...)
	if err != nil {
		return nil, err
	}
	f, stale, err := score.Open(s.scoreFile(), changes, looks, sites)
	if stale {
		fmt.Fprintf(progress, "%s is of other sources or checks: every pick is judged again\n", s.scoreFile())
	}
	if err == nil {
		f.Budget, f.Revision = autoBudget(), runner.Commit(s.root)
	}
	return f, err
}

// wholeEvery is of how many picks one is judged by every generic check, so that each check has
// a share of its own. The first kill ends the search for each other pick: to run every check for
// every pick takes far longer, and the score is the same.
const wholeEvery = 6

// autoJob judges picks side by side and keeps each verdict as it comes.
type autoJob struct {
	settings
	judge    func(p auto.Pick, whole bool) (score.Pick, error)
	classes  classes
	nth      map[string]int // of its seed, by name
	progress io.Writer

	mu   sync.Mutex // also of what is written to progress
	file *score.File
	done int
}

// run judges the picks. One that cannot be judged does not keep the others from their turn.
func (j *autoJob) run(todo []auto.Pick) error {
	var mutants []mutant.Mutant
	byName := map[string]auto.Pick{}
	for _, p := range todo {
		mutants = append(mutants, p.Mutant())
		byName[p.Name()] = p
	}
	return j.room.each(mutants, func(m mutant.Mutant) error { return j.one(byName[m.Name], len(todo)) })
}

func (j *autoJob) one(p auto.Pick, of int) error {
	nth := j.nth[p.Name()]
	v, err := j.judge(p, j.whole(nth))
	if err != nil {
		err = fmt.Errorf("%s: %w", p.Name(), err)
		j.mu.Lock()
		defer j.mu.Unlock()
		fmt.Fprintf(j.progress, "not judged: %v\n", err) // now, since a run takes hours
		return err
	}
	v.Nth = nth
	v, err = j.classes.apply(p, v)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.done++
	fmt.Fprintf(j.progress, "[%d/%d] %s: %s %s, %.1f s\n", j.done, of, v.Place, v.Verdict, v.By(), v.Seconds)
	return j.file.Put(v)
}

// whole reports whether every generic check runs for pick nth of a seed, even after one of them
// has killed the pick.
func (s settings) whole(nth int) bool {
	if s.by != "" {
		return !strings.Contains(s.by, ",") // the only kind of check runs for all picks
	}
	return nth%wholeEvery == 0
}

// checkAuto refuses what -auto cannot mean.
func (s *settings) checkAuto() error {
	switch {
	case s.auto < 0:
		return fmt.Errorf("-auto is %d, want at least 1", s.auto)
	case s.auto > 0 && (s.only != "" || s.short || s.stress || s.alone):
		return errors.New("got -auto and one of -run, -short, -stress and -alone, want -auto alone")
	case s.auto == 0 && s.pkg+s.by != "":
		return errors.New("got -package or -by without -auto")
	case s.pkg != "" && !slices.Contains(measured, s.pkg):
		return fmt.Errorf("-package is %q, want one of %s", s.pkg, strings.Join(measured, ", "))
	case s.by != "" && slices.ContainsFunc(strings.Split(s.by, ","), func(by string) bool { return !slices.Contains(score.Order(), score.By(by)) }):
		return fmt.Errorf("-by is %q, want one of %v", s.by, score.Order())
	case s.keep && s.pkg+s.by != "":
		return errors.New("got -keep and one of -package and -by: a kept run is of all packages and all checks")
	case s.keep && s.auto == 0:
		return errors.New("got -keep without -auto")
	case s.autoCheck && (s.auto > 0 || s.only != "" || s.short || s.stress || s.alone):
		return errors.New("got -auto-check and another mode, want it alone")
	}
	return nil
}

// newScore is a pick about which nothing is known.
func newScore(p auto.Pick, seed uint64) score.Pick {
	e := p.Mutant().Edits[0]
	return score.Pick{
		Edit: score.Edit{File: e.File, Old: e.Old, New: e.New},
		Name: p.Name(), Seed: seed, Package: p.Package(), Operator: p.Operator,
		Function: cmp.Or(p.Function, "(package)"), Place: p.String(), Verdict: score.Survived,
	}
}
