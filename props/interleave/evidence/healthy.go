package evidence

import (
	"fmt"
	"strings"
)

// Healthy is the content of healthy.json: schedules of tests without bugs. Each finding
// is a false alarm.
type Healthy struct {
	About
	Seed uint64
	Rows []HealthyRun
}

// HealthyRun is the exploration of one package.
type HealthyRun struct {
	Package   string
	Run       string // pattern of the tests
	Skip      string `json:",omitempty"` // pattern of those left out
	Race      bool
	Tests     int
	Undecided int // tests of which no schedule ended
	Schedules uint64
	Seconds   float64 // of all tests, with other work on the machine
	Findings  int
}

// ReadHealthy reads healthy.json.
func ReadHealthy(name string) (*Healthy, error) {
	h := &Healthy{}
	return h, read(name, h)
}

// Total adds up the rows.
func (h *Healthy) Total() HealthyRun {
	var sum HealthyRun
	for _, r := range h.Rows {
		sum.Tests += r.Tests
		sum.Undecided += r.Undecided
		sum.Schedules += r.Schedules
		sum.Seconds += r.Seconds
		sum.Findings += r.Findings
	}
	return sum
}

// Table returns the rows as text of a page.
func (h *Healthy) Table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| tests | number | undecided | schedules | s | false alarms |\n|---|---|---|---|---|---|\n")
	for _, r := range h.Rows {
		name := r.Package
		if r.Run != "" {
			name += " -run " + r.Run
		}
		if r.Skip != "" {
			name += " -skip " + r.Skip
		}
		if r.Race {
			name += " -race"
		}
		fmt.Fprintf(&b, "| `%s` | %d | %d | %d | %.0f | %d |\n", name, r.Tests, r.Undecided, r.Schedules, r.Seconds, r.Findings)
	}
	sum := h.Total()
	fmt.Fprintf(&b, "| all | %d | %d | %d | %.0f | %d |\n\n%s, seed %d, the tool at %s, `%s`.\n", sum.Tests, sum.Undecided, sum.Schedules, sum.Seconds, sum.Findings,
		h.Go, h.Seed, h.Revision, h.Command)
	return b.String()
}
