package ablation

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"

	"eventide/bench/gate/measure"
	"eventide/bench/gate/stats"
)

// Options say what to measure.
type Options struct {
	Root     string         // of the module
	Work     string         // a directory for binaries
	Rounds   int            // at least MinRounds
	Sample   time.Duration  // length of one measurement
	Run      *regexp.Regexp // names of ablations or benchmarks; nil: all
	Progress io.Writer
}

// MinRounds is the least number of rounds from which an interval with a confidence of 95 % can be
// had.
const MinRounds = 6

// The bounds of the number of operations of a sample.
const (
	leastOps = 5
	mostOps  = 1 << 20
)

// samplesPerRound is how often a benchmark runs in one process. The least time counts.
const samplesPerRound = 3

// A Row says what a part costs in a benchmark.
type Row struct {
	Ablation  string  `json:"ablation"`
	Part      string  `json:"part"`
	Guarantee string  `json:"guarantee"` // that is lost without the part
	Benchmark string  `json:"benchmark"`
	With      float64 `json:"with_ns"`    // per operation, the median of all rounds
	Without   float64 `json:"without_ns"` // likewise
	Ratio     float64 `json:"ratio"`      // of the time without the part to that with it, paired by rounds
	Low       float64 `json:"low"`        // 95 % confidence interval of Ratio
	High      float64 `json:"high"`
	Rounds    int     `json:"rounds"`
}

// Measure builds every ablation and measures it. It takes about a minute for each benchmark of an
// ablation with the command's defaults. It is stopped by ctx.
func Measure(ctx context.Context, all []Ablation, o Options) ([]Row, error) {
	with, err := o.build(ctx, "with", "")
	if err != nil {
		return nil, err
	}
	var rows []Row
	for _, a := range all {
		names := a.wanted(o.Run)
		if len(names) == 0 {
			continue
		}
		overlay, err := a.Overlay(o.Root, filepath.Join(o.Work, a.Name))
		if err != nil {
			return nil, err
		}
		without, err := o.build(ctx, a.Name, overlay)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			fmt.Fprintf(o.Progress, "%s: %s\n", a.Name, name)
			row, err := o.compare(ctx, name, a.MostOps, with, without)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", a.Name, err)
			}
			row.Ablation, row.Part, row.Guarantee = a.Name, a.StandsFor, a.Guarantee
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// wanted returns the benchmarks of a that run matches, or all of them if it matches a itself.
func (a Ablation) wanted(run *regexp.Regexp) (names []string) {
	for _, name := range a.Benchmarks {
		if run == nil || run.MatchString(a.Name) || run.MatchString(name) {
			names = append(names, name)
		}
	}
	return names
}

// build compiles the benchmarks with the sources that overlay replaces.
func (o Options) build(ctx context.Context, name, overlay string) (measure.Binary, error) {
	b := measure.Binary{Path: filepath.Join(o.Work, name+".test"), Dir: filepath.Join(o.Root, "bench")}
	if err := os.MkdirAll(o.Work, 0o777); err != nil {
		return b, err
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-overlay="+overlay, "-o", b.Path, "./bench")
	cmd.Dir = o.Root
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return b, fmt.Errorf("build %s: %w\n%s", name, err, said.String())
	}
	return b, nil
}

// compare measures one benchmark in rounds. The side that begins changes from round to round.
func (o Options) compare(ctx context.Context, name string, most int, with, without measure.Binary) (Row, error) {
	ops, err := o.calibrate(ctx, name, with)
	if err != nil {
		return Row{}, err
	}
	if most > 0 {
		ops = min(ops, most)
	}
	sides := []measure.Binary{with, without}
	var times [2][]float64
	for round := range o.Rounds {
		for i := range sides {
			side := (round + i) % 2
			line, err := sides[side].Run(ctx, name, ops, samplesPerRound)
			if err != nil {
				return Row{}, err
			}
			times[side] = append(times[side], line.Values[measure.Time])
		}
	}
	pairs := stats.Pair(times[0], times[1])
	low, high := stats.ShiftInterval(pairs, 0.95)
	return Row{
		Benchmark: name, With: stats.Median(times[0]), Without: stats.Median(times[1]),
		Ratio: math.Exp(stats.Shift(pairs)), Low: math.Exp(low), High: math.Exp(high), Rounds: o.Rounds,
	}, nil
}

// calibrate returns how many operations take about as long as a sample.
func (o Options) calibrate(ctx context.Context, name string, b measure.Binary) (int, error) {
	line, err := b.Run(ctx, name, 10*leastOps, samplesPerRound)
	if err != nil {
		return 0, err
	}
	ops := float64(o.Sample) / max(line.Values[measure.Time], 1)
	return int(min(max(ops, leastOps), mostOps)), nil
}
