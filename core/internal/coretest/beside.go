package coretest

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// InNamedBubble runs f in a bubble of testing/synctest. A failure of f ends the test, as with synctest.Test, and the log of the test
// then has the name.
func InNamedBubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Helper()
	defer func() { // deferred: synctest.Test calls t.FailNow
		if t.Failed() {
			t.Log("failed:", name)
		}
	}()
	synctest.Test(t, f)
}

// CallBeside calls first on a goroutine and second on n others, and returns when all calls have returned. Call k of second begins after
// k and a half steps. In a bubble, virtual time orders the calls and nothing else does: a sleep makes a call come later, but not
// happen after another one. So the race detector reports each access of the calls that no lock or atomic of theirs orders.
func CallBeside(step time.Duration, n int, first func(), second func(k int)) {
	var calls sync.WaitGroup
	calls.Go(first)
	for k := range n {
		calls.Go(func() {
			time.Sleep(step/2 + time.Duration(k)*step) // of the bubble
			second(k)
		})
	}
	calls.Wait()
}
