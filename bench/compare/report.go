package compare

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"golang.org/x/perf/benchfmt"
)

// A Report is out/bench.json.
type Report struct {
	Schema  int      `json:"schema"`
	Commit  string   `json:"commit"`
	Go      string   `json:"go"`
	CPU     string   `json:"cpu"`
	Procs   int      `json:"procs"` // GOMAXPROCS
	Command string   `json:"command"`
	Rows    []Row    `json:"rows"`
	Targets []Target `json:"targets"`
}

// WriteJSON writes the report.
func (r Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(r)
}

// Missed counts the targets that were not met.
func (r Report) Missed() int {
	n := 0
	for _, t := range r.Targets {
		if !t.Met {
			n++
		}
	}
	return n
}

// WriteTable writes the report for people.
func (r Report) WriteTable(w io.Writer, growths []Growth) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "commit %s, %s, %s, GOMAXPROCS %d\n\n", r.Commit, r.Go, r.CPU, r.Procs)
	fmt.Fprintln(t, "workload\timpl\tmedian\tunit\tratio\t95 %\trounds\tvoid")
	for _, row := range r.Rows {
		ratio, interval := "-", "-"
		if row.Ratio != 0 {
			ratio, interval = fmt.Sprintf("%.2f", row.Ratio), fmt.Sprintf("%.2f..%.2f", row.Low, row.High)
		}
		fmt.Fprintf(t, "%s\t%s\t%.1f\t%s\t%s\t%s\t%d\t%d\n", row.Workload, row.Impl, row.Median, row.Unit, ratio, interval, row.Rounds, row.Void)
	}
	for _, g := range growths {
		fmt.Fprintf(t, "\n%s: %.1f + %.1f*log2(n) ns, R² %.2f; as a power of n: n^%.2f\n", g.Workload, g.Base, g.Slope, g.R2, g.Exponent)
	}
	fmt.Fprintln(t, "\ntarget\tmeasured\tat most\t")
	for _, target := range r.Targets {
		verdict := "met"
		if !target.Met {
			verdict = "MISSED"
		}
		fmt.Fprintf(t, "%s\t%.2f\t%.2f\t%s\n", target.Name, target.Ratio, target.Limit, verdict)
	}
	return t.Flush()
}

// WriteBenchFormat writes every slice as a line that benchstat reads.
func (r Results) WriteBenchFormat(w io.Writer, about Report) error {
	var config []benchfmt.Config
	for _, c := range [][2]string{
		{"pkg", "eventide/bench"}, {"commit", about.Commit}, {"go", about.Go},
		{"cpu", about.CPU}, {"command", about.Command},
	} {
		config = append(config, benchfmt.Config{Key: c[0], Value: []byte(c[1]), File: true})
	}
	lines := benchfmt.NewWriter(w)
	for round := range r.rounds() {
		for _, s := range r {
			if err := lines.Write(s.line(round, about.Procs, config)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r Results) rounds() int {
	if len(r) == 0 {
		return 0
	}
	return len(r[0].slices)
}

func (s series) line(round, procs int, config []benchfmt.Config) *benchfmt.Result {
	slice := s.slices[round]
	values := []benchfmt.Value{{Value: slice.NsPerOp(), Unit: "ns/op"}}
	if slice.Latency != nil {
		values = append(values,
			benchfmt.Value{Value: slice.Quantile(50), Unit: "p50-ns"},
			benchfmt.Value{Value: slice.Quantile(99), Unit: "p99-ns"})
	}
	return &benchfmt.Result{
		Config: config,
		Name:   fmt.Appendf(nil, "%s-%d", s.Name(), procs),
		Iters:  slice.Ops,
		Values: values,
	}
}
