package stress

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// Runs of each race. The race detector needs an order to be possible, not to occur,
// and makes a run several times as long: the short number serves it as well.
const (
	raceRuns      = 6_000
	raceRunsShort = 2_000
)

// contest is a race against the executor and what may come of it.
type contest struct {
	name string
	run  func(n int, table *Table)
	rows []Row

	oneOutcome bool // whichever comes first, only one outcome is acceptable
}

// stuck is the outcome of every race that leaves an executor that does not end, or
// a task that does not run.
const stuck = "stuck"

var stuckRow = Row{stuck, Forbidden, "G12, G15: everything accepted runs and the executor ends, without further help."}

// TestRaces runs every race and prints its table. An outcome that is forbidden, or
// that nobody has foreseen, fails. So does a race of which only one outcome was
// seen: its actors did not meet.
func TestRaces(t *testing.T) {
	n := raceRuns
	if testing.Short() || raceDetector {
		n = raceRunsShort
	}
	for _, c := range contests() {
		t.Run(c.name, func(t *testing.T) {
			table := NewTable(c.name, append(c.rows, stuckRow)...)
			c.run(n, table)
			fmt.Fprintf(t.Output(), "%v", table)
			if err := table.Check(); err != nil {
				t.Errorf("%v\nagain: go test ./stress -v -run '^TestRaces$/^%s$'", err, strings.ReplaceAll(c.name, " ", "_"))
				return
			}
			if table.Seen() < 2 && !c.oneOutcome && runtime.GOMAXPROCS(0) > 1 {
				t.Errorf("not exercised: all %d runs had the same outcome", table.Total())
			}
		})
	}
}

func contests() []contest {
	var all []contest
	for _, some := range [][]contest{admissionRaces(), sleepRaces(), hookRaces(), timerRaces(), shutdownRaces(), startRaces(), observerRaces()} {
		all = append(all, some...)
	}
	return all
}
