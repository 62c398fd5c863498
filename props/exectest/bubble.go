package exectest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
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
	hung    bool    // it did not come to rest within the kit's patience
	early   int     // goroutines of the subject before its first use, see counter
	left    int     // goroutines of the subject after done, see counter
	done    bool    // Done was closed
	err     error   // there is nothing to judge, or the log makes no sense
	verdict verdict // of a hammer
}

// execute runs the program on a fresh subject. Counting goroutines exactly costs more
// than most runs, so it is asked for; see counter.
func execute(factory func() Subject, p program, c *config, exact bool) run {
	return carryOut(c, func(alive func(bool) func() int) run { return oneRun(factory, p, c, alive(exact)) })
}

// carryOut calls f in a bubble, or in real time, and returns what it does. It
// returns after the kit's patience at the latest; goroutines that are stuck then
// stay so. f is given what makes a counter of its goroutines.
func carryOut(c *config, f func(alive func(bool) func() int) run) run {
	finished := make(chan run, 1) // buffered: nobody may be waiting any more
	go func() {
		r := run{err: errCutShort}
		defer func() { finished <- r }()
		label := strconv.FormatInt(runs.Add(1), 10)
		pprof.Do(context.Background(), pprof.Labels(labelKey, label), func(context.Context) {
			inBubble(c, func() { r = f(func(exact bool) func() int { return counter(c, label, exact) }) })
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

// Reasons for a run of which there is nothing to judge.
var (
	errNoSubject = errors.New("the factory returned nil, want a fresh Subject")
	errCutShort  = errors.New("the run was cut short by runtime.Goexit: t.Fatal or t.Skip in the factory, or in a method of the subject")
)

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
	s, err := fresh(factory)
	if err != nil {
		return run{err: err}
	}
	settle()
	r := run{early: alive() - base}
	d := newDriver(s, c)
	d.drive(p, settle)
	r.history, r.err = history.Of(d.log.Events(), c.rules(s))
	if closed(s.Done()) {
		settle()
		r.left, r.done = alive()-base, true
	}
	abandon(s)
	return r
}

// fresh calls the factory. A nil pointer in a Subject is none either.
func fresh(factory func() Subject) (Subject, error) {
	s := factory()
	if v := reflect.ValueOf(s); s == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, errNoSubject
	}
	return s, nil
}

func abandon(s Subject) {
	if a, ok := s.(Abandoner); ok {
		a.Abandon()
	}
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
