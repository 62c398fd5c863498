package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"eventide/props/interleave/driver"
)

// A failure that needs state of earlier schedules is found, and the report says how many
// of them have to run before.
func TestStateOfTheProcess(t *testing.T) {
	module(t, "x_test.go", `package x

import "testing"

var runs int

func TestState(t *testing.T) {
	if runs++; runs == 9 {
		t.Fatal("the ninth run fails")
	}
}
`)
	out := want(t, driver.ExitFinding, []string{"test", "-schedules", "50"}, "the ninth run fails",
		"does not repeat alone: state of the process; it repeats after ", "in the same process")
	m := replayLine.FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("no replay line\n%s", out)
	}
	want(t, driver.ExitFinding, []string{"replay", m[1]}, "reproduced: the verdict and the message of the file")
	want(t, driver.ExitNothing, []string{"test", "-fresh", "-schedules", "50"}, "50 schedules")
}

const guarded = `package x

import (
	"testing"
	"time"
)

func TestGuard(t *testing.T) {
	done := make(chan bool)
	go func() {
		for range 10 {
			time.Now()
		}
		done <- true
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Millisecond):
		<-done
		t.Fatal("too slow")
	}
}
`

// A guard that only a slow machine lets expire is no finding while time moves only when
// nobody can run. If timers may expire early, the finding is said to depend on timing.
func TestTiming(t *testing.T) {
	module(t, "x_test.go", guarded)
	want(t, driver.ExitNothing, []string{"test", "-schedules", "300"}, "ok  \texample.com/x")
	want(t, driver.ExitFinding, []string{"test", "-schedules", "300", "-time", "mixed"}, "too slow", "depends on timing")
	out := want(t, driver.ExitFinding, []string{"hunt", "-run", "TestGuard", "-schedules", "300"}, "searching with -time mixed", "depends on timing")
	if strings.Count(out, "FAIL\texample.com/x") != 1 {
		t.Errorf("the first search failed\n%s", out)
	}
}

// The switches that a finding does not need are left out.
func TestMinimised(t *testing.T) {
	module(t, "x_test.go", lost)
	want(t, driver.ExitFinding, []string{"test", "-schedules", "200", "-strategy", "walk"}, "confirmed in a fresh process with 1 switch of ")
}

const long = `package x

import (
	"sync"
	"sync/atomic"
	"testing"
)

func TestLong(t *testing.T) {
	var n, m atomic.Int64
	var wg sync.WaitGroup
	items := make(chan int)
	for range 2 {
		wg.Go(func() {
			for i := range 300 {
				if i == 150 {
					n.Store(n.Load() + 1)
				} else {
					m.Add(1)
				}
			}
		})
	}
	wg.Go(func() {
		for i := range 300 {
			items <- i
		}
		close(items)
	})
	for range items {
		m.Add(1)
	}
	wg.Wait()
	if n.Load() != 2 {
		t.Fatalf("%d updates of 2", n.Load())
	}
}
`

var confirmedWith = regexp.MustCompile(`confirmed in a fresh process with (\d+) switch(?:es)? of (\d+)`)

// A finding in a long schedule keeps one or two of its hundreds of switches, whatever the
// strategy, within ten seconds.
func TestLongScheduleIsMinimised(t *testing.T) {
	module(t, "x_test.go", long)
	for _, strategy := range []string{"walk", "pct3", "surw"} {
		var reports []driver.Report
		_, err := driver.Test(driver.Options{Schedules: 3000, FailFast: true, Strategy: strategy, Seed: 2, Exhaust: -1, Report: func(r driver.Report) { reports = append(reports, r) }})
		if err != nil || len(reports) != 1 || len(reports[0].Findings) != 1 {
			t.Fatalf("%s: %v, %+v, want one finding", strategy, err, reports)
		}
		f := reports[0].Findings[0]
		if f.Before < 100 || f.Switches < 1 || f.Switches > 2 || f.Minimising > 10*time.Second {
			t.Errorf("%s: %d of %d switches left after %v\n%s", strategy, f.Switches, f.Before, f.Minimising, reports[0].Text)
		}
		m := confirmedWith.FindStringSubmatch(reports[0].Text)
		if m == nil || m[1] != fmt.Sprint(f.Switches) || m[2] != fmt.Sprint(f.Before) {
			t.Errorf("%s: the page does not say that %d of %d switches are left\n%s", strategy, f.Switches, f.Before, reports[0].Text)
		}
	}
}

var shortTrace = regexp.MustCompile(`\n +\d{1,5} operations, `)

// A schedule that does not end is shown within seconds: its trace has thousands of
// operations and not millions.
func TestEndlessScheduleIsShown(t *testing.T) {
	module(t, "x_test.go", `package x

import (
	"sync/atomic"
	"testing"
)

func TestSpin(t *testing.T) {
	var done atomic.Bool
	for !done.Load() {
	}
}

func TestEnds(*testing.T) {}
`)
	begin := time.Now()
	if _, err := driver.Test(driver.Options{Run: "^TestEnds$", Schedules: 10, Exhaust: -1, Report: func(driver.Report) {}}); err != nil {
		t.Fatal(err)
	}
	here := time.Since(begin) // what building and starting take on this machine
	var reports []driver.Report
	_, err := driver.Test(driver.Options{Run: "^TestSpin$", Schedules: 10, FailFast: true, Exhaust: -1, Timeout: 3*time.Second + 3*here, Report: func(r driver.Report) { reports = append(reports, r) }})
	if err != nil || len(reports) != 1 || len(reports[0].Findings) != 1 {
		t.Fatalf("%v, %+v, want one finding", err, reports)
	}
	if r := reports[0]; r.Findings[0].Verdict != "livelock" || !shortTrace.MatchString(r.Text) || !strings.Contains(r.Text, "10 for !done.Load() {") {
		t.Errorf("shown after %v\n%s", r.Took, r.Text)
	}
}

// The warm-up of a process fails if the default schedule does. Then processes have none,
// which the report says, and a regression file from a process with a warm-up is replayed
// without.
func TestWarmUpFails(t *testing.T) {
	dir := module(t, "x_test.go", lost)
	want(t, driver.ExitFinding, []string{"test", "-write", "-schedules", "200"}, "1 updates of 2")

	both := strings.Replace(lost, "\twg.Wait()\n", "\twg.Wait()\n\tif n.Load() == 2 {\n\t\tt.Fatal(\"both counted\")\n\t}\n", 1)
	write(t, filepath.Join(dir, "x_test.go"), both)
	files, err := filepath.Glob("testdata/interleave/*.replay")
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v, want one file", files, err)
	}
	want(t, driver.ExitFinding, []string{"replay", files[0]}, "1 updates of 2",
		"reproduced: the verdict and the message of the file, in a process without a warm-up: the default schedule fails (x_test.go:17: both counted)")
	want(t, driver.ExitFinding, []string{"test", "-schedules", "50"}, "both counted", "1 updates of 2",
		"the default schedule fails, so processes have no warm-up")

	write(t, filepath.Join(dir, "x_test.go"), strings.Replace(both, "\tvar wg ", "\tif n.Load() == 0 {\n\t\tt.Fatal(\"always\")\n\t}\n\tvar wg ", 1))
	want(t, driver.ExitFinding, []string{"replay", files[0]}, "reproduced: the schedule fails in another way: x_test.go:12: always instead of x_test.go:17: 1 updates of 2",
		"in a process without a warm-up")
}
