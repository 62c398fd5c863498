package pollertest

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"eventide/core"
)

// readinessCases are the cases about descriptors.
func readinessCases() []Case {
	const edge = core.EdgeTriggered
	cases := []Case{
		{Name: "input", Run: watching(core.Readable, input)},
		{Name: "input, edge-triggered", Run: watching(core.Readable|edge, edgeInput)},
		{Name: "room after a partial write", Run: watching(core.Writable, room)},
		{Name: "room, edge-triggered", Run: watching(core.Readable|core.Writable|edge, edgeRoom)},
		{Name: "hang up", Run: watching(core.Readable, hangUp)},
		{Name: "input and hang up at once", Run: watching(core.Readable|edge, inputAndHangUp)},
		{Name: "interest in nothing that is ready", Run: watching(core.Writable, uninterested)},
		{Name: "modify reports an edge again", Run: watching(core.Readable|edge, modifyEdge)},
		{Name: "modify replaces the token", Run: watching(core.Readable, modifyToken)},
		{Name: "remove", Run: watching(core.Readable, remove)},
		{Name: "add while waiting", Run: run(addWhileWaiting)},
		{Name: "input while waiting", Run: watching(core.Readable|edge, inputWhileWaiting)},
		{Name: "readiness under a stream of wakes", Run: watching(core.Readable, readinessUnderWakes)},
		{Name: "readiness beside a deadline", Run: watching(core.Readable, readinessBesideDeadline)},
		{Name: "poll while busy", Run: watching(core.Readable, pollWhileBusy)},
		{Name: "events of a poll are gone after the next", Run: watching(core.Readable|edge, readyIsOfTheLastPoll)},
		{Name: "many descriptors", Run: run(manyDescriptors)},
		{Name: "one descriptor does not starve others", Run: run(noStarvation)},
		{Name: "errors change nothing", Run: run(errorsChangeNothing)},
		{Name: "number reused", Run: run(numberReused)},
		{Name: "reopen", Run: watching(core.Readable, reopen)},
		{Name: "reopen keeps a wake", Run: watching(core.Readable, reopenKeepsWake)},
	}
	for i := range cases {
		cases[i].IO = true
	}
	return cases
}

// sees returns a step that waits for the token and checks its readiness.
func (s *script) sees(token uint64, readable, writable bool) func() error {
	return func() error {
		r, err := s.seen(token, core.Deadline{})
		if err == nil && (r.Readable() != readable || r.Writable() != writable) {
			err = fmt.Errorf("token %d is reported as %v, want readable %v, writable %v", token, r, readable, writable)
		}
		return err
	}
}

func (s *script) isQuiet(why string) func() error {
	return func() error { return s.quiet(why) }
}

func input(s *script, d Source) error {
	saw := s.sees(firstToken, true, false)
	return inOrder(s.isQuiet("nothing came"), d.Input, saw, saw, saw, d.Drain, s.isQuiet("all was read"), d.Input, saw)
}

func edgeInput(s *script, d Source) error {
	saw := s.sees(firstToken, true, false)
	return inOrder(
		d.Input, saw, s.isQuiet("the edge was reported"),
		d.Input, saw, s.isQuiet("the second edge was reported"), // there was input in between, too
		d.Drain, d.Input, saw)
}

func room(s *script, d Source) error {
	saw := s.sees(firstToken, false, true)
	return inOrder(saw, saw, d.Fill, s.isQuiet("it is full"), d.Room, saw, d.Fill, s.isQuiet("it is full again"), d.Room, saw)
}

// edgeRoom registers both directions at once, as a channel does. No event must come while a
// write does not fit.
func edgeRoom(s *script, d Source) error {
	return inOrder(
		s.sees(firstToken, false, true),
		s.isQuiet("the edge was reported"),
		d.Fill, s.isQuiet("it is full"),
		d.Input, s.sees(firstToken, true, false),
		d.Room, func() error {
			r, err := s.seen(firstToken, core.Deadline{})
			if err == nil && !r.Writable() {
				err = fmt.Errorf("reported as %v, want writable", r)
			}
			return err
		})
}

func hangUp(s *script, d Source) error {
	return inOrder(d.HangUp, func() error {
		r, err := s.seen(firstToken, core.Deadline{})
		if err == nil && !(r.HungUp() && r.Readable()) {
			err = fmt.Errorf("reported as %v, want hung up and readable: the end of the input is to be read", r)
		}
		return err
	})
}

// inputAndHangUp: the end comes together with the input, in one edge.
func inputAndHangUp(s *script, d Source) error {
	return inOrder(d.Input, func() error { return hangUp(s, d) })
}

