package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

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
	t, err := p.trial(ctx, strategy, limit, p.args(strategy, seed, "-quick", "-cases", dir))
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
	cmd, stderr := p.command(ctx, []string{"-case", file})
	var exit *exec.ExitError
	switch err := cmd.Run(); {
	case err == nil:
		return true, nil
	case errors.As(err, &exit) && (exit.ExitCode() == 4 || exit.ExitCode() == 5): // not reproduced, or no longer applies
		return false, nil
	default:
		return false, fmt.Errorf("the case without the bug: %w\n%s", err, stderr.Bytes())
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

func (p planted) args(strategy string, seed int, more ...string) []string {
	args := append([]string{"-seed", strconv.Itoa(seed)}, more...)
	if strategy == exhaustive {
		return append(args, "-budget", (4 * p.budget).String()) // of which it gets a quarter
	}
	return append(args, "-budget", p.budget.String(), "-strategy", strategy, "-lean", p.guarantee)
}

// slack is how much longer than its budget a lane may live: it checks itself, and makes
// failures small.
const slack = 30 * time.Second

func (p planted) trial(ctx context.Context, strategy string, limit int, args []string) (trial, error) {
	ctx, cancel := context.WithTimeout(ctx, 4*p.budget+slack)
	defer cancel()
	cmd, stderr := p.command(ctx, args)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return trial{}, err
	}
	if err := cmd.Start(); err != nil {
		return trial{}, err
	}
	last, lines, enough, err := follow(out, strategy, limit)
	if enough {
		_ = cmd.Process.Kill() // it may have ended by itself in between
	}
	ended := cmd.Wait()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return trial{}, fmt.Errorf("%s: the lane did not end: %w", strategy, ctx.Err())
	case err != nil:
		return trial{}, err
	case !enough && ended != nil && (!errors.As(ended, &exit) || exit.ExitCode() != 1):
		return trial{}, fmt.Errorf("%s: %w\n%s", strategy, ended, stderr.Bytes())
	case lines == 0:
		return trial{}, fmt.Errorf("%s: the lane printed no result\n%s", strategy, stderr.Bytes())
	}
	return last.trial(strategy), nil
}

// command is the lane, with none of the settings that come from the environment.
func (p planted) command(ctx context.Context, args []string) (*exec.Cmd, *bytes.Buffer) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, p.bin, args...)
	cmd.Dir, cmd.Stderr = p.root, &stderr
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return strings.HasPrefix(name, "EVENTIDE_") || strings.HasPrefix(name, "SHARD") || strings.HasPrefix(name, "TEST_") || name == "JOB_COMPLETION_INDEX"
	})
	cmd.Env = append(cmd.Env, "GORACE=exitcode=0") // the planted race is no failure
	return cmd, &stderr
}

// follow reads the lines of the lane until it ends or has made enough schedules.
func follow(r io.Reader, strategy string, limit int) (last line, lines int, enough bool, err error) {
	in := bufio.NewReader(r)
	for {
		text, err := in.ReadString('\n')
		if result, ok := strings.CutPrefix(text, "@@"); ok {
			last = line{}
			if err := json.Unmarshal([]byte(result), &last); err != nil {
				return last, lines, false, fmt.Errorf("a result of the lane: %w", err)
			}
			lines++
			if len(last.Failed) == 0 && (last.made(strategy) >= limit || strategy == exhaustive && last.Runs > 0) {
				return last, lines, true, nil
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return last, lines, false, nil
		case err != nil:
			return last, lines, false, err
		}
	}
}

// made is the number of schedules of the strategy. For the exhaustive one it leaves out
// the schedules of the scenario in which it has found something.
func (l line) made(strategy string) int {
	if strategy == exhaustive {
		return l.Exhausted.Schedules
	}
	return l.Runs
}

func (l line) trial(strategy string) trial {
	t := trial{tried: l.made(strategy)}
	if l.FoundBy != strategy { // what is explored after the exhaustive part does not count
		return t
	}
	t.schedule = l.Schedule
	if strategy == exhaustive {
		t.schedule += l.Exhausted.Schedules // the line has those of the last scenario
	}
	t.tried = t.schedule
	t.by = slices.Sorted(maps.Keys(l.Failed))
	return t
}

// small repeats the kill of a trial and minimises its schedule. It returns an error if
// the seed does not lead to the same kill.
func (p planted) small(ctx context.Context, strategy string, seed, limit int, want trial) (*minimised, error) {
	dir := filepath.Join(p.dir, "small")
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	got, err := p.trial(ctx, strategy, limit, p.args(strategy, seed, "-cases", dir))
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
	cmd, stderr := p.command(ctx, []string{"-case", file})
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("the minimised case: %w\n%s%s", err, firstLine(string(out)), stderr.Bytes())
	}
	census, err := censusOf(string(out))
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
