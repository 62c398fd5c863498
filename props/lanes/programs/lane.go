// Package programs runs the generated programs of a lane: in virtual time, one after another,
// until one of them violates something. It is for lanes whose binary is built by package shadow,
// so that a package of core runs on a model of the kernel or of the packages below it.
package programs

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"eventide/internal/timeline"
	"eventide/props/internal/runner"
	"eventide/props/lane"
)

// Lane is one kind of programs. P must survive a conversion to JSON and back, because
// programs are kept in files.
type Lane[P any] struct {
	Name     string // the key of lane.Result.Failed, and the beginning of the names of case files
	Programs *rapid.Generator[P]

	// Run runs a program in a bubble of testing/synctest and returns what it violated. A
	// goroutine that it leaves behind is a deadlock of the bubble, which ends the lane.
	Run func(P) (violations []string, err error)

	// Draw runs a program like Run, and draws the run for the page of make verify. violated reports
	// whether the run violated something. nil: failing programs are not drawn.
	Draw func(P) (run *timeline.Timeline, violated bool)
}

func say(r lane.Result) {
	if err := r.Print(os.Stdout); err != nil {
		panic(err)
	}
}

// longestSilence is the longest time between two lines of a lane, so that a lane that runs does
// not look like one that hangs.
const longestSilence = 2 * time.Second

// checksPerTurn is how many programs run between two lines.
const checksPerTurn = 200

// Explore is the test of a lane: it runs programs until the budget is spent or one of them violates
// something. The environment is that of the lane of package props: EVENTIDE_LANE_BUDGET, a
// duration, and EVENTIDE_LANE_SEED.
func (l Lane[P]) Explore(t *testing.T) {
	budget, err := time.ParseDuration(os.Getenv("EVENTIDE_LANE_BUDGET"))
	if err != nil {
		t.Fatalf("EVENTIDE_LANE_BUDGET: %v", err)
	}
	seed, err := strconv.ParseUint(os.Getenv("EVENTIDE_LANE_SEED"), 10, 64)
	if err != nil {
		t.Fatalf("EVENTIDE_LANE_SEED: %v", err)
	}
	began := time.Now()
	said := lane.Result{Seed: seed, Failed: map[string]string{}}
	for round := uint64(0); time.Since(began) < budget && len(said.Failed) == 0; round++ {
		for name, value := range map[string]string{
			"rapid.checks": strconv.Itoa(checksPerTurn), "rapid.seed": strconv.FormatUint(1+seed*1_000_003+round, 10),
			"rapid.nofailfile": "true", "rapid.shrinktime": "5s",
		} {
			if err := flag.Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
		l.turn(t, &said)
		said.Seconds = time.Since(began).Seconds()
		say(said)
	}
}

// turn runs checksPerTurn programs, or until one of them violates something.
func (l Lane[P]) turn(t *testing.T, said *lane.Result) {
	printed := time.Now()
	last := ""
	var failing P
	if t.Run("", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			p := l.Programs.Draw(rt, "program")
			said.Runs++
			if time.Since(printed) > longestSilence { // with the race detector a turn is long
				printed = time.Now()
				say(*said)
			}
			if found := l.inBubble(t, p); len(found) > 0 {
				failing = p
				last = fmt.Sprintf("%s\nprogram  %s", strings.Join(found, "\n"), text(p))
				if said.Seen == nil {
					said.Seen = map[string]string{l.Name: last}
					say(*said)
				}
				rt.Fatal(last)
			}
		})
	}) {
		return
	}
	if last == "" {
		last = "a program failed without a violation: with -race see the report of the race detector"
	} else {
		l.keepCase(t, failing)
	}
	said.Failed[l.Name] = last
}

// longestRun is how long a program may take. Most take less than a millisecond: one that does
// not end keeps the loop busy for ever, and virtual time does not move. With the race
// detector, on a machine with other load, some take many seconds.
const longestRun = 2 * time.Minute

// inBubble runs a program in virtual time.
func (l Lane[P]) inBubble(t *testing.T, p P) (found []string) {
	stuck := time.AfterFunc(longestRun, func() {
		all := make([]byte, 1<<20)
		panic(fmt.Sprintf("a program does not come to an end: %s\n%s", text(p), all[:runtime.Stack(all, true)]))
	})
	defer stuck.Stop()
	synctest.Test(t, func(t *testing.T) {
		var err error
		if found, err = l.Run(p); err != nil {
			found = append(found, err.Error())
		}
	})
	return found
}

// text is a program as JSON.
func text(p any) string {
	b, err := json.Marshal(p)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// keepCase writes a program to a file in EVENTIDE_CASES, if that is set. Repeat runs it again.
func (l Lane[P]) keepCase(t *testing.T, p P) {
	dir := os.Getenv("EVENTIDE_CASES")
	if dir == "" {
		return
	}
	path, err := runner.WriteCase(dir, l.Name, ".json", p, p)
	if err != nil {
		t.Fatal(err)
	}
	if l.Draw == nil {
		return
	}
	var drawn *timeline.Timeline
	for tries, violated := 0, false; tries < caseRuns && !violated; tries++ {
		synctest.Test(t, func(*testing.T) { drawn, violated = l.Draw(p) })
	}
	if drawn == nil {
		return
	}
	drawn.Program = text(p)
	drawn.Replay = fmt.Sprintf("go run ./props/lanes/sockets/cmd/sockets -lane %s -case %s", l.Name, path)
	if err := drawn.Save(strings.TrimSuffix(path, filepath.Ext(path)) + timeline.Extension); err != nil {
		t.Fatal(err)
	}
}

// CaseVariable names, in the environment of a lane, the file of the program that Repeat runs.
const CaseVariable = "EVENTIDE_CASE"

// caseRuns is how often Repeat runs a program. Virtual time decides when timers fire; which of
// two goroutines runs first is left to the runtime.
const caseRuns = 100

// Repeat runs the program of a case file, until it violates something, caseRuns times at most.
func (l Lane[P]) Repeat(t *testing.T) {
	b, err := os.ReadFile(os.Getenv(CaseVariable))
	if err != nil {
		t.Fatal(err)
	}
	var p P
	if err := json.Unmarshal(b, &p); err != nil {
		t.Fatal(err)
	}
	said := lane.Result{Failed: map[string]string{}}
	for said.Runs < caseRuns && len(said.Failed) == 0 {
		said.Runs++
		if found := l.inBubble(t, p); len(found) > 0 {
			said.Failed[l.Name] = strings.Join(found, "\n")
			t.Error(said.Failed[l.Name])
		}
	}
	say(said)
}
