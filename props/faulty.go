package props

import (
	"errors"
	"fmt"
	"slices"

	"eventide/core/pollertest"
	"eventide/props/history"
)

// Faults are the failures of a scripted poller by Done.
type Faults struct {
	Ended  []error // which the executor could not survive
	Maybe  error   // which ends it, unless it ends first
	Closed error   // of Close
	Closes int
}

// happened returns the failures so far.
func (p *poller) happened() *Faults {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := &p.faults
	return &Faults{Ended: f.ended, Maybe: f.maybe, Closed: f.closed, Closes: p.Count(pollertest.Close)}
}

// wrongFaults compares the error of the executor with the failures of its poller: Termination.Err
// has each failure that ends the executor, and nothing else. A spawner has errors of its own.
func (f *Final) wrongFaults(rules history.Rules) string {
	if f.Faults == nil {
		return ""
	}
	if f.Faults.Closes != 1 {
		return fmt.Sprintf("the poller was closed %d times", f.Faults.Closes)
	}
	must := f.Faults.Ended
	if f.Faults.Closed != nil {
		must = append(must[:len(must):len(must)], f.Faults.Closed)
	}
	for _, err := range must {
		if !errors.Is(f.Err, err) {
			return fmt.Sprintf("the poller failed with %v, and Termination.Err is %v", err, f.Err)
		}
	}
	failed := len(f.Faults.Ended) > 0 || f.Faults.Maybe != nil && errors.Is(f.Err, f.Faults.Maybe)
	logged := f.Reports.Logged
	switch unplanned := f.unplanned(must); {
	case rules.Spawner:
	case unplanned != nil:
		return fmt.Sprintf("Termination.Err has %v, and the poller failed with %v", unplanned, must)
	case logged["the loop failed"] != one(failed):
		return fmt.Sprintf("%d failures of the loop were logged, and the poller failed with %v", logged["the loop failed"], must)
	case logged["the executor did not end in order"] != one(f.Faults.Closed != nil):
		return fmt.Sprintf("an end out of order was logged %d times, and Close failed with %v", logged["the executor did not end in order"], f.Faults.Closed)
	}
	return ""
}

// unplanned returns an error that Termination.Err has beside the given ones and those of Maybe.
func (f *Final) unplanned(planned []error) error {
	for _, err := range leaves(f.Err) {
		known := func(plan error) bool { return plan != nil && errors.Is(err, plan) }
		if !slices.ContainsFunc(planned, known) && !known(f.Faults.Maybe) {
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
