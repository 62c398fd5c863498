package driver

import (
	"strings"
	"testing"
)

// Each process counts its own classes and pairs: of several, the largest numbers are
// lower bounds, and are said to be.
func TestCoverageOfSeveralProcesses(t *testing.T) {
	s := &search{opts: &Options{Exhaust: -1}}
	c := coverage{Schedules: 100, Most: 100, Classes: 26, Singles: 4, Pairs: 8, Processes: 1}
	const one = "100 schedules in 0s, 26 classes; chance that the next schedule has a new class: 0.04; 8 pairs of conflicting operations"
	if got := strings.Join(c.lines(s), "\n"); got != one {
		t.Errorf("got\n%s\nwant\n%s", got, one)
	}
	c.merge(&coverage{Schedules: 50, Most: 50, Classes: 30, Singles: 10, Pairs: 9, Processes: 1})
	const two = "150 schedules in 0s, at least 30 classes; chance that the next schedule has a new class: 0.04 after 100 schedules; at least 9 pairs of conflicting operations"
	if got := strings.Join(c.lines(s), "\n"); got != two {
		t.Errorf("got\n%s\nwant\n%s", got, two)
	}
}
