package gate

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"eventide/bench/gate/measure"
	"eventide/bench/gate/stats"
)

// The self-test measures a module of the gate's own. A variable in the environment of its
// process selects a planted regression.
var (
	//go:embed planted/work.go.txt
	plantedSource []byte
	//go:embed planted/work_test.go.txt
	plantedBenchmarks []byte
)

const plantEnv = "GATE_PLANT"

// writePlanted writes the module of the self-test.
func writePlanted(dir string) error {
	return errors.Join(
		os.MkdirAll(dir, 0o777),
		os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.org/work\n\ngo 1.24\n"), 0o666),
		os.WriteFile(filepath.Join(dir, "work.go"), plantedSource, 0o666),
		os.WriteFile(filepath.Join(dir, "work_test.go"), plantedBenchmarks, 0o666),
	)
}

// selfTest plants an allocation, a system call and a slow loop, and reports for each
// whether it was seen. It also learns which counts cannot be taken on this machine.
func (g *gate) selfTest(ctx context.Context) ([]Finding, error) {
	dir := filepath.Join(g.Checkout.Dir, "selftest")
	if err := writePlanted(dir); err != nil {
		return nil, err
	}
	equal, err := g.Build(ctx, dir, measure.Package{ImportPath: "selftest", Dir: "."}, 0)
	if err != nil {
		return nil, err
	}
	g.own = equal
	c := g.newCounter(ctx, equal)
	found, err := c.compare(ctx, "", "Op", 200, equal, equal)
	if err != nil {
		return nil, err
	}
	all := []Finding{selfFinding("equal sides", slices.ContainsFunc(found, Finding.bad), true)}
	for _, p := range []struct{ plant, figure string }{{"alloc", measure.Allocs}, {"syscall", syscalls}, {"spin", instructions}} {
		if why := c.missing[p.figure]; why != "" {
			all = append(all, unmeasured("", "self-test", p.figure, NotRun, why))
			continue
		}
		planted := equal
		planted.Env = []string{plantEnv + "=" + p.plant}
		found, err := c.compare(ctx, "", "Op", 200, equal, planted)
		if err != nil {
			return nil, err
		}
		seen := slices.ContainsFunc(found, func(f Finding) bool { return f.Figure == p.figure && f.Verdict == Regression })
		all = append(all, selfFinding("planted "+p.plant, seen, false))
	}
	if g.Times == TimesOff {
		return all, nil
	}
	slow := equal
	slow.Env = []string{plantEnv + "=spin"}
	for range 2 { // a second try, because a time may be missed by chance
		seen, err := seesSlowness(ctx, equal, slow)
		if err != nil {
			return nil, err
		}
		if seen {
			return append(all, selfFinding("planted time", true, false)), nil
		}
	}
	return append(all, selfFinding("planted time", false, false)), nil
}

// newCounter returns a counter, with the figures that cannot be counted on this machine.
func (g *gate) newCounter(ctx context.Context, trial measure.Binary) counter {
	c := counter{missing: map[string]string{}, figures: 16} // four comparisons of the self-test
	if err := measure.InstructionsMissing(); err != nil {
		c.missing[instructions] = err.Error()
	}
	if _, err := trial.CountSyscalls(ctx, "Op", 1); err != nil {
		c.missing[syscalls] = err.Error()
	}
	g.counter = c
	return c
}

// selfFinding passes if a planted regression was found, or if none was found between equal
// sides.
func selfFinding(what string, seen, equal bool) Finding {
	f := Finding{Benchmark: "self-test", Figure: what, P: 1, Verdict: Pass}
	if seen == equal {
		f.Verdict = Failed
		f.Note = fmt.Sprintf("a regression was seen: %v", seen)
	}
	return f
}

// seesSlowness measures a loop of twelve turns beside one of four.
func seesSlowness(ctx context.Context, equal, slow measure.Binary) (bool, error) {
	const pairs, ops = 10, 100_000
	var v [2][]float64
	for i := range pairs {
		for j := range 2 {
			side := (i + j) % 2
			line, err := []measure.Binary{equal, slow}[side].Run(ctx, "Op", ops, slicesPerLeg)
			if err != nil {
				return false, err
			}
			v[side] = append(v[side], line.Values[measure.Time])
		}
	}
	s := stats.NewSample(v[0], v[1], nil)
	return stats.Rule{Level: level, Tests: 1, Least: 0.02}.Beyond(s, stats.SignedRank(s.Differences)) > 0, nil
}
