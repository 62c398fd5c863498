package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
)

// The verdicts. Only pass is a pass.
const (
	pass   = "pass"
	fail   = "fail"
	notRun = "not run"
)

// report is conditions.json. Its schema is versioned; fields are added, not changed.
type report struct {
	Schema     int         `json:"schema"`
	Commit     string      `json:"commit"`
	Go         string      `json:"go"`
	Kernel     string      `json:"kernel"`
	CPUs       int         `json:"cpus"`
	Race       bool        `json:"race"`
	Short      bool        `json:"short"`
	Tests      string      `json:"tests,omitempty"` // the pattern, if not all were run
	Conditions []condition `json:"conditions"`
	Binaries   []binary    `json:"binaries"`
	Cells      []cell      `json:"cells"` // binary by binary, in the order of the conditions
}

// cell is one binary under one condition.
type cell struct {
	Package   string   `json:"package"`
	Condition string   `json:"condition"`
	Verdict   string   `json:"verdict"`
	Reason    string   `json:"reason,omitempty"` // unless it passed
	Failed    []string `json:"failed,omitempty"` // tests; without those of which a subtest failed
	Skipped   []string `json:"skipped,omitempty"`
	Passed    int      `json:"passed"`
	Seconds   float64  `json:"seconds"`
	Output    string   `json:"output,omitempty"` // the file
}

func newReport(ctx context.Context, s settings, binaries []binary) *report {
	r := &report{
		Schema: 1, Commit: s.commit(ctx), Go: runtime.Version(), Kernel: kernel(), CPUs: runtime.NumCPU(),
		Race: s.race, Short: s.short, Tests: s.tests, Conditions: s.conditions, Binaries: binaries,
	}
	for _, b := range binaries {
		for _, c := range s.conditions {
			r.Cells = append(r.Cells, cell{Package: b.Package, Condition: c.Name, Verdict: notRun, Reason: "interrupted"}) // until set
		}
	}
	return r
}

// judge is the verdict of a run that took place.
func judge(t tests, exit error) cell {
	c := cell{Failed: t.Failed, Skipped: t.Skipped, Passed: len(t.Passed)}
	switch {
	case exit != nil && len(t.Failed) == 0:
		c.Verdict, c.Failed = fail, t.Unfinished
		c.Reason = exit.Error()
		if t.Why != "" {
			c.Reason = t.Why + " (" + c.Reason + ")"
		}
	case exit != nil, len(t.Failed) > 0:
		c.Verdict, c.Reason = fail, fmt.Sprintf("%d tests failed", len(t.Failed))
	case len(t.Unfinished) > 0:
		c.Verdict, c.Failed, c.Reason = fail, t.Unfinished, "exit 0 without a verdict of every test"
	case len(t.Passed) == 0 && len(t.Skipped) > 0:
		c.Verdict, c.Reason = notRun, "every test was skipped"
	case len(t.Passed) == 0:
		c.Verdict, c.Reason = notRun, "no test was run"
	default:
		c.Verdict = pass
	}
	return c
}

// set enters the result of b under c.
func (r *report) set(b binary, c condition, result cell) {
	result.Package, result.Condition = b.Package, c.Name
	*r.at(b, c) = result
}

func (r *report) at(b binary, c condition) *cell {
	i := slices.IndexFunc(r.Cells, func(have cell) bool { return have.Package == b.Package && have.Condition == c.Name })
	return &r.Cells[i]
}

// count returns how many cells have the verdict.
func (r *report) count(verdict string) (n int) {
	for _, c := range r.Cells {
		if c.Verdict == verdict {
			n++
		}
	}
	return n
}

func (r *report) exitCode(strict bool) int {
	switch {
	case r.count(fail) > 0:
		return exitFail
	case strict && r.count(pass) < len(r.Cells):
		return exitNotRun
	}
	return exitPass
}

func (r *report) write(path string) error {
	data, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o666)
}

// why says what is to be known of a cell beside its verdict.
func (c cell) why() string {
	text := c.Reason
	if len(c.Failed) > 0 {
		text += ": " + strings.Join(c.Failed, ", ")
	}
	if n := len(c.Skipped); n > 0 && c.Verdict == pass {
		text = fmt.Sprintf("%d skipped: %s", n, strings.Join(c.Skipped, ", "))
	}
	return text
}

// print writes the table, and below it the reasons for every cell that is no pass.
func (r *report) print(w io.Writer) {
	width := 0
	for _, b := range r.Binaries {
		width = max(width, len(b.Package))
	}
	fmt.Fprintf(w, "%-*s", width, "")
	for _, c := range r.Conditions {
		fmt.Fprintf(w, "  %-7s", c.Name)
	}
	fmt.Fprintln(w)
	for _, b := range r.Binaries {
		fmt.Fprintf(w, "%-*s", width, b.Package)
		for _, c := range r.Conditions {
			fmt.Fprintf(w, "  %-*s", max(len(c.Name), len(notRun)), shown[r.at(b, c).Verdict])
		}
		fmt.Fprintln(w)
	}
	for _, c := range r.Cells {
		if c.Verdict == fail {
			fmt.Fprintf(w, "\nFAIL %s, %s: %s\n     %s\n", c.Package, c.Condition, c.why(), c.Output)
		}
	}
	r.printTogether(w, "NOT RUN", func(c cell) string {
		if c.Verdict != notRun {
			return ""
		}
		return c.Reason
	})
	r.printTogether(w, "SKIPPED", func(c cell) string {
		if c.Verdict == notRun || len(c.Skipped) == 0 {
			return ""
		}
		return strings.Join(c.Skipped, ", ")
	})
	fmt.Fprintf(w, "\n%d pass, %d FAIL, %d NOT RUN\n", r.count(pass), r.count(fail), r.count(notRun))
}

// shown is a verdict in the table: what is no pass stands out.
var shown = map[string]string{pass: pass, fail: "FAIL", notRun: "NOT RUN"}

// printTogether prints each text of a cell once, with the packages and the conditions
// that it is said of.
func (r *report) printTogether(w io.Writer, heading string, text func(cell) string) {
	packages, conditions := map[string][]string{}, map[string][]string{}
	for _, c := range r.Cells {
		if why := text(c); why != "" {
			packages[why] = append(packages[why], c.Package)
			conditions[why] = append(conditions[why], c.Condition)
		}
	}
	var allPackages []string
	for _, b := range r.Binaries {
		allPackages = append(allPackages, b.Package)
	}
	for _, why := range slices.Sorted(maps.Keys(packages)) {
		fmt.Fprintf(w, "\n%s %s, %s: %s\n", heading, among(allPackages, packages[why], "packages"), among(names(r.Conditions), conditions[why], "conditions"), why)
	}
}

// among lists the members of all that are in some, in the order of all.
func among(all, some []string, plural string) string {
	list := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return !slices.Contains(some, name) })
	if len(list) > 1 && len(list) == len(all) {
		return "all " + plural
	}
	return strings.Join(list, ", ")
}

// commit names the sources, with "+changes" if the tree differs from them.
func (s settings) commit(ctx context.Context) string {
	out, err := s.output(ctx, "git", "describe", "--always", "--dirty=+changes", "--abbrev=12", "--exclude=*")
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(out)
}

// kernel is the kernel's release.
func kernel() string {
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return runtime.GOOS
	}
	return strings.TrimSpace(string(release))
}
