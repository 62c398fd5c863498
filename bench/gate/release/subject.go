package release

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

	"golang.org/x/perf/benchfmt"

	"eventide/bench/gate/measure"
	"eventide/bench/gate/stats"
)

// A request says what is to be run.
type request struct {
	benchmark string
	benchtime string   // as in -test.benchtime: "1000x", "20ms"
	slices    int      // how often it is run by the process; 0: once
	exact     bool     // at GOMAXPROCS=1, without collections and preemption
	wrap      []string // command that runs the binary
}

// A result has the figures of one run.
type result struct {
	ops     int
	metrics map[string]float64 // by unit, per operation
	stderr  []byte             // also what a wrapper wrote
}

// A subject is one side. It is an interface so that the rules can be tested on
// sides whose figures are known.
type subject interface {
	run(context.Context, request) (result, error)
}

// A sideError says on which side a run did not succeed: 0 is base, 1 is head.
type sideError struct {
	side int
	err  error
}

func (e sideError) Error() string { return [2]string{"base", "head"}[e.side] + ": " + e.err.Error() }
func (e sideError) Unwrap() error { return e.err }

// asFinding turns a failed run into a finding. A failed run of head is Failed. A failed run of
// base, or a benchmark that only one side has, is NotCompared. Other errors are returned.
func asFinding(tier, benchmark string, err error) (Finding, error) {
	var failed sideError
	if !errors.As(err, &failed) || errors.Is(err, context.Canceled) {
		return Finding{}, err
	}
	f := notRun(tier, benchmark, "all", failed.Error())
	f.Verdict = NotCompared
	if failed.side == 1 && !errors.Is(err, measure.ErrNoBenchmark) {
		f.Verdict = Failed
	}
	return f, nil
}

// A binary is a test binary of package bench.
type binary struct {
	path, dir string
	env       []string // besides the process's own
}

// exactEnv makes the counts of a run repeatable.
var exactEnv = []string{"GOMAXPROCS=1", "GOGC=off", "GODEBUG=asyncpreemptoff=1"}

func (b binary) run(ctx context.Context, r request) (result, error) {
	args := append(append([]string{}, r.wrap...), b.path,
		"-test.run=^$", "-test.bench="+measure.Pattern(r.benchmark), "-test.benchtime="+r.benchtime,
		"-test.count="+strconv.Itoa(max(1, r.slices)), "-test.timeout=5m")
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), b.env...)
	if r.exact {
		cmd.Env = append(cmd.Env, exactEnv...)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	out, parseErr := parse(stdout.Bytes())
	out.stderr = stderr.Bytes()
	if err != nil {
		left := goroutinesLeft(stdout.Bytes(), stderr.Bytes())
		if left == 0 || parseErr != nil {
			return result{}, fmt.Errorf("%s: %w: %s", r.benchmark, err, measure.Tail(append(stdout.Bytes(), stderr.Bytes()...)))
		}
		out.metrics[metricGoroutines] = float64(left)
		return out, nil
	}
	if parseErr != nil {
		return result{}, fmt.Errorf("%s: %w", r.benchmark, parseErr)
	}
	out.metrics[metricGoroutines] = 0
	return out, nil
}

// parse reads the lines of one benchmark. If there are several slices, it returns the least time,
// because other load has disturbed it least, and the median of every other figure.
func parse(stdout []byte) (result, error) {
	out, values := result{metrics: map[string]float64{}}, map[string][]float64{}
	reader := benchfmt.NewReader(bytes.NewReader(stdout), "stdout")
	for reader.Scan() {
		line, ok := reader.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		out.ops = line.Iters
		for _, v := range line.Values {
			if v.OrigUnit != "" { // the reader turns nanoseconds into seconds
				v.Value, v.Unit = v.OrigValue, v.OrigUnit
			}
			values[v.Unit] = append(values[v.Unit], v.Value)
		}
	}
	if err := reader.Err(); err != nil {
		return out, err
	}
	if out.ops == 0 {
		return out, measure.ErrNoBenchmark
	}
	for unit, v := range values {
		out.metrics[unit] = stats.Median(v)
	}
	if v := values[metricTime]; v != nil {
		out.metrics[metricTime] = slices.Min(v)
	}
	return out, nil
}

var leaked = regexp.MustCompile(`(?m)^.*Goroutine \d+ in state`)

// goroutinesLeft counts the goroutines that goleak found after the last benchmark.
func goroutinesLeft(outputs ...[]byte) int {
	n := 0
	for _, o := range outputs {
		if bytes.Contains(o, []byte("found unexpected goroutines")) {
			n += len(leaked.FindAll(o, -1))
		}
	}
	return n
}
