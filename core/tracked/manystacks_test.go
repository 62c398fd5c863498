package tracked

import (
	"context"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"eventide/core/internal/coretest"
)

// aFunctionWhoseLongNameMakesTheTextOfAStackLong calls f below so many calls of its own.
func aFunctionWhoseLongNameMakesTheTextOfAStackLong(calls int, f func()) {
	if calls > 0 {
		aFunctionWhoseLongNameMakesTheTextOfAStackLong(calls-1, f)
	} else {
		f()
	}
}

// TestRunningOfManyStacks: Running finds all stacks if those of the process have nearly 4 MiB together. A quarter of
// them is of functions that it names, so some of these are among the last.
func TestRunningOfManyStacks(t *testing.T) {
	var g, others Group
	over, started, waiting := make(chan struct{}), int64(0), atomic.Int64{}
	wait := func(context.Context) error {
		aFunctionWhoseLongNameMakesTheTextOfAStackLong(90, func() { waiting.Add(1); <-over })
		return nil
	}
	for all := make([]byte, 4<<20); runtime.Stack(all, true) < 4<<20*7/8; {
		for range 3 { // not one by one: a dump takes long
			for _, group := range []*Group{&others, &g, &others, &others} {
				coretest.Must(t, group.Go("waits", wait))
				started++
			}
		}
		coretest.Until(t, "the calls of the functions", func() bool { return waiting.Load() == started })
	}
	if n := len(g.Functions()); n > mostNamed {
		t.Fatalf("%d functions, want at most %d: make their stacks longer", n, mostNamed)
	}
	text := g.Running()
	close(over)
	if n := strings.Count(text, "(stack not found)"); n > 0 {
		t.Errorf("%d of %d stacks are not found", n, strings.Count(text, " runs since "))
	}
	coretest.Must(t, g.Close())
	coretest.Must(t, others.Close())
}
