package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"eventide/props/mutant"
	"eventide/props/mutant/auto"
	"eventide/props/mutant/score"
)

// wholeEvery is of how many picks one is judged by every generic check, so that each check has
// a share of its own. The first kill ends the search for each other pick: to run every check for
// every pick takes far longer, and the score is the same.
const wholeEvery = 6

// autoJob judges picks side by side and keeps each verdict as it comes.
type autoJob struct {
	settings
	classes  classes
	nth      map[string]int // of its seed, by name
	progress io.Writer
	of       int // how many picks there are to judge

	mu   sync.Mutex // also of what is written to progress
	file *score.File
	done int
}

// judging is what becomes of a pick.
type judging func(p auto.Pick, whole bool) (score.Pick, error)

// runAll judges the picks in the order in which they were drawn, so many together as may share
// programs.
func (j *autoJob) runAll(todo []auto.Pick) error {
	var all error
	for some := range slices.Chunk(todo, j.together) {
		if err := j.runSome(some); err != nil {
			all = errors.Join(all, err)
		}
	}
	return all
}

// runSome judges picks that share programs, and those among them that cannot.
func (j *autoJob) runSome(picks []auto.Pick) error {
	rest := picks
	if j.together > 1 {
		with, err := auto.Together(picks)
		if err != nil {
			return err
		}
		shared := func(p auto.Pick) bool { return with.Number(p) > 0 }
		rest = slices.DeleteFunc(slices.Clone(picks), shared)
		err = j.runWith(with, slices.DeleteFunc(slices.Clone(picks), func(p auto.Pick) bool { return !shared(p) }))
		if err != nil {
			return err
		}
	}
	return j.runWith(auto.Combined{}, rest)
}

// runWith judges picks that share programs, or, with none to share, picks with programs of their
// own. First the lanes look without a mutant: one that finds something then shows nothing.
func (j *autoJob) runWith(with auto.Combined, picks []auto.Pick) error {
	if len(picks) == 0 {
		return nil
	}
	dir := ""
	if len(with.Changed) > 0 {
		var err error
		if dir, err = emptyDirectory(filepath.Join(j.out, "auto", "together")); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		j.say("%d picks share programs\n", len(picks))
	}
	judge, err := newAutoJudge(j.settings, with, dir)
	if err == nil {
		err = judge.control()
	}
	if err != nil {
		return err
	}
	return j.run(judge.judge, picks)
}

func (j *autoJob) say(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	fmt.Fprintf(j.progress, format, args...)
}

// run judges the picks. One that cannot be judged does not keep the others from their turn.
func (j *autoJob) run(judge judging, todo []auto.Pick) error {
	var mutants []mutant.Mutant
	byName := map[string]auto.Pick{}
	for _, p := range todo {
		mutants = append(mutants, p.Mutant())
		byName[p.Name()] = p
	}
	return j.room.each(mutants, func(m mutant.Mutant) error { return j.one(judge, byName[m.Name]) })
}

func (j *autoJob) one(judge judging, p auto.Pick) error {
	nth := j.nth[p.Name()]
	v, err := judge(p, j.whole(nth))
	if err != nil {
		err = fmt.Errorf("%s: %w", p.Name(), err)
		j.say("not judged: %v\n", err) // now, since a run takes hours
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
	fmt.Fprintf(j.progress, "[%d/%d] %s: %s %s, %.1f s\n", j.done, j.of, v.Place, v.Verdict, v.By(), v.Seconds)
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
