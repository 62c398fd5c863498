package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"eventide/props/lane"
	"eventide/props/lanes/interleave"
)

// exhaustive is the name of the strategy that finds kills in the exhaustive part of a
// run. It is not in the mix: it has no seed, and runs all schedules of the small
// scenarios, first without preemptions, then with one, then two.
const exhaustive = "exhaustive"

// trial is the result of one strategy against one bug with one seed.
type trial struct {
	schedule int // the one that killed it, from 1; 0: none
	tried    int // schedules made
	by       []string
	own      bool // the same schedule fails without the bug, so it is no kill
}

// planted is the binary of the lane with a bug in it.
type planted struct {
	bin, root, dir string
	unchanged      string        // the binary without the bug
	guarantee      string        // that generated programs lean towards
	budget         time.Duration // of one trial
}

// hunt runs one strategy alone until it has found the bug, has made more schedules than
// the limit, or the time is up.
func (p planted) hunt(ctx context.Context, strategy string, seed, limit int) (trial, error) {
	dir := filepath.Join(p.dir, "cases")
	if err := os.RemoveAll(dir); err != nil {
		return trial{}, err
	}
	t, err := p.trial(strategy, seed, limit, dir, p.budget, "-quick")
	if err != nil || t.schedule == 0 {
		return t, err
	}
	t.own, err = p.fails(ctx, dir)
	return t, err
}

// fails reports whether the case in dir is reproduced without the bug: then core or the
// judge is wrong, and the case says nothing about the bug.
func (p planted) fails(ctx context.Context, dir string) (bool, error) {
	file, err := onlyCase(dir)
	if err != nil {
		return false, err
	}
	p.bin = p.unchanged
	var exit *exec.ExitError
	switch report, err := p.repeat(ctx, file); {
	case err == nil:
		return true, nil
	case errors.As(err, &exit) && (exit.ExitCode() == 4 || exit.ExitCode() == 5): // not reproduced, or no longer applies
		return false, nil
	default:
		return false, fmt.Errorf("the case without the bug: %w\n%s", err, report)
	}
}

// onlyCase returns the path of the one case that a hunt leaves.
func onlyCase(dir string) (string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.schedule"))
	if err != nil || len(files) != 1 {
		return "", fmt.Errorf("%s has %d cases, want 1 (%v)", dir, len(files), err)
	}
	return files[0], nil
}

// trial runs one strategy alone until it has found the bug, has made more schedules than
// the limit, or its budget is spent. A failure becomes a case in dir. The lane is ended if
// it lives much longer than its budget.
func (p planted) trial(strategy string, seed, limit int, dir string, budget time.Duration, args ...string) (trial, error) {
	r := lane.Run{Bin: p.bin, Seed: uint64(seed), Budget: 4 * budget, Cases: dir, Args: args, Env: controlEnv, Until: func(r lane.Result) bool {
		return len(r.Failed) == 0 && (made(r, strategy) >= limit || strategy == exhaustive && r.Runs > 0)
	}}
	if strategy != exhaustive { // which gets a quarter of the budget of a lane
		r.Budget, r.Args = budget, append(args, "-strategy", strategy, "-lean", p.guarantee)
	}
	last, err := r.Do(p.root)
	if err == nil && last.Ending != lane.Ended {
		err = fmt.Errorf("the lane hung or crashed:\n%s", last.Output)
	}
	if err != nil {
		return trial{}, fmt.Errorf("%s: %w", strategy, err)
	}
	return trialOf(last, strategy), nil
}

// controlEnv is added to the environment of a lane: the race that its self-check plants is
// no failure.
var controlEnv = []string{"GORACE=exitcode=0"}

// repeat runs a case.
func (p planted) repeat(ctx context.Context, file string) (report string, err error) {
	cmd := exec.CommandContext(ctx, p.bin, "-case", file)
	cmd.Dir, cmd.Env = p.root, append(os.Environ(), controlEnv...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// made is the number of schedules of the strategy. For the exhaustive one it leaves out
// the schedules of the scenario in which it has found something.
func made(r lane.Result, strategy string) int {
	switch {
	case strategy != exhaustive:
		return r.Runs
	case r.Exhausted != nil:
		return r.Exhausted.Schedules
	}
	return 0
}

func trialOf(r lane.Result, strategy string) trial {
	t := trial{tried: made(r, strategy)}
	if r.FoundBy != strategy { // what is explored after the exhaustive part does not count
		return t
	}
	t.schedule = r.Schedule
	if strategy == exhaustive {
		t.schedule += t.tried // the line has those of the last scenario
	}
	t.tried = t.schedule
	t.by = slices.Sorted(maps.Keys(r.Failed))
	return t
}

// small repeats the kill of a trial and minimises its schedule. It returns an error if
// the seed does not lead to the same kill.
func (p planted) small(ctx context.Context, strategy string, seed, limit int, want trial) (*minimised, error) {
	dir := filepath.Join(p.dir, "small")
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	got, err := p.trial(strategy, seed, limit, dir, 4*p.budget) // with time to make it small
	if err != nil {
		return nil, err
	}
	if got.schedule != want.schedule {
		return nil, fmt.Errorf("%s with seed %d found it in schedule %d, and then in schedule %d (0: not at all)", strategy, seed, want.schedule, got.schedule)
	}
	file, err := onlyCase(dir)
	if err != nil {
		return nil, err
	}
	c, err := interleave.LoadCase(file)
	if err != nil {
		return nil, err
	}
	report, err := p.repeat(ctx, file)
	if err != nil {
		return nil, fmt.Errorf("the minimised case: %w\n%s", err, report)
	}
	census, err := censusOf(report)
	if err != nil {
		return nil, err
	}
	return &minimised{
		Strategy: strategy, Seed: seed, Guarantee: c.Guarantee, Scenario: c.Scenario.Name, Switches: len(c.Switches),
		Goroutines: census.Goroutines, Callbacks: census.Callbacks, WholeRun: census.All, Driver: census.Driver,
	}, nil
}

// censusOf finds the count of the goroutines in the report of a case.
func censusOf(report string) (interleave.Census, error) {
	for line := range strings.Lines(report) {
		if c, err := interleave.ParseCensus(strings.TrimSpace(line)); err == nil {
			return c, nil
		}
	}
	return interleave.Census{}, fmt.Errorf("the replay of the minimised case does not count its goroutines:\n%s", firstLine(report))
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
