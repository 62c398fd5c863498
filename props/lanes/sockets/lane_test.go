//go:build linux && sockets

package sockets

import (
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
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

// longestSilence is how long the lane runs programs without a line, which must not look like a hang.
const longestSilence = 2 * time.Second

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
	printed := began
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
		var failing Program
		if !t.Run("", func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				p := Programs().Draw(rt, "program")
				l.Runs++
				if time.Since(printed) > longestSilence { // with the race detector a turn is long
					printed = time.Now()
					l.print()
				}
				if found := inBubble(t, p); len(found) > 0 {
					failing = p
					last = fmt.Sprintf("%s\nprogram  %v", strings.Join(found, "\n"), p)
					if l.Seen == nil {
						l.Seen = map[string]string{"sockets": last}
						l.print()
					}
					rt.Fatal(last)
				}
			})
		}) {
			if last == "" {
				last = "a program failed without a violation: the race detector, if it is on, has printed why"
			} else {
				keepCase(t, failing)
			}
			l.Failed["sockets"] = last
		}
		l.Seconds = time.Since(began).Seconds()
		l.print()
	}
}

// longestRun is how long a program may take. Most take less than a millisecond: one that does
// not come to an end keeps the loop busy for ever, where virtual time does not help.
// With the race detector, on a machine with other load, some take many seconds.
const longestRun = 2 * time.Minute

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

// keepCase writes a program to a file in EVENTIDE_CASES, if that is set. TestCase runs it again.
func keepCase(t *testing.T, p Program) {
	dir := os.Getenv("EVENTIDE_CASES")
	if dir == "" {
		return
	}
	text := p.String()
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(text))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("sockets-%08x.json", hash.Sum32())), []byte(text+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// caseRuns is how often TestCase runs a program. Virtual time decides when timers fire; which of
// two goroutines runs first is left to the runtime.
const caseRuns = 100

// TestCase runs the program in EVENTIDE_SOCKETS_CASE, a file of JSON, until it violates something,
// caseRuns times at most.
func TestCase(t *testing.T) {
	text, err := os.ReadFile(os.Getenv("EVENTIDE_SOCKETS_CASE"))
	if err != nil {
		t.Fatal(err)
	}
	var p Program
	if err := json.Unmarshal(text, &p); err != nil {
		t.Fatal(err)
	}
	l := line{Failed: map[string]string{}}
	for l.Runs < caseRuns && len(l.Failed) == 0 {
		l.Runs++
		if found := inBubble(t, p); len(found) > 0 {
			l.Failed["sockets"] = strings.Join(found, "\n")
			t.Error(l.Failed["sockets"])
		}
	}
	l.print()
}
