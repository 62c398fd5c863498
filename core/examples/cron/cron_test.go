package cron_test

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	_ "time/tzdata" // the test needs the zones on every system

	"eventide/core"
	"eventide/core/examples/cron"
)

func ExampleSchedule() {
	ex, err := core.NewExecutor()
	if err != nil {
		fmt.Println(err)
		return
	}
	job, err := cron.Schedule(ex, "CRON_TZ=UTC 30 2 * * *", func() { fmt.Println("the daily report") })
	if err != nil {
		fmt.Println(err)
		return
	}
	next, _ := job.Next()
	fmt.Println(next.UTC().Round(time.Second).Format("15:04"))
	job.Stop()
	fmt.Println(ex.Close())
	// Output:
	// 02:30
	// <nil>
}

const zone = "America/New_York"

// runsBetween returns when the expression runs task between two times of the zone, in virtual
// time.
func runsBetween(t *testing.T, expression, from, to string, task func()) (runs []string) {
	t.Helper()
	place, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	instant := func(text string) time.Time {
		at, err := time.ParseInLocation(time.DateTime, text, place)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	synctest.Test(t, func(t *testing.T) {
		ex, err := core.NewExecutor(core.WithLogger(slog.New(slog.DiscardHandler)))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Until(instant(from)))
		job, err := cron.Schedule(ex, "CRON_TZ="+zone+" "+expression, func() {
			runs = append(runs, time.Now().In(place).Format("01-02 15:04:05 MST"))
			task()
		})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Until(instant(to)))
		synctest.Wait()
		job.Stop()
		if err := ex.Close(); err != nil {
			t.Fatal(err)
		}
	})
	return runs
}

func TestRuns(t *testing.T) {
	for _, tt := range []struct {
		name, expression, from, to string
		task                       func()
		want                       string
	}{
		{"daily", "30 2 * * *", "2026-06-01 00:00:00", "2026-06-03 02:30:00", func() {},
			"06-01 02:30:00 EDT, 06-02 02:30:00 EDT, 06-03 02:30:00 EDT"},
		{"a descriptor", "@hourly", "2026-06-01 00:30:00", "2026-06-01 02:30:00", func() {},
			"06-01 01:00:00 EDT, 06-01 02:00:00 EDT"},
		// On 8 March the clocks go from 02:00 EST to 03:00 EDT: 02:30 does not exist.
		{"a gap", "30 2 * * *", "2026-03-07 00:00:00", "2026-03-10 00:00:00", func() {},
			"03-07 02:30:00 EST, 03-09 02:30:00 EDT"},
		{"hourly over a gap", "30 * * * *", "2026-03-08 01:00:00", "2026-03-08 04:00:00", func() {},
			"03-08 01:30:00 EST, 03-08 03:30:00 EDT"},
		// On 1 November they go from 02:00 EDT to 01:00 EST: 01:30 occurs twice.
		{"an overlap", "30 1 * * *", "2026-10-31 00:00:00", "2026-11-03 00:00:00", func() {},
			"10-31 01:30:00 EDT, 11-01 01:30:00 EDT, 11-01 01:30:00 EST, 11-02 01:30:00 EST"},
		{"hourly over an overlap", "30 * * * *", "2026-11-01 01:00:00", "2026-11-01 03:00:00", func() {},
			"11-01 01:30:00 EDT, 11-01 01:30:00 EST, 11-01 02:30:00 EST"},
		{"a task of 150 s", "* * * * *", "2026-06-01 00:00:00", "2026-06-01 00:08:00", func() { time.Sleep(150 * time.Second) },
			"06-01 00:01:00 EDT, 06-01 00:04:00 EDT, 06-01 00:07:00 EDT"},
		{"panics", "* * * * *", "2026-06-01 00:00:00", "2026-06-01 00:02:00", func() { panic("contained") },
			"06-01 00:01:00 EDT, 06-01 00:02:00 EDT"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.Join(runsBetween(t, tt.expression, tt.from, tt.to, tt.task), ", "); got != tt.want {
				t.Errorf("%q runs at\n%s, want\n%s", tt.expression, got, tt.want)
			}
		})
	}
}

// A job ends with its executor: a shutdown cancels the timer, and Close does not wait for it.
func TestShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ex, err := core.NewExecutor()
		if err != nil {
			t.Fatal(err)
		}
		runs := 0
		job, err := cron.Schedule(ex, "@hourly", func() {
			if runs++; runs == 2 {
				ex.Shutdown() // the next run is refused
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		<-ex.Termination().Done()
		if next, ok := job.Next(); runs != 2 || ok {
			t.Errorf("%d runs, and the next one at %v", runs, next)
		}
		job.Stop()
	})
}

// A shutdown cancels the waiting timer, and the job has no next time.
func TestShutdownBetweenRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ex, err := core.NewExecutor()
		if err != nil {
			t.Fatal(err)
		}
		job, err := cron.Schedule(ex, "@hourly", func() { t.Error("it ran") })
		if err != nil {
			t.Fatal(err)
		}
		if err := ex.Close(); err != nil {
			t.Fatal(err)
		}
		if next, ok := job.Next(); ok {
			t.Errorf("next at %v, want none", next)
		}
	})
}

func TestErrors(t *testing.T) {
	ex, err := core.NewExecutor()
	if err != nil {
		t.Fatal(err)
	}
	defer ex.Close()
	for expression, want := range map[string]string{
		"30 2 * *":            "cron: expected exactly 5 fields",
		"61 2 * * *":          "cron: end of range (61) above maximum (59)",
		"CRON_TZ=X * * * * *": "cron: provided bad location X",
	} {
		if _, err := cron.Schedule(ex, expression, func() {}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", expression, err, want)
		}
	}
	if _, err := cron.Schedule(ex, "0 0 30 2 *", func() {}); !errors.Is(err, cron.ErrNoTime) {
		t.Errorf("30 February: got %v, want ErrNoTime", err)
	}
	if _, err := cron.Schedule(ex, "@daily", nil); err == nil {
		t.Error("a nil task is accepted")
	}
	_ = ex.Close()
	if _, err := cron.Schedule(ex, "@daily", func() {}); !errors.Is(err, core.ErrShutdown) {
		t.Errorf("after the close: got %v, want ErrShutdown", err)
	}
}

// TestNoDependency: the module of eventide does not know the parser.
func TestNoDependency(t *testing.T) {
	text, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if i := slices.IndexFunc(strings.Split(string(text), "\n"), func(line string) bool { return strings.Contains(line, "robfig") }); i >= 0 {
		t.Errorf("go.mod names the parser in line %d", i+1)
	}
}
