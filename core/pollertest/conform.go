package pollertest

import (
	"errors"
	"fmt"
	"time"

	"eventide/core"
)

// Subject is a poller under test, with its descriptors. Each case gets its own Subject,
// and closes it.
type Subject struct {
	Poller core.Poller

	// Open makes a descriptor to watch. It is nil if Poller is not a core.IOPoller; the
	// caller must then skip cases that have IO set.
	Open func() (Source, error)

	// Sources is the maximum number of open sources; 0 means 400, which is enough for every
	// case. Set it if the process may have fewer descriptors.
	Sources int

	// Clock is the clock of Poller; nil: the system's.
	Clock core.Clock
}

// Case is one scripted check.
type Case struct {
	Name string
	IO   bool // it needs a core.IOPoller
	Run  func(*Subject) error
}

// Cases returns the cases, in a fixed order. Each returns an error that says what is wrong, or
// nil.
//
// A return of Wait only means that the loop must check for work, so a case calls Wait again
// until the expected event has arrived. A case fails if a Wait sleeps through the event, and
// also if Wait returns without a reason more often than a correct poller has to.
func Cases() []Case {
	all := sleepCases()
	return append(all, readinessCases()...)
}

// Patience bounds the wait for a call that must return. It is long, because it is no bound on
// speed. In a synctest bubble it is virtual.
const Patience = 10 * time.Second

// mostReturns bounds the returns of Wait until one expected event. A stream of wake-ups
// may hide readiness for a bounded number of returns.
const mostReturns = 200

// script is a running case.
type script struct {
	*Subject
	io core.IOPoller
}

// run converts a script to the Run function of a Case.
func run(f func(*script) error) func(*Subject) error {
	return func(s *Subject) error {
		sc := &script{Subject: s}
		sc.io, _ = s.Poller.(core.IOPoller)
		err := f(sc)
		if errors.Is(err, errAsleep) {
			return err // Close must not be called while Wait runs
		}
		return errors.Join(err, s.Poller.Close())
	}
}

// errAsleep marks errors after which a goroutine is still in Wait.
var errAsleep = errors.New("asleep")

// wait calls Wait, and returns an error if Wait does not return.
func (s *script) wait(until core.Deadline) error {
	return within("Wait", func() error { return s.Poller.Wait(until) })
}

// within calls f, and returns an error if f does not return.
func within(what string, f func() error) error {
	result := make(chan error, 1)
	go func() { result <- f() }()
	guard := time.NewTimer(Patience)
	defer guard.Stop()
	select {
	case err := <-result:
		return err
	case <-guard.C:
		return fmt.Errorf("%s did not return: a wake-up, a deadline or an event was slept through (G12): %w", what, errAsleep)
	}
}

func (s *script) now() time.Time {
	if s.Clock == nil {
		return time.Now()
	}
	return s.Clock.Now()
}

// seen waits until the poller reports token, and returns its readiness. A report of
// another token is an error.
func (s *script) seen(token uint64, until core.Deadline) (core.Readiness, error) {
	for range mostReturns {
		if err := s.wait(until); err != nil {
			return 0, err
		}
		if r, ok, err := s.reported(token); ok || err != nil {
			return r, err
		}
	}
	return 0, fmt.Errorf("token %d was not reported in %d returns of Wait", token, mostReturns)
}

// reported searches Ready for token. Another token is an error.
func (s *script) reported(token uint64) (r core.Readiness, ok bool, err error) {
	for _, ev := range s.io.Ready() {
		if ev.Token != token {
			return 0, false, fmt.Errorf("token %d was reported as %v, want none but %d", ev.Token, ev.Readiness, token)
		}
		r, ok = ev.Readiness, true
	}
	return r, ok, nil
}

// quiet polls a few times, and returns an error if anything is reported.
func (s *script) quiet(why string) error {
	for range 3 {
		if err := s.io.Poll(); err != nil {
			return err
		}
		if got := s.io.Ready(); len(got) > 0 {
			return fmt.Errorf("%s: reported %v, want nothing", why, got)
		}
	}
	return nil
}

// sources opens n sources, calls f, and closes them.
func (s *script) sources(n int, f func([]Source) error) error {
	var all []Source
	defer func() {
		for _, src := range all {
			_ = src.Close() // the case may have closed it
		}
	}()
	for range n {
		src, err := s.Open()
		if err != nil {
			return err
		}
		all = append(all, src)
	}
	return f(all)
}

// watching opens one source, and adds it with firstToken.
func watching(interest core.Interest, f func(*script, Source) error) func(*Subject) error {
	return run(func(s *script) error {
		return s.sources(1, func(all []Source) error {
			if err := s.io.Add(all[0].FD(), interest, firstToken); err != nil {
				return err
			}
			return f(s, all[0])
		})
	})
}

// firstToken is the least token that a loop uses.
const firstToken = uint64(1) << 32

// inOrder runs steps until one fails.
func inOrder(steps ...func() error) error {
	for i, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return nil
}
