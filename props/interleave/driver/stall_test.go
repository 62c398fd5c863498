//go:build linux

package driver

import (
	"os/exec"
	"testing"
	"time"
)

// A process of which the engine says that it waits for the kernel is undecided, even if a
// thread of it is ready to run, as the watcher's may be on a machine with much other work.
func TestStallOfAProcessThatWaits(t *testing.T) {
	cmd := exec.Command("sh", "-c", "while :; do :; done")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill() // it runs until then
		_ = cmd.Wait()
	}()
	for _, c := range []struct {
		away    bool
		left    time.Duration
		over    bool
		verdict string
	}{
		{true, time.Hour, false, verdictOutside},
		{true, 0, true, verdictOutside},
		{false, time.Hour, true, verdictHung},
	} {
		s := &stall{pid: cmd.Process.Pid, limit: time.Second, until: time.Now().Add(c.left)}
		over := s.over(c.away)
		if verdict, _ := s.finding(); over != c.over || verdict != c.verdict {
			t.Errorf("%+v: over %v, %s", c, over, verdict)
		}
	}
}
