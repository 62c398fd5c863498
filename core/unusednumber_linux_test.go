package core_test

import (
	"fmt"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// A loop that cannot be made takes no number: the generated names of loops have no gap.
func TestALoopThatIsNotMadeTakesNoNumber(t *testing.T) {
	number := func() (n int) {
		l, _ := modelLoop(t)
		if _, err := fmt.Sscanf(l.Name(), "loop-%d", &n); err != nil {
			t.Fatalf("the name of a loop is %q, want loop- and a number", l.Name())
		}
		return n
	}
	before := number()
	if l, err := core.NewEventLoop(core.WithPoller(core.NewParkPoller(nil))); err == nil {
		t.Fatalf("NewEventLoop with a poller that watches no descriptors: %v, want an error", l)
	}
	coretest.Want(t, "the number of the next loop", number(), before+1)
}
