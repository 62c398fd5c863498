package driver

import (
	"testing"
	"time"

	"eventide/props/interleave/protocol"
)

// A progress record that comes behind the summary, from another thread, changes nothing:
// the process ended in order, and each schedule counts once.
func TestProgressBehindSummary(t *testing.T) {
	watch := newWatchdog(time.Hour, func(bool) bool { return false }, func() {})
	defer watch.stop()
	e := &ending{}
	for _, line := range []string{"progress schedules=3", "summary schedules=5", "progress schedules=5"} {
		r, err := protocol.ParseRecord(line)
		if err == nil {
			err = e.take(r, watch)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if !e.summary || e.counts.Schedules != 5 {
		t.Errorf("summary %v, %d schedules, want the summary's 5", e.summary, e.counts.Schedules)
	}
}
