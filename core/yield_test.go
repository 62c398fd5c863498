package core

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
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

// TestSlowYields: slow yields take one part in slowShare of the time in the long run, after a credit.
func TestSlowYields(t *testing.T) {
	const slice = slowCredit / 2
	synctest.Test(t, func(t *testing.T) {
		var w backlogWatch
		for _, c := range []struct {
			what  string
			after time.Duration
			slow  int // yields of a slice that are taken then
			want  bool
		}{
			{"no slow yield", 0, 0, true},
			{"half of the credit is used", 0, 1, true},
			{"the credit is used", 0, 1, true},
			{"it is used and more", 0, 1, false},
			{"the share has nearly covered it", slowShare*slice - 1, 0, false},
			{"the share has covered it", 1, 0, true},
			{"the next slow yield", 0, 1, false},
			{"much later", 1000 * slowShare * slice, 0, true},
			{"a long time saves no more than the credit", 0, 2, true},
			{"it is used and more again", 0, 1, false},
		} {
			time.Sleep(c.after)
			for range c.slow {
				w.pay(slice)
			}
			if got := w.mustYield(yieldEvery, 8); got != c.want {
				t.Errorf("%s: mustYield is %v, want %v", c.what, got, c.want)
			}
		}
	})
}
