//go:build linux && sockets

package sockets

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// line is what the lane prints: see lane.Result.
type line struct {
	Seed    uint64            `json:"seed"`
	Seconds float64           `json:"seconds"`
	Runs    int               `json:"runs"`
	Failed  map[string]string `json:"failed"`
	Seen    map[string]string `json:"seen"` // found by a program that is not made smaller yet
}

func (l line) print() {
	text, err := json.Marshal(l)
	if err != nil {
		panic(err)
	}
	fmt.Printf("\n@@%s\n", text)
}

// checksPerTurn is how many programs run between two lines.
const checksPerTurn = 200

// TestLane runs programs until the budget is spent or one of them violates something. The
// environment is that of the lane of package props: EVENTIDE_LANE_BUDGET, a duration, and
// EVENTIDE_LANE_SEED.
func TestLane(t *testing.T) {
	budget, err := time.ParseDuration(os.Getenv("EVENTIDE_LANE_BUDGET"))
	if err != nil {
		t.Fatalf("EVENTIDE_LANE_BUDGET: %v", err)
	}
	seed, err := strconv.ParseUint(os.Getenv("EVENTIDE_LANE_SEED"), 10, 64)
	if err != nil {
		t.Fatalf("EVENTIDE_LANE_SEED: %v", err)
	}
	began := time.Now()
	l := line{Seed: seed, Failed: map[string]string{}}
	for round := uint64(0); time.Since(began) < budget && len(l.Failed) == 0; round++ {
		for name, value := range map[string]string{
			"rapid.checks": strconv.Itoa(checksPerTurn), "rapid.seed": strconv.FormatUint(1+seed*1_000_003+round, 10),
			"rapid.nofailfile": "true", "rapid.shrinktime": "5s",
		} {
			if err := flag.Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
		last := ""
		if !t.Run("", func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				p := Programs().Draw(rt, "program")
				l.Runs++
				if found := inBubble(t, p); len(found) > 0 {
					last = fmt.Sprintf("%s\nprogram  %v", strings.Join(found, "\n"), p)
					if l.Seen == nil {
						l.Seen = map[string]string{"sockets": last}
						l.print()
					}
					rt.Fatal(last)
				}
			})
		}) {
			l.Failed["sockets"] = last
		}
		l.Seconds = time.Since(began).Seconds()
		l.print()
	}
}

// longestRun is how long a program may take. Most take less than a millisecond: one that does
// not come to an end keeps the loop busy for ever, where virtual time does not help.
const longestRun = 20 * time.Second

// inBubble runs a program in virtual time.
func inBubble(t *testing.T, p Program) (found []string) {
	stuck := time.AfterFunc(longestRun, func() {
		all := make([]byte, 1<<20)
		panic(fmt.Sprintf("a program does not come to an end: %v\n%s", p, all[:runtime.Stack(all, true)]))
	})
	defer stuck.Stop()
	synctest.Test(t, func(t *testing.T) {
		var err error
		if found, err = Run(p); err != nil {
			found = append(found, err.Error())
		}
	})
	return found
}

// TestCase runs the program in EVENTIDE_SOCKETS_CASE, a file of JSON, a hundred times.
func TestCase(t *testing.T) {
	text, err := os.ReadFile(os.Getenv("EVENTIDE_SOCKETS_CASE"))
	if err != nil {
		t.Fatal(err)
	}
	var p Program
	if err := json.Unmarshal(text, &p); err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if found := inBubble(t, p); len(found) > 0 {
			t.Fatalf("run %d: %s", i, strings.Join(found, "\n"))
		}
	}
}
