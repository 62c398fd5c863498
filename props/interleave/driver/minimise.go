package driver

import (
	"time"

	"eventide/props/interleave/protocol"
)

// A minimiser removes switches of a finding while its verdict and its message stay.
type minimiser struct {
	search *search
	cause  cause
	of     *finding
	end    time.Time
	tries  int
}

// run returns the switches that are left. It returns false if the finding does not
// repeat by its switches in a fresh process.
func (m *minimiser) run(of *finding) ([]protocol.Switch, bool, error) {
	m.of = of
	list := of.Switches
	if ok, err := m.holds(list); err != nil || !ok {
		return nil, false, err
	}
	// Without moves of the clock first: a finding that needs none of them does not
	// depend on timing.
	if still := withoutClock(list); len(still) < len(list) {
		ok, err := m.holds(still)
		if err != nil {
			return nil, false, err
		}
		if ok {
			list = still
		}
	}
	for size := len(list); size > 0; size = (size + 1) / 2 {
		before := len(list)
		for i := 0; i < len(list); {
			without := append(append([]protocol.Switch{}, list[:i]...), list[min(i+size, len(list)):]...)
			ok, err := m.holds(without)
			if err != nil {
				return nil, false, err
			}
			if ok {
				list = without
			} else {
				i += size
			}
		}
		if size == 1 && len(list) == before || time.Now().After(m.end) {
			break
		}
	}
	return list, true, nil
}

// holds says whether the finding repeats with these switches alone.
func (m *minimiser) holds(list []protocol.Switch) (bool, error) {
	if m.tries > 0 && time.Now().After(m.end) {
		return false, nil
	}
	m.tries++
	return m.search.repeats(m.search.bySwitches(m.of, list), 1, m.cause)
}

func withoutClock(list []protocol.Switch) []protocol.Switch {
	var kept []protocol.Switch
	for _, s := range list {
		if s.Kind != protocol.ToClock {
			kept = append(kept, s)
		}
	}
	return kept
}
