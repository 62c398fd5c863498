package results

import "fmt"

// peers is what the page shows of peers.json, which `make peers` writes.
type peers struct {
	Schema int `json:"schema"`
	About  struct {
		Commit, CPU, Kernel, Command string
		CPUs, Rounds                 int
		Versions                     map[string]string
		NotRun                       map[string]string `json:"not_run"`
	} `json:"about"`
	Rows    []peersRow `json:"rows"`
	Targets []struct {
		Name                    string
		Ratio, Low, High, Limit float64
		Least                   bool `json:"at_least"`
		Met                     bool
		Reason                  string
	} `json:"targets"`
}

type peersRow struct {
	Workload, Impl, Unit, Status, Reason, Base string
	Median, Low, High, Ratio                   float64
	RatioLow                                   float64 `json:"ratio_low"`
	RatioHigh                                  float64 `json:"ratio_high"`
	Rounds, Lost                               int
}

// matrix is what it shows of matrix.json, which `make matrix` writes.
type matrix struct {
	Schema     int    `json:"schema"`
	Seed       uint64 `json:"seed"`
	Guarantees []struct {
		Guarantee string
	} `json:"guarantees"`
	Cells []matrixCell `json:"cells"`
}

type matrixCell struct {
	Subject, Guarantee, Verdict, By, Text string
}

// Subjects are the columns, in the order of their first cell.
func (m matrix) Subjects() []string {
	var names []string
	seen := map[string]bool{}
	for _, c := range m.Cells {
		if !seen[c.Subject] {
			seen[c.Subject] = true
			names = append(names, c.Subject)
		}
	}
	return names
}

// Verdict is one cell; what is not there was not run.
func (m matrix) Verdict(subject, guarantee string) string {
	for _, c := range m.Cells {
		if c.Subject == subject && c.Guarantee == guarantee {
			return c.Verdict
		}
	}
	return "not run"
}

// drain is what it shows of drain.json, which `make servers` writes.
type drain struct {
	Schema   int      `json:"schema"`
	Verdicts []string `json:"verdicts"`
	Servers  []struct {
		Name, Breaks string
		NotRun       string `json:"not_run"`
		Rounds       int
		Cells        []struct{ Verdict, Status, Text string }
	} `json:"servers"`
}

// gateReport is what it shows of gate.json, which `make gate` writes.
type gateReport struct {
	Schema            int `json:"schema"`
	Exit              int
	Verdict           string
	Base, Head        string
	Rounds            int
	Findings          []struct{ Verdict string }
	Date, CPU, Kernel string
	Workloads         string
}

// Counts says how many findings there are of each verdict.
func (g gateReport) Counts() map[string]int {
	n := map[string]int{}
	for _, f := range g.Findings {
		n[f.Verdict]++
	}
	return n
}

// percent writes a relative change.
func percent(v float64) string { return fmt.Sprintf("%+.1f %%", 100*v) }

// number writes three digits, or all of what is before the point.
func number(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
