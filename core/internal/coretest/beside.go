package coretest

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Step is how long each operation of the surroundings takes in the tests of calls beside each other: a reading of a clock, a
// system call, a method of a handler, a listener, a body.
const Step = 10 * time.Millisecond

// TakeStep lets one Step of virtual time pass.
func TakeStep() { Pass(Step) }

// Pass lets d of virtual time pass. Outside a bubble of testing/synctest it panics, as a sleep in real time synchronises nothing.
func Pass(d time.Duration) {
	if now := time.Now(); now.Year() > 2009 { // bubbles begin in the year 2000
		panic(fmt.Sprintf("coretest: Pass is called at %v, want a call in a bubble", now))
	}
	time.Sleep(d) // of the bubble
}

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
func CallBeside(n int, first func(), second func(k int)) {
	var calls sync.WaitGroup
	calls.Go(first)
	for k := range n {
		calls.Go(func() {
			Pass(Step/2 + time.Duration(k)*Step)
			second(k)
		})
	}
	calls.Wait()
}
