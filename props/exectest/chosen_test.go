package exectest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"eventide/props/interleave/driver"
)

// pools is the package of the executors that this file explores.
const pools = "testdata/pools"

// mistakes are the tests of the pools with a mistake. Each has a repaired twin.
var mistakes = []string{
	"TestSleepFlag", "TestMailbox", "TestPushAndLink", "TestSendOnClosed", "TestLostInDrain",
	"TestAddAfterWait", "TestDoubleStop", "TestWorkerCount", "TestLastWorkers", "TestPurge",
}

// Bounds of the search, and how much of it -short does.
const (
	mostSchedules  = 1000 // until a mistake must be found
	seeds          = 5
	seedsShort     = 1
	healthy        = 10000 // schedules of a repaired twin
	healthyShort   = 500
	hammersPerPool = 1
)

// hammers is how often the plain kit runs on each pool, for the figure beside.
var hammers = flag.Int("hammers", hammersPerPool, "runs of the kit without chosen schedules on each pool with a mistake")

// TestChosenSchedulesFindMistakes wants chosen schedules to find each mistake within
// 1,000 schedules, with each seed, and prints how often the plain kit finds it.
func TestChosenSchedulesFindMistakes(t *testing.T) {
	rounds, plain := seeds, *hammers
	if testing.Short() {
		rounds, plain = seedsShort, 0
	}
	outputs := explorePools(t, driver.Options{Schedules: mostSchedules, Count: rounds, FailFast: true, Skip: "Repaired$"})
	binary := ""
	if plain > 0 {
		binary = buildPools(t)
	}
	t.Logf("%-17s %s", "", "schedules until found: median, most; found by the plain kit")
	for _, name := range mistakes {
		found := foundIn(outputs[name])
		if len(found) != rounds {
			t.Errorf("%s: found with %d of %d seeds within %d schedules\n%s", name, len(found), rounds, mostSchedules, outputs[name])
			continue
		}
		slices.Sort(found)
		t.Logf("%-17s %d, %d; %s", name, found[len(found)/2], found[len(found)-1], byPlainKit(binary, name, plain))
	}
}

// TestChosenSchedulesSpareRepaired wants nothing to be found in the twins.
func TestChosenSchedulesSpareRepaired(t *testing.T) {
	schedules := uint64(healthy)
	if testing.Short() {
		schedules = healthyShort
	}
	outputs := explorePools(t, driver.Options{Schedules: schedules, Run: "Repaired$"})
	for _, name := range mistakes {
		want := fmt.Sprintf(" %d schedules in ", schedules)
		if out := outputs[name+"Repaired"]; !strings.Contains(out, want) || strings.Contains(out, "found in schedule") {
			t.Errorf("%sRepaired: want %q and no finding\n%s", name, want, out)
		}
	}
}

// TestChosenSchedulesJudgeRaces wants the kit not to order bodies for the race detector:
// it sees that two workers write the same variable.
func TestChosenSchedulesJudgeRaces(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles the standard library with the race detector")
	}
	outputs := explorePools(t, driver.Options{Schedules: mostSchedules, FailFast: true, Race: true, Run: "^TestUnorderedBodies$"})
	if out := outputs["TestUnorderedBodies"]; !strings.Contains(out, "data race: props/exectest/driver.go:") {
		t.Errorf("want a data race\n%s", out)
	}
}

// explorePools returns what the command prints of each test.
func explorePools(t *testing.T, o driver.Options) map[string]string {
	t.Helper()
	var out bytes.Buffer
	o.Dir, o.JSON, o.Verbose, o.Leaks, o.Exhaust = pools, true, true, true, -1
	o.Stdout, o.Stderr = &out, &out
	if code, err := driver.Test(o); err != nil {
		t.Fatalf("exit code %d: %v", code, err)
	}
	outputs := map[string]string{}
	for d := json.NewDecoder(&out); ; {
		var e struct{ Test, Output string }
		if err := d.Decode(&e); errors.Is(err, io.EOF) {
			return outputs
		} else if err != nil {
			t.Fatal(err)
		}
		outputs[e.Test] += e.Output
	}
}

var foundLine = regexp.MustCompile(`found in schedule (\d+) `)

// foundIn returns the numbers of schedules until a finding, the first one being 1.
func foundIn(output string) []int {
	var found []int
	for _, m := range foundLine.FindAllStringSubmatch(output, -1) {
		n, _ := strconv.Atoi(m[1])
		found = append(found, n+1)
	}
	return found
}

// buildPools compiles the tests of the pools as go test does.
func buildPools(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "pools.test")
	if out, err := exec.Command("go", "test", "-c", "-o", name, "./"+pools).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return name
}

// byPlainKit says in how many of n processes of go test the kit finds the mistake.
// Nothing is wanted of it: it depends on the machine.
func byPlainKit(binary, test string, n int) string {
	failed := 0
	for range n {
		if exec.Command(binary, "-test.run=^"+test+"$").Run() != nil {
			failed++
		}
	}
	return fmt.Sprintf("%d of %d", failed, n)
}
