// Package waiver reads the file of regressions that a project has accepted.
package waiver

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// A Waiver lets one known regression pass.
type Waiver struct {
	Benchmark, Metric string
	Until             string // a date, or a commit
	Reason            string
	Line              int
}

// Parse reads a file of waivers, one per line, fields separated by bars:
//
//	benchmark | metric | until | reason
//
// until is the last day on which the waiver holds (2027-01-31), or the commit that caused the
// regression: then the waiver expires when base contains this commit. Lines that are empty or
// begin with # are skipped; every other line must have all fields. A metric must be one of
// metrics, unless metrics is nil.
func Parse(r io.Reader, metrics []string) ([]Waiver, error) {
	var all []Waiver
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		fields := strings.SplitN(text, "|", 4)
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		if len(fields) != 4 || slices.Contains(fields, "") {
			return nil, fmt.Errorf("waivers, line %d: got %q, want benchmark | metric | until | reason", n, text)
		}
		w := Waiver{Benchmark: fields[0], Metric: fields[1], Until: fields[2], Reason: fields[3], Line: n}
		if metrics != nil && !slices.Contains(metrics, w.Metric) {
			return nil, fmt.Errorf("waivers, line %d: metric is %q, want one of %q", n, w.Metric, metrics)
		}
		if slices.ContainsFunc(all, w.same) {
			return nil, fmt.Errorf("waivers, line %d: %s of %s is waived twice", n, w.Metric, w.Benchmark)
		}
		all = append(all, w)
	}
	return all, lines.Err()
}

func (w Waiver) same(v Waiver) bool { return w.Benchmark == v.Benchmark && w.Metric == v.Metric }

const dateFormat = "2006-01-02"

// Check returns an error unless the waiver names a benchmark and holds today.
// contains reports whether base contains a commit.
func (w Waiver) Check(benchmarks []string, today time.Time, contains func(commit string) (bool, error)) error {
	if !slices.Contains(benchmarks, w.Benchmark) {
		return fmt.Errorf("waivers, line %d: there is no benchmark %q", w.Line, w.Benchmark)
	}
	if last, err := time.Parse(dateFormat, w.Until); err == nil {
		if today.Format(dateFormat) > last.Format(dateFormat) {
			return fmt.Errorf("waivers, line %d: expired after %s: %s of %s", w.Line, w.Until, w.Metric, w.Benchmark)
		}
		return nil
	}
	in, err := contains(w.Until)
	if err != nil {
		return fmt.Errorf("waivers, line %d: until is %q, want a date like %s or a commit: %w", w.Line, w.Until, dateFormat, err)
	}
	if in {
		return fmt.Errorf("waivers, line %d: expired: base contains %s, so %s of %s is compared with itself", w.Line, w.Until, w.Metric, w.Benchmark)
	}
	return nil
}

// String names the line, the figure and the benchmark.
func (w Waiver) String() string {
	return fmt.Sprintf("line %d: %s of %s", w.Line, w.Metric, w.Benchmark)
}
