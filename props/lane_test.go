//go:build verify

package props

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestLane is the virtual lane as the verify command runs it: all properties in
// turn until the budget is spent, with a line of JSON each quarter of a second.
//
//	EVENTIDE_LANE_BUDGET   how long, as a duration
//	EVENTIDE_LANE_ONLY     one guarantee instead of all
//	EVENTIDE_LANE_SEED     base of the seeds
func TestLane(t *testing.T) {
	budget, err := time.ParseDuration(os.Getenv("EVENTIDE_LANE_BUDGET"))
	if err != nil {
		t.Fatalf("EVENTIDE_LANE_BUDGET: %v", err)
	}
	seed, err := strconv.ParseUint(os.Getenv("EVENTIDE_LANE_SEED"), 10, 64)
	if err != nil {
		t.Fatalf("EVENTIDE_LANE_SEED: %v", err)
	}
	l := &lane{began: time.Now(), seed: seed, exercised: map[string]int{}, failed: map[string]string{}}
	only := os.Getenv("EVENTIDE_LANE_ONLY")
	for round := uint64(0); time.Since(l.began) < budget; round++ {
		l.round(t, seed+round, only)
		if l.failed[only] != "" {
			break
		}
	}
	l.print()
}

// checksPerTurn is how many programs a property gets before the next has its turn.
const checksPerTurn = 50

type lane struct {
	began time.Time
	seed  uint64

	mu        sync.Mutex
	printed   time.Time
	runs      int
	undecided int
	exercised map[string]int
	failed    map[string]string // guarantee -> the smallest failure found
}

func (l *lane) round(t *testing.T, seed uint64, only string) {
	ids := []string{only}
	if only == "" {
		for _, g := range Guarantees {
			if g.Checked() {
				ids = append(ids, g.ID)
			}
		}
	}
	set(t, "rapid.checks", strconv.Itoa(checksPerTurn))
	set(t, "rapid.seed", strconv.FormatUint(max(seed, 1), 10)) // 0 would mean a random one
	set(t, "rapid.nofailfile", "true")
	set(t, "rapid.shrinktime", "0s") // see Property
	for _, id := range ids {
		if l.failed[id] != "" {
			continue
		}
		check := Property(id, l.observe)
		if id == "G21" {
			check = GroupProperty(l.observe)
		}
		if !t.Run(fmt.Sprintf("%s/seed=%d", id, seed), func(t *testing.T) { rapid.Check(t, check) }) {
			l.fail(id)
		}
	}
}

func set(t *testing.T, name, value string) {
	if err := flag.Set(name, value); err != nil {
		t.Fatalf("flag %s: %v", name, err)
	}
}

func (l *lane) observe(v Verdict) {
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
			l.failed["last "+g.ID] = w.String() // the last of a failing check is its smallest
		}
	}
	if time.Since(l.printed) > 250*time.Millisecond {
		l.printed = time.Now()
		l.printLocked()
	}
}

// fail turns what the failing check saw last into a verdict.
func (l *lane) fail(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := false
	for _, g := range Guarantees {
		if text := l.failed["last "+g.ID]; text != "" && (id == "" || id == g.ID) {
			l.failed[g.ID], found = text, true
		}
	}
	if !found {
		l.failed[id] = "the check failed without a violation: see the output of the test"
	}
}

func (l *lane) print() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.printLocked()
}

// laneLine is one line of the lane's output.
type laneLine struct {
	Lane      string            `json:"lane"`
	Seed      uint64            `json:"seed"`
	Seconds   float64           `json:"seconds"`
	Runs      int               `json:"runs"`
	Undecided int               `json:"undecided"`
	Exercised map[string]int    `json:"exercised"`
	Failed    map[string]string `json:"failed,omitempty"`
}

func (l *lane) printLocked() {
	failed := map[string]string{}
	for id, text := range l.failed {
		if len(id) < 5 || id[:5] != "last " {
			failed[id] = text
		}
	}
	line, err := json.Marshal(laneLine{"virtual", l.seed, time.Since(l.began).Seconds(), l.runs, l.undecided, l.exercised, failed})
	if err != nil {
		panic(err)
	}
	fmt.Printf("\n@@%s\n", line)
}
