package scale

import (
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"eventide/bench"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestEachCurveIsMeasured runs one curve of each kind, as small as it goes. A number of
// connections that no process may have is not run, and says why.
func TestEachCurveIsMeasured(t *testing.T) {
	curves, err := Measure(Options{
		Rounds: MinRounds, Tasks: 1000, Slice: time.Millisecond, Connections: []int{1, 3, 1 << 40},
		Run: regexp.MustCompile(`^(tasks/impl=core|echo/impl=core)/loops=1$`), Progress: io.Discard,
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(curves) != 2 {
		t.Fatalf("got %d curves, want 2", len(curves))
	}
	for _, c := range curves {
		for _, p := range c.Points {
			if p.NotRun != "" {
				if p.N != 1<<40 || !strings.Contains(p.NotRun, "descriptors") {
					t.Errorf("%s, %d: not run because %q", c.Name, p.N, p.NotRun)
				}
				continue
			}
			if p.Rounds != MinRounds || p.Median <= 0 || p.Low > p.Median || p.High < p.Median {
				t.Errorf("%s: got %+v, want a positive median of %d rounds within its interval", c.Name, p, MinRounds)
			}
		}
	}
}

// TestProducersAreDivided: with fewer producers than executors some have none, and all tasks
// run on the others.
func TestProducersAreDivided(t *testing.T) {
	for _, c := range []tasks{
		{loops: 3, producers: 1, perSlice: 100, open: bench.NewMutex},
		{loops: 2, producers: 5, perSlice: 100, open: bench.NewMutex},
	} {
		v, err := c.run()
		if err != nil || v <= 0 {
			t.Errorf("%d producers of %d executors: got %v tasks/s, %v", c.producers, c.loops, v, err)
		}
	}
}

func TestBadOptions(t *testing.T) {
	if _, err := Measure(Options{Rounds: MinRounds - 1}); err == nil || !strings.Contains(err.Error(), "9 rounds, want at least 10") {
		t.Errorf("9 rounds: got %v", err)
	}
	if _, err := Measure(Options{Rounds: MinRounds, Run: regexp.MustCompile("nothing")}); err == nil || !strings.Contains(err.Error(), "no curve matches nothing") {
		t.Errorf("no curve: got %v", err)
	}
}

func TestMeasuredTimes(t *testing.T) {
	if got := Locked(); got <= 0 {
		t.Errorf("a locked instruction: got %v, want more than 0", got)
	}
	if got := Transfer(); got < 0 {
		t.Errorf("a transfer: got %v, want a time, or 0 on one processor", got)
	}
}
