package exectest

import (
	"context"
	"fmt"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/props/history"
)

// run is what came of one program on one subject.
type run struct {
	history *history.History
	hung    bool  // it did not come to rest within the kit's patience
	early   int   // goroutines of the subject before its first use, if counted
	left    int   // goroutines of the subject after done, if counted
	done    bool  // Done was closed
	err     error // the log makes no sense
}

// execute runs the program on a fresh subject, in a bubble or in real time. It
// returns after the kit's patience at the latest; goroutines that are stuck
// then stay so. Counting goroutines costs more than most runs, so it is asked for.
func execute(factory func() Subject, p program, c *config, count bool) run {
	finished := make(chan run, 1) // buffered: nobody may be waiting any more
	go func() {
		var r run
		defer func() { finished <- r }()
		label := strconv.FormatInt(runs.Add(1), 10)
		pprof.Do(context.Background(), pprof.Labels(labelKey, label), func(context.Context) {
			inBubble(c, func() { r = oneRun(factory, p, c, counter(c, label, count)) })
		})
	}()
	patience := time.NewTimer(c.patience)
	defer patience.Stop()
	select {
	case r := <-finished:
		return r
	case <-patience.C:
		return run{hung: true}
	}
}

// inBubble calls f in a bubble, or plainly in real time. A bubble whose subject
// leaves goroutines behind ends in a panic of synctest; what f has found by then
// stands, so it is enough to get out.
func inBubble(c *config, f func()) {
	if c.realTime {
		f()
		return
	}
	defer func() {
		if r := recover(); r != nil && !strings.Contains(fmt.Sprint(r), "blocked goroutines remain") {
			panic(r)
		}
	}()
	synctest.Test(c.testingT(), func(*testing.T) { f() })
}

// testingT is the test that bubbles belong to. synctest asks for one, and for
// Check, which may be called outside of any test, an empty one serves: nothing
// is ever reported to it. TestCheckOutsideTests keeps this so.
func (c *config) testingT() *testing.T {
	if c.t != nil {
		return c.t
	}
	return new(testing.T)
}

func oneRun(factory func() Subject, p program, c *config, alive func() int) run {
	settle := c.settle()
	base := alive()
	s := factory()
	settle()
	r := run{early: alive() - base}
	d := newDriver(s, c)
	d.drive(p, settle)
	r.history, r.err = history.Of(d.log.Events(), c.rules(s))
	if closed(s.Done()) {
		settle()
		r.left, r.done = alive()-base, true
	}
	if a, ok := s.(Abandoner); ok {
		a.Abandon()
	}
	return r
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// settle returns a function that returns when nothing moves any more. In real
// time nobody can tell, so it gives the subject a while.
func (c *config) settle() func() {
	if c.realTime {
		return func() { time.Sleep(unit) }
	}
	return synctest.Wait
}

// rules are those that the subject's log is judged under.
func (c *config) rules(s Subject) history.Rules {
	return history.Rules{
		Parts:      parts(s),
		Virtual:    !c.realTime,
		AtRest:     true,
		QueueBound: c.queueBound,
		Timers:     c.timers,
	}
}

// runs numbers the runs of the process.
var runs atomic.Int64