func uninterested(s *script, d Source) error {
	return inOrder(s.sees(firstToken, false, true), d.Fill, d.Input, s.isQuiet("there is no interest in input"))
}

func modifyEdge(s *script, d Source) error {
	saw := s.sees(firstToken, true, false)
	again := func() error { return s.io.Modify(d.FD(), core.Readable|core.EdgeTriggered, firstToken) }
	return inOrder(d.Input, saw, s.isQuiet("the edge was reported"), again, saw, s.isQuiet("it was reported again"), d.Drain, again, s.isQuiet("nothing is there"))
}

func modifyToken(s *script, d Source) error {
	next := func() error { return s.io.Modify(d.FD(), core.Readable, firstToken+1) }
	return inOrder(d.Input, s.sees(firstToken, true, false), next, s.sees(firstToken+1, true, false))
}

func remove(s *script, d Source) error {
	again := func() error { return s.io.Add(d.FD(), core.Readable, firstToken+7) }
	gone := func() error { return s.io.Remove(d.FD()) }
	return inOrder(d.Input, gone, s.isQuiet("it was removed"), again, s.sees(firstToken+7, true, false), gone, s.isQuiet("it was removed again"))
}

// addWhileWaiting: a descriptor that is ready when it is added ends the sleep.
func addWhileWaiting(s *script) error {
	return s.sources(20, func(all []Source) error {
		for i, d := range all {
			token := firstToken + uint64(i)
			if err := d.Input(); err != nil {
				return err
			}
			var adder sync.WaitGroup
			var added error
			adder.Go(func() { added = s.io.Add(d.FD(), core.Readable, token) })
			_, err := s.seen(token, core.Deadline{})
			adder.Wait()
			if err := errors.Join(err, added, s.io.Remove(d.FD())); err != nil {
				return fmt.Errorf("descriptor %d: %w", i, err)
			}
		}
		return nil
	})
}

func inputWhileWaiting(s *script, d Source) error {
	for i := range 300 {
		var writer sync.WaitGroup
		var wrote error
		writer.Go(func() { wrote = d.Input() })
		_, err := s.seen(firstToken, core.Deadline{})
		writer.Wait()
		if err := errors.Join(err, wrote, d.Drain()); err != nil {
			return fmt.Errorf("input %d: %w", i, err)
		}
	}
	return nil
}

// readinessUnderWakes: a loop that never sleeps must poll nevertheless (G13).
func readinessUnderWakes(s *script, d Source) error {
	if err := d.Input(); err != nil {
		return err
	}
	for range mostReturns {
		s.Poller.Wake()
		if err := s.wait(core.Deadline{}); err != nil {
			return err
		}
		if _, ok, err := s.reported(firstToken); ok || err != nil {
			return err
		}
	}
	return fmt.Errorf("G13: not reported in %d returns of Wait, each with a wake-up pending", mostReturns)
}

func readinessBesideDeadline(s *script, d Source) error {
	for i := range 100 {
		if err := s.returnsUntil(s.now().Add(20 * time.Microsecond)); err != nil {
			return fmt.Errorf("round %d: %w", i, err)
		}
		if err := d.Input(); err != nil {
			return err
		}
		if _, err := s.seen(firstToken, s.now().Add(time.Hour)); err != nil {
			return fmt.Errorf("round %d: %w", i, err)
		}
		if err := d.Drain(); err != nil {
			return err
		}
	}
	return nil
}

// pollWhileBusy: Poll neither blocks nor consumes a wake-up.
func pollWhileBusy(s *script, d Source) error {
	for range 20 {
		s.Poller.Wake()
		err := inOrder(d.Input, func() error { return within("Poll", s.io.Poll) }, func() error {
			_, ok, err := s.reported(firstToken)
			if err == nil && !ok {
				err = errors.New("Poll did not report it")
			}
			return err
		}, d.Drain, s.isQuiet("all was read"), func() error { return s.wait(core.Deadline{}) })
		if err != nil {
			return err
		}
	}
	return nil
}

// readyIsOfTheLastPoll: after a return without an event, Ready must not have the events of
// the poll before, or they would be handled twice.
func readyIsOfTheLastPoll(s *script, d Source) error {
	woken := func() error {
		s.Poller.Wake()
		return s.wait(core.Deadline{})
	}
	empty := func() error {
		if got := s.io.Ready(); len(got) > 0 {
			return fmt.Errorf("Ready is %v after a wake-up, want nothing: these events were reported before", got)
		}
		return nil
	}
	past := func() error { return s.wait(s.now().Add(-time.Second)) }
	return inOrder(d.Input, s.sees(firstToken, true, false), woken, empty, past, empty, woken, empty)
}

