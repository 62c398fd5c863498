package survey

import (
	"io"

	"eventide/props/interleave/driver"
)

// Healthy is a run of tests without bugs. Each finding is a false alarm.
type Healthy struct {
	Name      string // package, and pattern of the tests
	Tests     int
	Schedules uint64
	Seconds   float64
	Findings  int
}

// HealthyTests are the tests without bugs: a package directory and a pattern each.
var HealthyTests = [][2]string{
	{"./props/interleave/kernels/testdata/kernels", "Repaired$"},
	{"./props/interleave/works/testdata/suite", ""},
}

// ExploreHealthy explores tests without bugs, and writes the pages to a writer.
func ExploreHealthy(dir, run string, o Options, pages io.Writer) (Healthy, error) {
	h := Healthy{Name: dir}
	if run != "" {
		h.Name += " -run " + run
	}
	_, err := driver.Test(driver.Options{
		Patterns: []string{dir}, Run: run, Race: o.Race, Leaks: true, Schedules: o.Schedules, Exhaust: -1,
		Timeout: o.Limit, Processes: o.Processes, Stdout: pages, Stderr: pages, Verbose: true,
		Report: func(r driver.Report) {
			h.Tests++
			h.Schedules += r.Schedules
			h.Seconds += r.Took.Seconds()
			h.Findings += len(r.Findings)
		},
	})
	return h, err
}

// PutHealthy adds a run in place of an earlier one.
func (k *Kept) PutHealthy(h Healthy) {
	for i := range k.Healthy {
		if k.Healthy[i].Name == h.Name {
			k.Healthy[i] = h
			return
		}
	}
	k.Healthy = append(k.Healthy, h)
}
