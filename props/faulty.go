package props

import (
	"errors"
	"fmt"
	"slices"

	"eventide/core/pollertest"
	"eventide/props/history"
)

// secondAlarm is logged if the alarm of a shutdown call that was not the first cannot be stopped.
const secondAlarm = "the alarm of a second shutdown call could not be stopped"

// Faults are the failures by Done of what the executor was given.
type Faults struct {
	Ended   []error // which the executor could not survive
	Maybe   []error // which end it, unless it ends first or can go on without
	Closed  error   // of Close of the poller
	Stopped error   // of an alarm as it was stopped
	Closes  int     // calls of Close of the poller, which have to be one
}

// happened returns the failures of the clock so far; nil: it cannot fail.
func (c *clock) happened() *Faults {
	if c.h == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	f := &Faults{Stopped: c.stopped, Closes: 1}
	if c.maybe != nil {
		f.Maybe = []error{c.maybe}
	}
	return f
}

// happened returns the failures of the poller and of the clock so far.
func (p *poller) happened(c *clock) *Faults {
	all := c.happened()
	if all == nil {
		all = &Faults{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	f := &p.faults
	all.Ended, all.Closed, all.Closes = f.ended, f.closed, p.Count(pollertest.Close)
	if f.maybe != nil {
		all.Maybe = append(all.Maybe, f.maybe)
	}
	return all
}

// rebuilt returns how often the poller was reopened, and how often it could not be and was kept.
func (p *poller) rebuilt() (reopened, kept int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.faults.reopened, p.faults.kept
}

// clockPanicked reports whether a reading of the clock has panicked: where an executor can go on
// without it, it takes no time for the time since it was made.
func (f *Final) clockPanicked() bool {
	return f.Faults != nil && slices.Contains(f.Faults.Maybe, errClock)
}

// wrongFaults compares the error of the executor with the failures of its poller and its clock:
// Termination.Err has each failure that ends the executor, and nothing else. A spawner has errors of
// its own.
func (f *Final) wrongFaults(rules history.Rules) string {
	if f.Faults == nil {
		return ""
	}
	if f.Faults.Closes != 1 {
		return fmt.Sprintf("the poller was closed %d times", f.Faults.Closes)
	}
	logged := f.Reports.Logged
	must := f.Faults.Ended[:len(f.Faults.Ended):len(f.Faults.Ended)]
	failed, disorder := len(must) > 0, f.Faults.Closed != nil
	if f.Faults.Closed != nil {
		must = append(must, f.Faults.Closed)
	}
	if f.Faults.Stopped != nil && logged[secondAlarm] == 0 {
		must, disorder = append(must, f.Faults.Stopped), true
	}
	for _, err := range must {
		if !errors.Is(f.Err, err) {
			return fmt.Sprintf("the poller or the clock failed with %v, and Termination.Err is %v", err, f.Err)
		}
	}
	for _, err := range f.Faults.Maybe {
		failed = failed || errors.Is(f.Err, err)
	}
	loops := logged["the loop failed"] + logged["the pool failed"]
	ends := logged["the executor did not end in order"] + logged["the pool did not end in order"]
	switch unplanned := f.unplanned(must); {
	case logged[secondAlarm] > one(f.Faults.Stopped != nil):
		return fmt.Sprintf("%q was logged %d times, and stopping an alarm failed with %v", secondAlarm, logged[secondAlarm], f.Faults.Stopped)
	case rules.Spawner:
	case unplanned != nil:
		return fmt.Sprintf("Termination.Err has %v, and the poller or the clock failed with %v", unplanned, must)
	case loops != one(failed):
		return fmt.Sprintf("%d failures were logged, and Termination.Err is %v", loops, f.Err)
	case ends != one(disorder):
		return fmt.Sprintf("an end out of order was logged %d times, and Termination.Err is %v", ends, f.Err)
	}
	return ""
}

// unplanned returns an error that Termination.Err has beside the given ones and those of Maybe.
func (f *Final) unplanned(planned []error) error {
	for _, err := range leaves(f.Err) {
		known := func(plan error) bool { return errors.Is(err, plan) }
		if !slices.ContainsFunc(planned, known) && !slices.ContainsFunc(f.Faults.Maybe, known) {
			return err
		}
	}
	return nil
}

// leaves returns the errors that err joins.
func leaves(err error) (all []error) {
	joined, is := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
		return nil
	case !is:
		return []error{err}
	}
	for _, part := range joined.Unwrap() {
		all = append(all, leaves(part)...)
	}
	return all
}
