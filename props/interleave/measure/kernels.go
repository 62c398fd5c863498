package measure

import (
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"eventide/props/interleave/evidence"
	"eventide/props/interleave/kernels"
	"eventide/props/interleave/overlay"
	"eventide/props/interleave/protocol"
)

// KernelDir is the package of the kernels, seen from the root of the repository.
const KernelDir = "props/interleave/kernels/testdata/kernels"

// repaired is the end of the name of a kernel's twin.
const repaired = "Repaired"

// strategies are the strategies of the table, without the mixture of all of them, which
// comes first.
var strategies = []string{protocol.StrategyMix, protocol.StrategyWalk, protocol.StrategyPCT2, protocol.StrategyPCT3, protocol.StrategyPCT4,
	protocol.StrategyPCT5, protocol.StrategyPOS, protocol.StrategySURW, protocol.StrategyFeedback, protocol.StrategySticky}

// A laboratory holds the binaries of a measurement.
type laboratory struct {
	limits                evidence.Limits
	until                 time.Time
	controlled, raced     *binary // with the overlay
	plain, race, wrappers *binary
	overlay               string
}

// outOfTime is why a cell was not run.
const outOfTime = "the time of the measurement was over"

// Kernels gives each kernel to each strategy and to each other tool, side kernels at
// once, and ends after the budget: what is left then is not run. Binaries are kept in
// dir. Each row is passed to done when it is complete.
func Kernels(dir string, limits evidence.Limits, budget time.Duration, side int, done func(*evidence.Row)) (*evidence.Kernels, error) {
	k := &evidence.Kernels{Limits: limits}
	var err error
	if k.Sources, err = SourcesOf(KernelDir); err != nil {
		return nil, err
	}
	classes, err := classesOf(KernelDir)
	if err != nil {
		return nil, err
	}
	l := &laboratory{limits: limits, until: time.Now().Add(budget)}
	if err := l.compile(dir); err != nil {
		return nil, err
	}
	k.Overlay = l.overlay
	verdicts := kernels.Verdicts()
	names := slices.Sorted(maps.Keys(verdicts))
	k.Rows = make([]evidence.Row, len(names))
	errs := make([]error, len(names))
	slots := make(chan struct{}, max(side, 1))
	var wg sync.WaitGroup
	for i, name := range names {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			row := &k.Rows[i]
			*row = evidence.Row{Kernel: name, Class: classes[name], Verdicts: verdicts[name], Race: slices.Contains(verdicts[name], protocol.Race)}
			if errs[i] = l.measure(row); errs[i] == nil {
				done(row)
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return k, nil
}

func (l *laboratory) compile(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	file, hash, err := overlayOf()
	if err != nil {
		return err
	}
	l.overlay = hash
	flags := overlay.BuildFlags(file)
	extra, err := writeWrappers(dir, KernelDir, slices.Sorted(maps.Keys(kernels.Verdicts())))
	if err != nil {
		return err
	}
	for _, b := range []struct {
		into  **binary
		name  string
		flags []string
	}{
		{&l.controlled, "controlled", flags},
		{&l.raced, "raced", append(slices.Clone(flags), "-race")},
		{&l.plain, "plain", nil},
		{&l.race, "race", []string{"-race"}},
		{&l.wrappers, "wrappers", []string{"-overlay=" + extra}},
	} {
		if *b.into, err = compile(KernelDir, filepath.Join(dir, b.name+".test"), b.flags...); err != nil {
			return err
		}
	}
	return nil
}

func (l *laboratory) measure(row *evidence.Row) error {
	for _, s := range append(slices.Clone(strategies), evidence.Exhaustive) {
		c := evidence.Cell{Strategy: s}
		if time.Now().After(l.until) {
			c.NotRun = outOfTime
		} else if err := l.strategy(row, &c); err != nil {
			return err
		}
		row.Strategies = append(row.Strategies, c)
	}
	for _, name := range evidence.Tools {
		t := evidence.Tool{Tool: name}
		if time.Now().After(l.until) {
			t.NotRun = outOfTime
		} else if err := l.tool(row, &t); err != nil {
			return err
		}
		row.Tools = append(row.Tools, t)
	}
	return nil
}

func (l *laboratory) strategy(row *evidence.Row, c *evidence.Cell) error {
	b := l.controlled
	if row.Race {
		b = l.raced
	}
	s := search{binary: b, row: row, strategy: c.Strategy, limit: l.limits.Schedules}
	seeds := l.limits.Seeds
	if c.Strategy == evidence.Exhaustive {
		s.strategy, s.bound, s.limit, seeds = protocol.StrategyDFS, l.limits.Bound, l.limits.Exhaustive, 1
	}
	for seed := range seeds {
		s.seed = uint64(seed + 1)
		n, err := s.run()
		if err != nil {
			return fmt.Errorf("%s, %s, seed %d: %w", row.Kernel, c.Strategy, s.seed, err)
		}
		c.Schedules = append(c.Schedules, n)
		c.Milliseconds = append(c.Milliseconds, float64(s.cpu.Microseconds())/1000)
		c.Complete = s.complete
	}
	return nil
}

// A search looks for the bug of a kernel with one strategy and one seed.
type search struct {
	binary   *binary
	row      *evidence.Row
	strategy string
	seed     uint64
	bound    int
	limit    uint64
	cpu      time.Duration
	complete bool
}

// run returns the number of schedules until the bug is found, or 0. Leaks count only
// where the bug is one. A finding that is not the bug is passed over.
func (s *search) run() (uint64, error) {
	s.cpu, s.complete = 0, false
	ran, next, cold := uint64(0), uint64(0), false
	for next < s.limit {
		r := protocol.Request{Seed: s.seed, Strategy: s.strategy, First: next, Cold: cold, Bound: s.bound,
			IgnoreLeaks: !slices.Contains(s.row.Verdicts, protocol.Leak)}
		e, err := s.binary.run(s.row.Kernel, int(s.limit-next), r)
		if err != nil {
			return 0, err
		}
		s.cpu += e.cpu
		if e.finding == nil {
			s.complete = e.counts.Complete || e.counts.Bound > uint64(s.bound)
			return 0, nil
		}
		if !cold {
			ran++
		}
		if !e.finding.Warm {
			ran += e.finding.Number - next + 1
		}
		if slices.Contains(s.row.Verdicts, e.finding.Verdict) {
			return ran, nil
		}
		if s.strategy == protocol.StrategyDFS {
			return 0, nil // it cannot go on behind a finding
		}
		if e.finding.Warm {
			cold = true
		} else {
			next = e.finding.Number + 1
		}
	}
	return 0, nil
}

// SourcesOf returns the hash of the Go files in dir.
func SourcesOf(dir string) (string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		return "", fmt.Errorf("measure: %d Go files in %s, %v", len(files), dir, err)
	}
	h := sha256.New()
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n", filepath.Base(name), len(text))
		h.Write(text)
	}
	return fmt.Sprintf("sha256:%x", h.Sum(nil)[:12]), nil
}

// classesOf returns the class of each test in dir, which is the name of its file.
func classesOf(dir string) (map[string]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return nil, err
	}
	classes := map[string]string{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				classes[f.Name.Name] = strings.TrimSuffix(filepath.Base(name), "_test.go")
			}
		}
	}
	return classes, nil
}