// manyDescriptors: more descriptors are ready than one poll collects. Each is reported,
// and the number of polls is in proportion.
func manyDescriptors(s *script) error {
	n := 400
	if 0 < s.Sources && s.Sources < n {
		n = s.Sources
	}
	return s.sources(n, func(all []Source) error {
		for i, d := range all {
			if err := errors.Join(s.io.Add(d.FD(), core.Readable, firstToken+uint64(i)), d.Input()); err != nil {
				return err
			}
		}
		reported := make(map[uint64]bool)
		for polls := 0; len(reported) < n; polls++ {
			if polls == n {
				return fmt.Errorf("%d of %d descriptors reported in %d polls", len(reported), n, polls)
			}
			if err := s.wait(core.Deadline{}); err != nil {
				return err
			}
			for _, ev := range s.io.Ready() {
				i := ev.Token - firstToken
				if i >= uint64(n) || reported[ev.Token] {
					return fmt.Errorf("token %#x was reported, but is not in use, or its input was read", ev.Token)
				}
				reported[ev.Token] = true
				if err := all[i].Drain(); err != nil {
					return err
				}
			}
		}
		return s.quiet("all was read")
	})
}

// noStarvation: descriptors that are always ready do not keep others from being reported.
func noStarvation(s *script) error {
	const n = 100
	return s.sources(n, func(all []Source) error {
		for i, d := range all {
			if err := errors.Join(s.io.Add(d.FD(), core.Readable, firstToken+uint64(i)), d.Input()); err != nil {
				return err
			}
		}
		reported := make(map[uint64]bool)
		for range n {
			if err := s.wait(core.Deadline{}); err != nil {
				return err
			}
			for _, ev := range s.io.Ready() {
				reported[ev.Token] = true
			}
		}
		if len(reported) < n {
			return fmt.Errorf("G13: %d of %d descriptors were reported in %d polls", len(reported), n, n)
		}
		return nil
	})
}

func errorsChangeNothing(s *script) error {
	return s.sources(2, func(all []Source) error {
		d, other := all[0], all[1]
		if err := s.io.Add(d.FD(), core.Readable, firstToken); err != nil {
			return err
		}
		for what, err := range map[string]error{
			"Add, added already":    s.io.Add(d.FD(), core.Readable|core.Writable, firstToken+1),
			"Add, not open":         s.io.Add(1<<30, core.Readable, firstToken+2),
			"Modify, never added":   s.io.Modify(other.FD(), core.Readable, firstToken+3),
			"Remove, never added":   s.io.Remove(other.FD()),
			"Modify, not open":      s.io.Modify(1<<30, core.Readable, firstToken+4),
			"Remove, not open":      s.io.Remove(1 << 30),
			"Add, a negative value": s.io.Add(-1, core.Readable, firstToken+5),
		} {
			if err == nil {
				return fmt.Errorf("%s: got nil, want an error", what)
			}
		}
		return inOrder(other.Input, s.isQuiet("it was not added"), d.Input, s.sees(firstToken, true, false))
	})
}

// numberReused: a poller forgets a descriptor when it is closed, and its number may be
// added again.
func numberReused(s *script) error {
	for i := range uint64(20) {
		err := s.sources(1, func(all []Source) error {
			d := all[0]
			return inOrder(
				func() error { return s.io.Add(d.FD(), core.Readable, firstToken+i) },
				d.Input, s.sees(firstToken+i, true, false), d.Close, s.isQuiet("it was closed"))
		})
		if err != nil {
			return fmt.Errorf("use %d: %w", i, err)
		}
	}
	return nil
}

// reopen: after Reopen the poller watches nothing, and works.
func reopen(s *script, d Source) error {
	again := func() error { return s.io.Add(d.FD(), core.Readable, firstToken+1) }
	for range 3 {
		err := inOrder(
			d.Input, s.io.Reopen, s.isQuiet("nothing is watched"), again, s.sees(firstToken+1, true, false), d.Drain,
			func() error { return s.returnsUntil(s.now().Add(time.Millisecond)) },
			func() error { s.Poller.Wake(); return s.wait(core.Deadline{}) })
		if err != nil {
			return err
		}
	}
	return nil
}

func reopenKeepsWake(s *script, _ Source) error {
	s.Poller.Wake()
	return inOrder(s.io.Reopen, func() error { return s.wait(core.Deadline{}) })
}
