package driver

import (
	"slices"
	"time"

	"eventide/props/interleave/protocol"
)

// A minimiser looks for the fewest switches that show a finding. A candidate leaves out
// a part of the switches, and counts if verdict and message stay. One process runs many
// candidates: it ends at the first that shows a finding, which a fresh process then has
// to repeat.
type minimiser struct {
	search *search
	cause  cause
	of     *finding          // the schedule that list belongs to
	list   []protocol.Switch // that are left
	end    time.Time
}

// run looks for the fewest switches that show the cause of m. It returns false if no
// list of switches shows it in a fresh process. It tries the default schedule first,
// however little time there is: if that fails, the failure does not depend on the
// schedule.
func (m *minimiser) run(of *finding) (bool, error) {
	m.of = of
	if ok, err := m.holds(of, nil); ok || err != nil {
		return ok, err
	}
	m.list = of.Switches
	known := false
	if !of.Cut {
		var err error
		if known, err = m.holds(of, of.Switches); err != nil {
			return false, err
		}
	}
	end := m.end
	if known {
		if err := m.stopClock(); err != nil {
			return false, err
		}
		m.end = end.Add(-minimiseLimit / 2)
		if err := m.cut(); err != nil {
			return false, err
		}
	}
	m.end = end
	near, err := m.nearer(known)
	if err != nil || near == nil && !known {
		return false, err
	}
	far := *m
	if near != nil {
		m.of, m.list = near, near.Switches
	}
	if err := m.cut(); err != nil {
		return false, err
	}
	if known && len(far.list) < len(m.list) {
		*m = far
	}
	return true, nil
}

// cut leaves out switches until no single one can be left out, or the time is over.
func (m *minimiser) cut() error {
	if err := m.cutTail(); err != nil {
		return err
	}
	return m.cutChunks()
}

// holds says whether a fresh process shows the cause with these switches of a schedule.
func (m *minimiser) holds(of *finding, list []protocol.Switch) (bool, error) {
	r := m.search.bySwitches(of, list)
	m.limit(&r)
	return m.search.repeats(r, 1, m.cause)
}

// limit bounds the operations of a candidate: a candidate that has run so much longer
// than the finding will not show its cause. The bound also has room for the largest
// schedule so far, because the warm-up may be longer than a schedule that fails at its
// start. If the cause is the limit of operations itself, the bound stays as it is.
func (m *minimiser) limit(r *protocol.Request) {
	if !m.cause.endless() {
		r.Steps = 2*max(m.of.Steps, m.of.Largest) + 20000
	}
}

// stopClock leaves out all moves of the clock, if the finding appears without them: it
// then does not depend on timing.
func (m *minimiser) stopClock() error {
	still := slices.DeleteFunc(slices.Clone(m.list), func(s protocol.Switch) bool { return s.Kind == protocol.ToClock })
	if len(still) == len(m.list) {
		return nil
	}
	ok, err := m.holds(m.of, still)
	if ok {
		m.list = still
	}
	return err
}

// cutTail keeps the shortest beginning of the list that shows the cause. After the last
// switch of a list each goroutine runs until it has to wait.
func (m *minimiser) cutTail() error {
	for low := 0; low < len(m.list); {
		var tails []protocol.Part
		for length, step := low, 1; length < len(m.list); length, step = length+step, 2*step {
			tails = append(tails, protocol.Part{From: length, To: len(m.list)})
		}
		i, err := m.first(tails)
		switch {
		case err != nil:
			return err
		case i < 0:
			low = tails[len(tails)-1].From + 1
		default:
			if i > 0 {
				low = tails[i-1].From + 1
			}
			m.leaveOut(tails[i])
		}
		if m.over() {
			return nil
		}
	}
	return nil
}

// cutChunks leaves out chunks, from half of the list down to single switches, until no
// single one can be left out. After a chunk that could be left out, larger chunks are
// tried first, because switches that are not needed are often neighbours.
func (m *minimiser) cutChunks() error {
	for size := (len(m.list) + 1) / 2; size > 0; size /= 2 {
		for again := true; again && !m.over(); {
			again = false
			for from := 0; from < len(m.list); {
				parts := chunks(from, len(m.list), size)
				i, err := m.first(parts)
				if err != nil {
					return err
				}
				if i < 0 {
					break
				}
				from = parts[i].From
				m.leaveOut(parts[i])
				again = size == 1 // a switch may have been needed only for a later one that is now left out
			}
		}
	}
	return nil
}

// chunks returns the parts of the list to try: first eight, four and two chunks at
// from, then one chunk after the other up to to.
func chunks(from, to, size int) []protocol.Part {
	var parts []protocol.Part
	for n := 8 * size; n > size; n /= 2 {
		if from+n <= to {
			parts = append(parts, protocol.Part{From: from, To: from + n})
		}
	}
	for at := from; at < to; at += size {
		parts = append(parts, protocol.Part{From: at, To: min(at+size, to)})
	}
	return parts
}

func (m *minimiser) leaveOut(p protocol.Part) { m.list = without(m.list, p) }

func without(list []protocol.Switch, p protocol.Part) []protocol.Switch {
	return slices.Concat(list[:p.From], list[p.To:])
}

func (m *minimiser) over() bool { return !time.Now().Before(m.end) }

// first returns the index of the first of the parts without which the cause appears in a
// fresh process, or -1.
func (m *minimiser) first(parts []protocol.Part) (int, error) {
	most := protocol.MaxDrops
	if m.of.Cold {
		most = 1 // the test does not run twice in one process
	}
	for at := 0; at < len(parts) && !m.over(); {
		batch := parts[at:min(len(parts), at+most)]
		r := m.search.bySwitches(m.of, m.list)
		r.Drops, r.Budget = batch, time.Until(m.end)
		m.limit(&r)
		e, err := m.search.once(r, uint64(len(batch)))
		if err != nil {
			return -1, err
		}
		if e.finding == nil {
			at += len(batch)
			continue
		}
		i := slices.Index(batch, e.finding.Dropped)
		if i < 0 {
			return -1, nil // the process ended outside of its schedules
		}
		if at += i; e.same(m.cause) {
			ok, err := m.holds(m.of, without(m.list, batch[i]))
			if ok || err != nil {
				return at, err
			}
		}
		at++
	}
	return -1, nil
}
