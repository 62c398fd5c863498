package survey

import (
	"io"

	"eventide/props/interleave/driver"
	"eventide/props/interleave/evidence"
)

// A healthyPackage is a package of tests without bugs, and the share of the schedules
// that each of its tests gets: one in Share.
type healthyPackage struct {
	Dir, Run, Skip string
	Race           bool
	Share          uint64
}

// HealthyPackages are the packages of tests without bugs. Repaired kernels are the
// smallest tests, and get most schedules.
var HealthyPackages = []healthyPackage{
	{Dir: "./props/interleave/kernels/testdata/kernels", Run: "Repaired$", Share: 1},
	{Dir: "./props/interleave/kernels/testdata/kernels", Run: "Repaired$", Race: true, Share: 20},
	{Dir: "./props/interleave/works/testdata/suite", Share: 10},
	{Dir: "./props/interleave/works/testdata/web", Skip: "TestPlanted", Share: 50},
	{Dir: "./props/interleave/works/testdata/network", Share: 50},
}

// ExploreHealthy explores one of the packages, and writes its pages to a writer.
func ExploreHealthy(p healthyPackage, o Options, pages io.Writer) (evidence.HealthyRun, error) {
	h := evidence.HealthyRun{Package: p.Dir, Run: p.Run, Skip: p.Skip, Race: p.Race}
	_, err := driver.Test(driver.Options{
		Patterns: []string{p.Dir}, Run: p.Run, Skip: p.Skip, Race: p.Race, Leaks: true, Schedules: max(o.Schedules/p.Share, 1), Seed: HealthySeed, Exhaust: -1,
		Timeout: o.Limit, Processes: o.Processes, Stdout: pages, Stderr: pages, Verbose: true,
		Report: func(r driver.Report) {
			h.Tests++
			h.Schedules += r.Schedules
			h.Seconds += r.Took.Seconds()
			h.Findings += len(r.Findings)
			if r.Undecided != "" {
				h.Undecided++
			}
		},
	})
	return h, err
}

// HealthySeed is the seed of the schedules of healthy tests.
const HealthySeed = 1
