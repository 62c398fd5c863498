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

// run is the result of one program on one subject.
type run struct {
	history *history.History
	hung    bool    // it did not end within the kit's patience
	early   int     // goroutines of the subject before its first use: see counter
	left    int     // goroutines of the subject after Done: see counter
	done    bool    // Done was closed
	refusal error   // the first error of Shutdown
	err     error   // why there is nothing to judge, or why the log is inconsistent
	verdict verdict // of a hammer
}

// execute runs the program on a fresh subject. With exact it counts goroutines exactly,
// which costs more than most runs: see counter.
func execute(factory func() Subject, p program, c *config, exact bool) run {
	return carryOut(c, func(alive func(bool) func() int) run { return oneRun(factory, p, c, alive(exact)) })
}

// carryOut calls f in a bubble, or in real time, and returns its result. It returns after
// the kit's patience at the latest, and then abandons the goroutines of f. f gets a
// function that makes a counter of its goroutines.
func carryOut(c *config, f func(alive func(bool) func() int) run) run {
	finished := make(chan run, 1) // buffered: carryOut may have returned
	go func() {
		r := run{err: errCutShort}
		defer func() { finished <- r }()
		label := strconv.FormatInt(runs.Add(1), 10)
		pprof.Do(context.Background(), pprof.Labels(labelKey, label), func(context.Context) {
			inBubble(c, func() { r = f(func(exact bool) func() int { return counter(c, label, exact) }) })
		})
	}()
	for range patienceParts {
		part := time.NewTimer(c.patience / patienceParts)
		select {
		case r := <-finished:
			part.Stop()
			return r
		case <-part.C:
		}
	}
	return run{hung: true}
}

// patienceParts is the number of timers that measure the kit's patience, one after the
// other. While the whole process is stopped, by SIGSTOP or because the machine sleeps, at
// most one of them expires.
const patienceParts = 20

// Reasons why there is nothing to judge in a run.
var (
	errNoSubject   = errors.New("the factory returned nil, want a fresh Subject")
	errSameSubject = errors.New("the factory returned the same Subject twice, want a fresh one for each program")
	errCutShort    = errors.New("the run was cut short by runtime.Goexit: t.Fatal or t.Skip in the factory, or in a method of the subject")
)

// inBubble calls f in a bubble, or directly in real time. If the subject leaves
// goroutines behind, synctest panics at the end of the bubble. f has stored its results
// by then, so the panic is ignored.
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

// testingT returns the test that bubbles belong to. synctest needs one. Check may be
// called outside of a test; then an empty one is enough, because nothing is reported to
// it. TestCheckOutsideTests checks that.
func (c *config) testingT() *testing.T {
	if c.t != nil {
		return c.t
	}
	return new(testing.T)
}

func oneRun(factory func() Subject, p program, c *config, alive func() int) run {
	settle := c.settle()
	base := alive()
	s, err := c.fresh(factory)
	if err != nil {
		return run{err: err}
	}
	settle()
	r := run{early: alive() - base}
	d := newDriver(s, c)
	d.drive(p, settle)
	if err := d.refusal.Load(); err != nil {
		r.refusal = *err
	}
	r.history, r.err = history.Of(d.log.Events(), c.rules(s))
	if closed(s.Done()) {
		settle()
		r.left, r.done = alive()-base, true
	}
	d.endIfUnasked()
	abandon(s)
	return r
}

// fresh calls the factory. A nil pointer in a Subject is an error too, and so is the subject
// that the last call returned: it may have ended, and its channels belong to another bubble.
func (c *config) fresh(factory func() Subject) (Subject, error) {
	s := factory()
	if isNil(s) {
		return nil, errNoSubject
	}
	if before := c.previous.Swap(&s); before != nil && same(reflect.ValueOf(s), reflect.ValueOf(*before)) {
		return nil, errSameSubject
	}
	return s, nil
}

func isNil(s Subject) bool {
	v := reflect.ValueOf(s)
	return s == nil || v.Kind() == reflect.Pointer && v.IsNil()
}

// same reports whether two subjects are one. Values of a type without fields are not: all of
// them are equal.
func same(a, b reflect.Value) bool {
	empty := a.Type().Size() == 0 || a.Kind() == reflect.Pointer && a.Type().Elem().Size() == 0
	return !empty && a.Type() == b.Type() && a.Comparable() && a.Equal(b)
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

// settle returns a function that waits until no goroutine of the bubble can run. In real
// time that cannot be known, so it sleeps for a while.
func (c *config) settle() func() {
	if c.realTime {
		return func() { time.Sleep(unit) }
	}
	return synctest.Wait
}

// rules returns the rules for the log of the subject.
func (c *config) rules(s Subject) history.Rules {
	return history.Rules{
		Parts:      parts(s),
		Virtual:    !c.realTime,
		AtRest:     true,
		Overlap:    c.without["G2"] != "",
		QueueBound: c.queueBound,
		Timers:     c.timers,
	}
}

// runs numbers the runs of the process.
var runs atomic.Int64
