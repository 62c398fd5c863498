//go:build verify

package props

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"eventide/props/faults"
	"eventide/props/lane"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestLane is the virtual lane as the verify command runs it: all properties in
// turn until the budget is spent, with a line of JSON each quarter of a second.
// Those that were not exercised often enough by then, on a machine that is slow or
// busy, go on for as long again: the budget is for finding bugs, the minimum is
// what makes a pass one.
//
//	EVENTIDE_LANE_BUDGET   how long, as a duration
//	EVENTIDE_LANE_ONLY     one guarantee instead of all
//	EVENTIDE_LANE_SEED     base of the seeds
func TestLane(t *testing.T) {
	l := newLane(t, "virtual")
	defer debug.SetGCPercent(debug.SetGCPercent(garbagePercent))
	all := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(all)
	for round := uint64(0); l.failed[l.only] == ""; round++ {
		ids := l.due()
		if len(ids) == 0 {
			break
		}
		runtime.GOMAXPROCS(processors(round, all))
		l.round(t, l.seed+round, ids)
	}
	l.print()
}

// parallelEvery is of how many rounds one may use every processor.
const parallelEvery = 8

// processors is how many of all processors a round may use. On one, a program takes three quarters of the
// processor time, because no thread has to be woken, and its goroutines take turns where they block. On
// several they really run at once, which shows what an interleaving at any instruction does.
func processors(round uint64, all int) int {
	if round%parallelEvery == 0 {
		return all
	}
	return 1
}

// garbagePercent is how much garbage there may be before the collector runs, in percent of the memory
// in use. The lane has a few megabytes in use, and each program leaves some hundred kilobytes behind.
const garbagePercent = 1000

// due lists the guarantees whose turn it is.
func (l *laneRun) due() []string {
	switch spent := time.Since(l.began); {
	case spent >= 2*l.budget:
		return nil
	case l.only != "" && spent < l.budget:
		return []string{l.only}
	case l.only != "":
		return nil
	case spent < l.budget:
		return l.checked(func(Guarantee) bool { return true })
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.checked(func(g Guarantee) bool { return l.exercised[g.ID] < g.Needed() && l.failed[g.ID] == "" })
}

func (l *laneRun) checked(which func(Guarantee) bool) []string {
	var ids []string
	for _, g := range Guarantees {
		if g.Checked() && which(g) {
			ids = append(ids, g.ID)
		}
	}
	return ids
}

// checksPerTurn is how many programs a property gets before the next has its turn.
const checksPerTurn = 50

type laneRun struct {
	name   string
	began  time.Time
	cpu    time.Duration // that the process had used by then
	budget time.Duration
	seed   uint64
	only   string

	mu        sync.Mutex
	printed   time.Time
	runs      int
	undecided int
	exercised map[string]int
	failed    map[string]string // guarantee -> the smallest failure found
	seen      map[string]string // the first violation, before the program is made smaller
}

func newLane(t *testing.T, name string) *laneRun {
	l := &laneRun{name: name, began: time.Now(), cpu: lane.ProcessTime(), only: os.Getenv("EVENTIDE_LANE_ONLY"), exercised: map[string]int{}, failed: map[string]string{}}
	var err error
	l.budget, err = time.ParseDuration(os.Getenv("EVENTIDE_LANE_BUDGET"))
	require.NoError(t, err, "EVENTIDE_LANE_BUDGET")
	require.Positive(t, l.budget, "EVENTIDE_LANE_BUDGET")
	l.seed, err = strconv.ParseUint(os.Getenv("EVENTIDE_LANE_SEED"), 10, 64)
	require.NoError(t, err, "EVENTIDE_LANE_SEED")
	return l
}

func (l *laneRun) round(t *testing.T, seed uint64, ids []string) {
	set(t, "rapid.checks", strconv.Itoa(checksPerTurn))
	l.seeded(t, seed)
	for _, id := range ids {
		if l.failed[id] != "" {
			continue
		}
		check := Property(id, l.observe)
		switch {
		case id == "G21":
			check = GroupProperty(l.observe)
		case l.only == "": // whatever it breaks, a program of this guarantee shows it
			g, _ := Lookup(id)
			check = propertyWith(g.Profile, "", l.observe)
		}
		ok := t.Run(fmt.Sprintf("%s/seed=%d", id, seed), func(t *testing.T) { rapid.Check(t, check) })
		if id == "G9" && ok {
			ok = t.Run(fmt.Sprintf("%s/invocations/seed=%d", id, seed), func(t *testing.T) { rapid.Check(t, InvocationProperty(l.observe)) })
		}
		if !ok {
			l.fail(id)
		}
	}
}

func (l *laneRun) seeded(t *testing.T, seed uint64) {
	set(t, "rapid.seed", strconv.FormatUint(max(seed, 1), 10)) // 0 would mean a random one
	set(t, "rapid.nofailfile", "true")
	set(t, "rapid.shrinktime", "0s") // see Property
}

// violated lists what was found.
func (l *laneRun) violated() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []string
	for id, text := range l.failed {
		if !strings.HasPrefix(id, lastMark) {
			list = append(list, text)
		}
	}
	return list
}

func set(t *testing.T, name, value string) {
	require.NoError(t, flag.Set(name, value), name)
}

// lastMark begins the keys of what was seen last, of each guarantee.
const lastMark = "last "

func (l *laneRun) observe(v Verdict) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs++
	if v.Undecided {
		l.undecided++
	}
	for id, did := range v.Exercised {
		if did {
			l.exercised[id]++
		}
	}
	for _, g := range Guarantees {
		for _, w := range v.Against(g.ID) {
			l.failed[lastMark+g.ID] = w.String() // the last of a failing check is its smallest
		}
	}
	first := l.seen == nil && len(v.Violations) > 0
	if first {
		w := v.Violations[0]
		l.seen = map[string]string{w.Guarantee: w.String()}
	}
	if first || time.Since(l.printed) > 250*time.Millisecond {
		l.printed = time.Now()
		l.printLocked()
	}
}

// fail turns what the failing check saw last into a verdict: on its guarantee or,
// if that is not what it broke, on those that it did.
func (l *laneRun) fail(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if text := l.failed[lastMark+id]; text != "" {
		l.failed[id] = text
		return
	}
	found := false
	for _, g := range Guarantees {
		if text := l.failed[lastMark+g.ID]; text != "" {
			l.failed[g.ID], found = text, true
		}
	}
	if !found {
		l.failed[id] = "the check failed without a violation: see the output of the test"
	}
}

func (l *laneRun) print() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.printLocked()
}

func (l *laneRun) printLocked() {
	failed := map[string]string{}
	for id, text := range l.failed {
		if !strings.HasPrefix(id, lastMark) {
			failed[id] = text
		}
	}
	line := lane.Result{
		Lane: l.name, Seed: l.seed, Seconds: time.Since(l.began).Seconds(), Runs: l.runs, Undecided: l.undecided,
		Exercised: l.exercised, Failed: failed, Seen: l.seen, Processor: (lane.ProcessTime() - l.cpu).Seconds(),
	}
	if faults.Installed() {
		line.Faults = map[string]int64{}
		for _, k := range faults.Kinds() {
			if k.Of(faults.Pollers...) {
				line.Faults[k.String()] = k.Count()
			}
		}
	}
	if err := line.Print(os.Stdout); err != nil {
		panic(err)
	}
}
