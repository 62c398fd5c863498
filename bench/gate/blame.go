package gate

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"eventide/bench/gate/measure"
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
				since, err := g.bisect(ctx, t, b, *f)
				if err != nil {
					return err
				}
				f.Culprit = since
				if functions := g.functions(ctx, t, b, f.Figure); functions != "" {
					f.Culprit += "; " + functions
				}
			}
		}
	}
	return nil
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
