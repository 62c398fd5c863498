package core

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// TestChecksAt: Execute checks the loop at powers of two and at multiples of yieldEvery, and not at
// the short backlogs that are usual.
func TestChecksAt(t *testing.T) {
	var at []int
	for n := range 1025 {
		if checksAt(n) {
			at = append(at, n)
		}
	}
	if want := []int{8, 16, 32, 64, 128, 256, 512, 768, 1024}; !slices.Equal(at, want) {
		t.Errorf("Execute checks backlogs of %d tasks, want %d", at, want)
	}
}

// TestMustYield: a producer yields if its tasks have made no progress for long enough since the
// first check, and at each multiple of yieldEvery.
func TestMustYield(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w backlogWatch
		for _, c := range []struct {
			what     string
			after    time.Duration
			n        int
			progress int64
			want     bool
		}{
			{"the first check", 0, firstCheck, 5, false},
			{"too early", notRunning - 1, 16, 5, false},
			{"no progress", 1, 32, 5, true},
			{"still no progress", 0, 64, 5, true},
			{"a task has begun", 0, 128, 6, false},
			{"a long backlog", 0, 256, 7, true},
			{"a task has begun since the last check", notRunning, 128, 8, false},
			{"another backlog, whose first task may be new", notRunning, firstCheck, 8, false},
			{"too early again", 0, 16, 8, false},
			{"a very long backlog", 0, 512, 8, true},
		} {
			time.Sleep(c.after)
			if got := w.mustYield(c.n, c.progress); got != c.want {
				t.Errorf("%s: with %d tasks mustYield is %v, want %v", c.what, c.n, got, c.want)
			}
		}
	})
}

// TestPropUptime: uptime advances with the clock that timers use.
func TestPropUptime(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		waits := rapid.SliceOfN(rapid.Int64Range(0, int64(time.Hour)), 1, 5).Draw(rt, "waits")
		wrong := ""
		synctest.Test(t, func(*testing.T) {
			begin, want := uptime(), time.Duration(0)
			for _, d := range waits {
				time.Sleep(time.Duration(d))
				want += time.Duration(d)
				if got := uptime() - begin; got != want {
					wrong = fmt.Sprintf("uptime has advanced by %v, want %v", got, want)
				}
			}
		})
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

// TestPropSlowYields: slow yields have a credit of slowCredit, which each of them uses up by the time that
// it takes, and which one part in slowShare of the time fills again. Nobody yields while it is overdrawn.
func TestPropSlowYields(t *testing.T) {
	const full = slowShare * slowCredit // in units of a share of the time
	type step struct{ wait, took time.Duration }
	waits := rapid.OneOf(rapid.Just(time.Duration(0)), rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.IntRange(0, 4).Draw(t, "quarters"))*full/4 + time.Duration(rapid.IntRange(-1, 1).Draw(t, "beside"))
	}))
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
			took := slowCredit / 4 * time.Duration(rapid.IntRange(0, 6).Draw(t, "took")) // 0: no slow yield
			return step{wait: max(waits.Draw(t, "wait"), 0), took: took}
		}), 1, 20).Draw(rt, "steps")
		var wrong string
		synctest.Test(t, func(*testing.T) {
			var w backlogWatch
			credit := time.Duration(full)
			for i, s := range steps {
				time.Sleep(s.wait)
				credit = min(credit+s.wait, full)
				if s.took > 0 {
					w.pay(s.took)
					credit -= slowShare * s.took
				}
				if got := w.mustYield(yieldEvery, int64(i)); got != (credit >= 0) {
					wrong = fmt.Sprintf("step %d of %v: mustYield is %v with a credit of %v", i, steps, got, credit/slowShare)
					return
				}
			}
		})
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

// TestPropMustYield: a producer yields at each multiple of yieldEvery, and at another check if the progress has been the
// same for notRunning, since the first check of the backlog or since it was seen first.
func TestPropMustYield(t *testing.T) {
	type check struct {
		wait     time.Duration
		n        int
		progress int64
	}
	checks := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) check {
		return check{
			wait:     rapid.SampledFrom([]time.Duration{0, 1, notRunning / 2, notRunning - 1, notRunning, notRunning + 1}).Draw(t, "wait"),
			n:        rapid.SampledFrom([]int{firstCheck, 16, 32, 128, 256, 512, 768, 1024}).Draw(t, "tasks"),
			progress: rapid.Int64Range(0, 2).Draw(t, "progress"),
		}
	}), 1, 10)
	rapid.Check(t, func(rt *rapid.T) {
		all := checks.Draw(rt, "checks")
		all[0].n = firstCheck // a backlog begins with it
		var wrong string
		synctest.Test(t, func(*testing.T) {
			var w backlogWatch
			same := time.Duration(0) // for how long the progress has been the same
			for i, c := range all {
				time.Sleep(c.wait)
				same += c.wait
				if c.n == firstCheck || c.progress != all[i-1].progress {
					same = 0
				}
				want := c.n%yieldEvery == 0 || same >= notRunning
				if got := w.mustYield(c.n, c.progress); got != want {
					wrong = fmt.Sprintf("check %d of %+v: mustYield is %v, want %v", i, all, got, want)
					return
				}
			}
		})
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}
