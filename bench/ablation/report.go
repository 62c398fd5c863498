package ablation

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
)

// A Report is out/ablation.json.
type Report struct {
	Schema  int    `json:"schema"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
	CPU     string `json:"cpu"`
	Kernel  string `json:"kernel"`
	Procs   int    `json:"procs"` // GOMAXPROCS
	Command string `json:"command"`
	Rows    []Row  `json:"rows"`
}

// Schema is that of the reports that this package writes.
const Schema = 1

// WriteJSON writes the report for programs.
func (r Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(r)
}

// WriteTable writes the report for people.
func (r Report) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "commit %s, %s, %s, GOMAXPROCS %d\n\n", r.Commit, r.Go, r.CPU, r.Procs)
	fmt.Fprintln(t, "without\tbreaks\tbenchmark\twith, ns\twithout, ns\tratio\t95 %")
	for _, row := range r.Rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%.1f\t%.1f\t%.2f\t%.2f..%.2f\n",
			row.Part, row.Guarantee, row.Benchmark, row.With, row.Without, row.Ratio, row.Low, row.High)
	}
	return t.Flush()
}
