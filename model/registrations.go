package model

import "slices"

// The effects on registrations. Records keep the history for the invariants, Regs
// what the rules need.

func register(s *State, a *Action) {
	again := *a
	again.Periodic = true // it may begin again and again
	if enter(s, &again) {
		s.Regs = append(s.Regs, Reg{Body: a.Body})
	}
}

// unregister ends a registration, whoever does it. A second time changes nothing.
func unregister(s *State, a *Action) {
	if r := s.open(a.Body); r != nil {
		r.Closed = true
		s.entry(a.Body).Closed = true
	}
}

// told lets go of a registration: its owner knows (G3).
func told(s *State, a *Action) {
	s.Regs = slices.DeleteFunc(s.Regs, func(r Reg) bool { return r.Body == a.Body })
	s.entry(a.Body).Ran = true
}

// lost is the poller built anew, into which a registration could not be moved.
func lost(s *State, a *Action) {
	if r := s.open(a.Body); r != nil {
		r.Lost = true
	}
}

// beginPart notes what a channel has been asked.
func beginPart(s *State, r *Record, a *Action) {
	if a.Part == Ready {
		return
	}
	if reg := s.reg(a.Body); reg != nil {
		reg.Asked = a.Part
	}
	if a.Part == Drain {
		r.Drains = min(r.Drains+1, 2)
	} else {
		r.Aborts = min(r.Aborts+1, 2)
	}
}
