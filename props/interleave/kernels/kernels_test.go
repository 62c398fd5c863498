package kernels

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"eventide/props/interleave/driver"
)

// A result is how one kernel ended, with all that was printed of it.
type result struct{ action, output string }

// explore explores the kernels that the options select.
func explore(t *testing.T, o driver.Options) map[string]*result {
	t.Helper()
	var out bytes.Buffer
	o.Dir, o.JSON, o.Leaks, o.Exhaust = "testdata/kernels", true, true, -1
	o.Stdout, o.Stderr = &out, &out
	if code, err := driver.Test(o); err != nil {
		t.Fatalf("exit code %d: %v", code, err)
	}
	results := map[string]*result{}
	for d := json.NewDecoder(&out); ; {
		var e struct{ Action, Test, Output string }
		if err := d.Decode(&e); errors.Is(err, io.EOF) {
			return results
		} else if err != nil {
			t.Fatal(err)
		}
		if e.Test == "" {
			continue
		}
		r := results[e.Test]
		if r == nil {
			r = &result{}
			results[e.Test] = r
		}
		r.output += e.Output
		if e.Action != "output" {
			r.action = e.Action
		}
	}
}

// mostSchedules is the most schedules until the bug of a kernel must be found.
const mostSchedules = 500

// Every bug is found, with its verdict, and confirmed in a fresh process.
func TestBugsAreFound(t *testing.T) {
	for _, race := range []bool{false, true} {
		o := driver.Options{Schedules: mostSchedules, FailFast: true, Race: race, Skip: "Repaired$|^TestRace"}
		if race {
			o.Skip, o.Run = "Repaired$", "^TestRace"
		}
		results := explore(t, o)
		for name, wanted := range Verdicts() {
			if strings.HasPrefix(name, "TestRace") == race {
				judge(t, name, wanted, results[name])
			}
		}
	}
}

func judge(t *testing.T, name string, wanted []string, r *result) {
	t.Helper()
	if r == nil {
		t.Errorf("%s: there is no such kernel", name)
		return
	}
	if r.action != "fail" {
		t.Errorf("%s: not found in %d schedules\n%s", name, mostSchedules, r.output)
		return
	}
	found := false
	for _, verdict := range wanted {
		found = found || strings.Contains(r.output, "    "+verdict+": ")
	}
	if !found {
		t.Errorf("%s: want one of the verdicts %v\n%s", name, wanted, r.output)
	}
	if !strings.Contains(r.output, "confirmed in a fresh process with") {
		t.Errorf("%s: not confirmed by minimal switches in a fresh process\n%s", name, r.output)
	}
}

// A finding of a strategy that draws every decision keeps a few switches, and the search
// for them takes a few seconds of processor time.
func TestFindingsAreMinimised(t *testing.T) {
	const mostSwitches, mostTime = 3, 10 * time.Second
	found := 0
	o := driver.Options{Schedules: 2 * mostSchedules, FailFast: true, Skip: "Repaired$|^TestRace", Strategy: "walk"}
	o.Report = func(r driver.Report) {
		for _, f := range r.Findings {
			found++
			t.Logf("%-28s %3d switches, %d left, %v", r.Test, f.Before, f.Switches, f.Processor.Round(time.Millisecond))
			if f.Switches < 0 || f.Switches > mostSwitches || f.Processor <= 0 || f.Processor > mostTime {
				t.Errorf("%s: %d switches left after %v, want at most %d after at most %v\n%s", r.Test, f.Switches, f.Processor, mostSwitches, mostTime, r.Text)
			}
		}
	}
	explore(t, o)
	if want := len(Verdicts()) - 5; found < want {
		t.Errorf("%d findings, want %d", found, want)
	}
}

// Nothing is found in the repaired kernels, with the race detector and without.
func TestRepairedAreClean(t *testing.T) {
	for _, race := range []bool{false, true} {
		o := driver.Options{Schedules: 1000, Race: race, Run: "Repaired$"}
		if race {
			o.Schedules = 200
		}
		results := explore(t, o)
		for name := range Verdicts() {
			r := results[name+"Repaired"]
			if r == nil {
				t.Errorf("%s has no repaired twin", name)
			} else if r.action != "pass" {
				t.Errorf("%sRepaired, race detector %v: %s\n%s", name, race, r.action, r.output)
			}
		}
		if len(results) != len(verdicts) {
			t.Errorf("%d repaired kernels of %d verdicts", len(results), len(verdicts))
		}
	}
}

// TestMain gives the tests a cache of their own.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "interleave")
	if err != nil {
		panic(err)
	}
	os.Setenv("INTERLEAVE_CACHE", dir)
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		panic(err)
	}
	os.Exit(code)
}
