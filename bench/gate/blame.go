package gate

import (
	"context"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"eventide/bench/gate/measure"
	"eventide/bench/gate/stats"
)

// blame searches for the commit and the functions of each regression.
func (g *gate) blame(ctx context.Context, targets []*target) error {
	for i := range g.report.Findings {
		f := &g.report.Findings[i]
		for _, t := range targets {
			for _, b := range t.benchmarks {
				if f.Verdict != Regression || f.Package != t.pkg.ImportPath || f.Benchmark != b.name {
					continue
				}
				g.say("looking for the cause: %s, %s", b.name, f.Figure)
				commit, err := g.bisect(ctx, t, b, *f)
				if err != nil {
					return err
				}
				f.Culprit = "since " + commit
				if functions := g.functions(ctx, t, b, f.Figure); functions != "" {
					f.Culprit += "; " + functions
				}
			}
		}
	}
	return nil
}

// bisect returns the first commit after base at which the figure is nearer to head's than to
// base's.
func (g *gate) bisect(ctx context.Context, t *target, b benchmark, f Finding) (commit string, err error) {
	commits, err := g.Commits(ctx)
	if err != nil {
		return "", err
	}
	good, bad := -1, len(commits) // the last that is good, the first that is bad; len: the working tree
	for bad-good > 1 {
		middle := (good + bad) / 2
		if err := g.Move(ctx, commits[middle]); err != nil {
			return "", err
		}
		isBad, err := g.atCommit(ctx, t, b, f)
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if err != nil {
			return fmt.Sprintf("a commit after %s (%s does not run: %v)", g.report.Base, commits[middle], err), nil
		}
		if isBad {
			bad = middle
		} else {
			good = middle
		}
	}
	if bad == len(commits) {
		return "the working tree", nil
	}
	return commits[bad], nil
}

// atCommit reports whether the commit in the worktree has the regression.
func (g *gate) atCommit(ctx context.Context, t *target, b benchmark, f Finding) (bool, error) {
	at, err := g.Build(ctx, g.Old, t.pkg, 0)
	if err != nil {
		return false, err
	}
	if _, counted := tolerances[f.Figure]; counted {
		found, err := g.counter.compare(ctx, t.pkg.ImportPath, b.name, b.ops, t.base, at)
		for _, other := range found {
			if other.Figure == f.Figure {
				return other.Head > (f.Base+f.Head)/2, err
			}
		}
		return false, err
	}
	s := &series{target: t, benchmark: b, rounds: map[string]*rounds{},
		layouts: layouts{[]measure.Binary{t.base}, []measure.Binary{at}}}
	for i := range max(10, g.Rounds/2) {
		if err := s.round(ctx, i); err != nil {
			return false, err
		}
	}
	r := s.rounds[f.Figure]
	if r == nil {
		return false, fmt.Errorf("no %s", f.Figure)
	}
	against := r.against()
	return stats.Shift(against.Differences) > math.Log1p(f.Change)/2, nil
}

// functions returns which functions have more samples in head, by the difference of two
// profiles; empty if no profile shows the figure.
func (g *gate) functions(ctx context.Context, t *target, b benchmark, figure string) string {
	flags, index := []string{"-test.cpuprofile"}, "samples"
	ops := b.ops * 500 // half a second
	switch figure {
	case measure.Allocs:
		flags, index, ops = []string{"-test.memprofilerate=1", "-test.memprofile"}, "alloc_objects", b.ops
	case measure.Bytes:
		flags, index, ops = []string{"-test.memprofilerate=1", "-test.memprofile"}, "alloc_space", b.ops
	case syscalls:
		return ""
	}
	var profiles []string
	for i, side := range []measure.Binary{t.base, t.head} {
		profile := filepath.Join(g.Checkout.Dir, "profile"+strconv.Itoa(i))
		last := len(flags) - 1
		if err := side.Profile(ctx, b.name, ops, append(flags[:last:last], flags[last]+"="+profile)...); err != nil {
			return "no profile: " + err.Error()
		}
		profiles = append(profiles, profile)
	}
	cmd := exec.CommandContext(ctx, "go", "tool", "pprof", "-top", "-nodecount=30", "-sample_index="+index, "-diff_base="+profiles[0], t.head.Path, profiles[1])
	cmd.Dir = g.New
	out, err := cmd.Output()
	if err != nil {
		return "no difference of profiles: " + err.Error()
	}
	return topFunctions(string(out))
}

// profileRow is a row of pprof -top whose flat value is greater than 0.
var profileRow = regexp.MustCompile(`(?m)^\s*([1-9][\w.]*)\s+\S+\s+\S+\s+\S+\s+\S+\s+(.+)$`)

// topFunctions returns the first three rows.
func topFunctions(top string) string {
	var all []string
	for _, m := range profileRow.FindAllStringSubmatch(top, 3) {
		all = append(all, fmt.Sprintf("%s (%s more)", strings.TrimSpace(m[2]), m[1]))
	}
	return strings.Join(all, ", ")
}
