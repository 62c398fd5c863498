package scale

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// A Report is out/scale.json.
type Report struct {
	Schema    int           `json:"schema"`
	Commit    string        `json:"commit"`
	Go        string        `json:"go"`
	CPU       string        `json:"cpu"`
	Kernel    string        `json:"kernel"`
	Procs     int           `json:"procs"` // GOMAXPROCS
	Command   string        `json:"command"`
	Transfer  time.Duration `json:"transfer_ns"` // of a cache line; 0: not measured, because Go may use one processor only
	Locked    time.Duration `json:"locked_ns"`   // a locked instruction on a line that no other processor uses
	Curves    []Curve       `json:"curves"`
	Assumed   Machine       `json:"assumed"` // of the simulation
	Simulated []Curve       `json:"simulated"`
}

// Schema is that of the reports that this package writes.
const Schema = 1

// The times that the simulation assumes if they cannot be measured on this machine.
const (
	assumedTransfer = 100 * time.Nanosecond // between two cores of one socket, with some load
	assumedYield    = 200 * time.Nanosecond
	assumedWake     = 5 * time.Microsecond
)

// simulatedTasks is so large that the first tasks, which find no line in a cache, have no effect.
const simulatedTasks = 50_000

// Simulated returns the simulated machine, with the times measured on this one, and the curve of
// each intake, from 1 to 64 processors.
func Simulated(transfer, locked time.Duration) (Machine, []Curve) {
	m := Machine{Transfer: transfer, Local: locked, Yield: assumedYield, Wake: assumedWake}
	if m.Transfer == 0 {
		m.Transfer = assumedTransfer
	}
	var curves []Curve
	for _, in := range Intakes {
		c := Curve{Name: in.Name, X: "processors", Unit: "tasks/s"}
		for n := 1; n <= MostProducers; n *= 2 {
			c.Points = append(c.Points, Point{N: n, Median: Simulate(m, in, n, simulatedTasks), Rounds: 1})
		}
		c.fit()
		curves = append(curves, c)
	}
	return m, curves
}

// WriteJSON writes the report.
func (r Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(r)
}

// WriteTable writes the report as text.
func (r Report) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "commit %s, %s, %s, %s, GOMAXPROCS %d\n", r.Commit, r.Go, r.CPU, r.Kernel, r.Procs)
	transfer := "not measured: Go may use one processor only"
	if r.Transfer > 0 {
		transfer = r.Transfer.String()
	}
	fmt.Fprintf(t, "a cache line moves in %s, a locked instruction takes %v\n", transfer, r.Locked)
	for _, c := range r.Curves {
		c.write(t)
	}
	fmt.Fprintf(t, "\nsimulated: line moves in %v, locked instruction %v, yield %v, wake-up %v\n", r.Assumed.Transfer, r.Assumed.Local, r.Assumed.Yield, r.Assumed.Wake)
	for _, c := range r.Simulated {
		c.write(t)
	}
	return t.Flush()
}

func (c Curve) write(t io.Writer) {
	fmt.Fprintf(t, "\n%s: %s\n", c.Name, c.Verdict())
	for _, p := range c.Points {
		switch {
		case p.NotRun != "":
			fmt.Fprintf(t, "%d\t%s\tNOT RUN: %s\n", p.N, c.X, p.NotRun)
		case p.High > 0:
			fmt.Fprintf(t, "%d\t%s\t%s\t95 %%: %s .. %s\n", p.N, c.X, rate(p.Median, c.Unit), rate(p.Low, c.Unit), rate(p.High, c.Unit))
		default:
			fmt.Fprintf(t, "%d\t%s\t%s\t\n", p.N, c.X, rate(p.Median, c.Unit))
		}
	}
}
