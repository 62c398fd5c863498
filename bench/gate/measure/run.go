package measure

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"

	"eventide/bench/gate/stats"
)

// ErrNoBenchmark: the binary does not have the benchmark.
var ErrNoBenchmark = errors.New("no such benchmark")

// The figures that every benchmark has.
const (
	Time   = "ns/op"
	Bytes  = "B/op"
	Allocs = "allocs/op"
)

// A Binary is a test binary and the directory in which it runs.
type Binary struct {
	Path, Dir string
	Env       []string // besides the process's own
}

// A Line has the figures that a benchmark printed in one run.
type Line struct {
	Name   string // without "Benchmark" and the number of processors
	Ops    int
	Values map[string]float64 // by unit
	Better map[string]int     // by unit: -1 less is better, 1 more is better, 0 unknown
}

// List runs every benchmark that matches pattern for about duration, such as 2ms, and returns
// the line of each. If a benchmark fails, List returns an error and no lines.
func (b Binary) List(ctx context.Context, pattern, duration string) ([]Line, error) {
	out, err := b.run(ctx, nil, "-test.bench="+pattern, "-test.benchtime="+duration)
	if err != nil {
		return nil, err
	}
	lines, err := parse(out)
	return slices.CompactFunc(lines, func(a, b Line) bool { return a.Name == b.Name }), err
}

// Run runs one benchmark times times in one process, each for ops operations. It returns the
// least time, because other load has disturbed it least, and the median of every other figure.
func (b Binary) Run(ctx context.Context, name string, ops, times int) (Line, error) {
	out, err := b.run(ctx, nil, "-test.bench="+Pattern(name), "-test.benchtime="+strconv.Itoa(ops)+"x", "-test.count="+strconv.Itoa(times))
	if err != nil {
		return Line{}, fmt.Errorf("%s: %w", name, err)
	}
	lines, err := parse(out)
	if err != nil {
		return Line{}, fmt.Errorf("%s: %w", name, err)
	}
	lines = slices.DeleteFunc(lines, func(l Line) bool { return l.Name != name })
	if len(lines) == 0 {
		return Line{}, fmt.Errorf("%s: %w", name, ErrNoBenchmark)
	}
	return join(lines), nil
}

func join(lines []Line) Line {
	joined := Line{Name: lines[0].Name, Ops: lines[0].Ops, Better: lines[0].Better, Values: map[string]float64{}}
	for unit := range lines[0].Values {
		var values []float64
		for _, l := range lines {
			if v, is := l.Values[unit]; is {
				values = append(values, v)
			}
		}
		joined.Values[unit] = stats.Median(values)
		if unit == Time {
			joined.Values[unit] = slices.Min(values)
		}
	}
	return joined
}

// Pattern returns the -test.bench pattern that selects exactly the benchmark name: it quotes and
// anchors each part between slashes.
func Pattern(name string) string {
	parts := strings.Split("Benchmark"+name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}

func (b Binary) command(ctx context.Context, env []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, b.Path, append([]string{"-test.run=^$", "-test.benchmem", "-test.timeout=10m"}, args...)...)
	cmd.Dir = b.Dir
	cmd.Env = slices.Concat(os.Environ(), b.Env, env)
	return cmd
}

func (b Binary) run(ctx context.Context, env []string, args ...string) ([]byte, error) {
	cmd := b.command(ctx, env, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%w: %s", err, Tail(append(stdout.Bytes(), stderr.Bytes()...)))
	}
	return stdout.Bytes(), nil
}

// processors matches the number of processors at the end of a printed name.
var processors = regexp.MustCompile(`-\d+$`)

func parse(stdout []byte) ([]Line, error) {
	var lines []Line
	reader := benchfmt.NewReader(bytes.NewReader(stdout), "stdout")
	for reader.Scan() {
		r, ok := reader.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		l := Line{Name: processors.ReplaceAllString(string(r.Name), ""), Ops: r.Iters, Values: map[string]float64{}, Better: map[string]int{}}
		for _, v := range r.Values {
			l.Better[v.Unit] = reader.Units().GetBetter(v.Unit)
			if v.OrigUnit != "" { // the reader turns nanoseconds into seconds
				l.Better[v.OrigUnit] = l.Better[v.Unit]
				v.Value, v.Unit = v.OrigValue, v.OrigUnit
			}
			l.Values[v.Unit] = v.Value
		}
		lines = append(lines, l)
	}
	return lines, reader.Err()
}

// Profile runs one benchmark for ops operations with flags such as -test.cpuprofile=name.
func (b Binary) Profile(ctx context.Context, name string, ops int, flags ...string) error {
	_, err := b.run(ctx, nil, append([]string{"-test.bench=" + Pattern(name), "-test.benchtime=" + strconv.Itoa(ops) + "x"}, flags...)...)
	return err
}
