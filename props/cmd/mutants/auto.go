package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"eventide/props/internal/runner"
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
		old, known := f.Known(p.Name())
		if !known || s.force {
			todo = append(todo, p)
			continue
		}
		if old.Seed != s.seed { // another seed has drawn it too: each seed is a sample of its own
			old.Seed, old.Nth = s.seed, i
			if err := f.Put(old); err != nil {
				return f, err
			}
		}
		if err := classes.reconsider(f, p, old); err != nil {
			return f, err
		}
	}
	fmt.Fprintf(progress, "%d picks of %d sites, seed %d, %d draws did not compile; %d of them known from %s\n",
		len(picks), sites, s.seed, draw.Stillborn, len(picks)-len(todo), s.scoreFile())
	j := &autoJob{settings: s, classes: classes, nth: nth, file: f, progress: progress, of: len(todo)}
	return f, j.runAll(todo)
}

func (s settings) scoreFile() string { return filepath.Join(s.out, "auto.json") }

func (s settings) drawPicks() (picks []auto.Pick, d score.Draw, sites int, err error) {
	source, err := loadMeasured(s.root, s.pkg)
	if err != nil {
		return nil, d, 0, err
	}
	picks, stillborn, err := source.Pick(s.auto, s.seed)
	return picks, score.Draw{Seed: s.seed, Picks: len(picks), Stillborn: stillborn}, len(source.Sites), err
}

// loadMeasured finds the sites of the measured packages, or of one of them.
func loadMeasured(root, only string) (*auto.Source, error) {
	var patterns []string
	for _, pkg := range measured {
		if only == "" || only == pkg {
			patterns = append(patterns, "./"+pkg)
		}
	}
	return auto.Load(root, patterns...)
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
	if err != nil {
		return nil, err
	}
	kept, err := score.ReadKept(s.inRoot(keptRuns))
	if err != nil {
		return nil, err
	}
	kept.Continue(f)
	f.Budget, f.Revision = autoBudget(), runner.Commit(s.root, keptRuns) // a kept run of the same sources changes no source
	return f, nil
}

// checkAuto refuses what -auto cannot mean.
func (s *settings) checkAuto() error {
	switch {
	case s.auto < 0:
		return fmt.Errorf("-auto is %d, want at least 1", s.auto)
	case s.auto > 0 && s.together < 1:
		return fmt.Errorf("-together is %d, want at least 1", s.together)
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
