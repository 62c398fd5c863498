package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"eventide/bench/gate/measure"
	"eventide/bench/gate/waiver"
)

// A target is a package with benchmarks that both sides have.
type target struct {
	pkg        measure.Package
	base, head measure.Binary // the linker's own layout
	benchmarks []benchmark
	linking    time.Duration // of all layouts of a stage
}

type benchmark struct {
	name   string
	ops    int            // that take about a slice
	better map[string]int // of its units, see measure.Line
	took   time.Duration  // of a process that runs it, with what it prepares, see weigh; 0: it failed
}

// slice is the intended duration of one run of a benchmark.
const slice = "1ms"

// targets builds the packages and lists their benchmarks. A package or benchmark that only one
// side has, or that has not changed, becomes a finding.
func (g *gate) targets(ctx context.Context) ([]*target, error) {
	base, err := g.Packages(ctx, g.Old, g.Patterns)
	if err != nil {
		return nil, err
	}
	head, err := g.Packages(ctx, g.New, g.Patterns)
	if err != nil {
		return nil, err
	}
	if len(head) == 0 {
		return nil, fmt.Errorf("no package that matches %q has a benchmark", g.Patterns)
	}
	for _, p := range base {
		if !slices.Contains(head, p) {
			g.add(unmeasured(p.ImportPath, "all", "all", NotCompared, lacking))
		}
	}
	var all []*target
	for i, p := range head {
		if !slices.Contains(base, p) {
			g.add(unmeasured(p.ImportPath, "all", "all", NotCompared, "base does not have this package's benchmarks"))
			continue
		}
		g.say("building %s, package %d of %d", p.ImportPath, i+1, len(head))
		t, err := g.target(ctx, p)
		if err != nil {
			return nil, err
		}
		if t != nil {
			all = append(all, t)
		}
	}
	if g.listed > 0 && g.matched == 0 {
		return nil, fmt.Errorf("-run is %q, which matches none of the %d benchmarks of %q", g.Run, g.listed, g.Patterns)
	}
	return all, nil
}

func (g *gate) target(ctx context.Context, p measure.Package) (*target, error) {
	t := &target{pkg: p}
	var err error
	if t.head, err = g.Build(ctx, g.New, p, 0); err != nil {
		return nil, err
	}
	if t.base, err = g.Build(ctx, g.Old, p, 0); err != nil {
		g.add(unmeasured(p.ImportPath, "all", "all", NotCompared, "base does not build: "+err.Error()))
		return nil, ctx.Err()
	}
	if same, err := measure.Same(t.base, t.head); err != nil || same && !g.Always {
		f := unmeasured(p.ImportPath, "all", "all", Identical, "base and head are the same binary")
		f.Visible = 0
		g.add(f)
		return nil, err
	}
	return t, g.list(ctx, t)
}

// lacking is the note of benchmarks that the base has.
const lacking = "head does not have it, or skips it"

// list fills in the benchmarks of a target.
func (g *gate) list(ctx context.Context, t *target) error {
	head, err := t.head.List(ctx, ".", slice)
	if err != nil {
		g.add(unmeasured(t.pkg.ImportPath, "all", "all", Failed, "head: "+err.Error()))
		return ctx.Err()
	}
	base, err := t.base.List(ctx, ".", slice)
	if err != nil {
		g.add(unmeasured(t.pkg.ImportPath, "all", "all", NotCompared, "base: "+err.Error()))
		return ctx.Err()
	}
	has := func(lines []measure.Line, name string) bool {
		return slices.ContainsFunc(lines, func(l measure.Line) bool { return l.Name == name })
	}
	for _, l := range base {
		if has(head, l.Name) {
			continue
		}
		g.listed++
		if g.chosen(l.Name) {
			g.matched++
			g.add(unmeasured(t.pkg.ImportPath, l.Name, "all", NotCompared, lacking))
		}
	}
	g.listed += len(head)
	for _, l := range head {
		switch {
		case !g.chosen(l.Name):
		case !has(base, l.Name):
			g.matched++
			g.add(unmeasured(t.pkg.ImportPath, l.Name, "all", NotCompared, "base does not have it, or skips it"))
		default:
			g.matched++
			t.benchmarks = append(t.benchmarks, benchmark{name: l.Name, ops: l.Ops, better: l.Better})
		}
	}
	return nil
}

func (g *gate) chosen(name string) bool { return g.Run == nil || g.Run.MatchString(name) }

func count(targets []*target) int {
	n := 0
	for _, t := range targets {
		n += len(t.benchmarks)
	}
	return n
}

// checkWaivers returns an error if a waiver names no benchmark, or has expired.
func (g *gate) checkWaivers(ctx context.Context, waivers []waiver.Waiver, targets []*target) error {
	var names []string
	for _, t := range targets {
		for _, b := range t.benchmarks {
			names = append(names, b.name, t.pkg.ImportPath+"."+b.name)
		}
	}
	var errs []error
	for _, w := range waivers {
		known := names
		if len(targets) == 0 || g.Run != nil || !slices.Contains(names, w.Benchmark) && g.unchanged() {
			known = append(slices.Clone(names), w.Benchmark) // it may be in a package that was not listed
		}
		errs = append(errs, w.Check(known, g.now(), func(commit string) (bool, error) { return g.BaseContains(ctx, commit) }))
	}
	return errors.Join(errs...)
}

// unchanged reports whether there is a package whose benchmarks were not listed.
func (g *gate) unchanged() bool {
	return slices.ContainsFunc(g.report.Findings, func(f Finding) bool { return f.Benchmark == "all" })
}
