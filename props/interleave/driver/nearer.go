package driver

import (
	"time"

	"eventide/props/interleave/protocol"
)

// Limits of the search for a smaller schedule of a finding.
const (
	nearerLimit = 2 * time.Second   // of processor time, so that load on the machine does not leave more switches
	nearerRest  = minimiseLimit / 4 // of the time for minimising: reserved for cutting the smaller schedule
	nearerFirst = 64                // schedules of the first process; each has twice as many as the one before
	nearerMost  = 1 << 16           // schedules, if more than a few switches are left
	nearerFew   = 1 << 12           // schedules, if a few are left
	nearerHits  = 3                 // schedules with fewer switches
	aFew        = 3                 // switches
)

// nearer looks for another schedule with the cause of m that has fewer switches than the
// list, among schedules that take the default at all but a few decisions. In a schedule
// that was drawn at random at each decision almost every switch is needed for the next
// one, so that none can be left out. known says that the list shows the cause. nearer
// returns nil if it finds no such schedule; a schedule that it returns repeats by its
// switches.
func (m *minimiser) nearer(known bool) (*finding, error) {
	most, schedules := protocol.MaxSwitches, uint64(nearerMost)
	if known {
		most = len(m.list) - 1
		if len(m.list) <= aFew {
			schedules = nearerFew
		}
	}
	var best *finding
	r := m.nearRequest()
	end := m.end.Add(-nearerRest)
	spent, batch := time.Duration(0), uint64(nearerFirst)
	for hits := 0; hits < nearerHits && r.First < schedules && most > 0 && spent < nearerLimit && time.Now().Before(end); batch *= 2 {
		r.Budget = time.Until(end)
		count := min(batch, schedules-r.First)
		if r.Cold {
			count = 1
		}
		e, err := m.search.once(r, count)
		if err != nil {
			return nil, err
		}
		spent += e.cpu
		f := e.finding
		if f == nil {
			r.First += count
			continue
		}
		if f.Warm || e.hung {
			break
		}
		r.First = f.Number + 1
		if f.Cut || len(f.Switches) > most || e.cause().key() != m.cause.key() {
			continue
		}
		ok, err := m.holds(f, f.Switches)
		if err != nil {
			return nil, err
		}
		if ok {
			hits++
			best, most = f, min(most, len(f.Switches)-1)
		}
	}
	return best, nil
}

// nearRequest asks for schedules with a few switches.
func (m *minimiser) nearRequest() protocol.Request {
	r := m.search.base()
	r.Stride = 0
	r.Strategy, r.Seed, r.Fair, r.Cold = protocol.StrategyFew, m.of.Seed, m.of.Fair, m.of.Cold
	m.limit(&r)
	r.IgnoreLeaks = m.cause.Verdict != protocol.Leak
	if hasClock(m.list) || m.of.Cut && m.of.Early {
		r.Time = protocol.TimeEarly
	}
	return r
}
