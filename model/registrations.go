package model

import "slices"

// The effects on registrations. Records keep the history, for the invariants; Regs keep the
// present state, for the rules.

func register(s *State, a *Action) {
	again := *a
	again.Periodic = true // it may begin more than once
	if enter(s, &again) {
		s.Regs = append(s.Regs, Reg{Body: a.Body})
	}
}

// unregister ends a registration. Any caller may end it. A second call changes nothing.
func unregister(s *State, a *Action) {
	if r := s.openReg(a.Body); r != nil {
		r.Closed = true
		s.entry(a.Body).Closed = true
	}
}

// notified removes a registration from Regs: its owner knows that it has ended (G3).
func notified(s *State, a *Action) {
	s.Regs = slices.DeleteFunc(s.Regs, func(r Reg) bool { return r.Body == a.Body })
	s.entry(a.Body).Ran = true
}

// lost marks a registration that could not be moved into the rebuilt poller.
func lost(s *State, a *Action) {
	if r := s.openReg(a.Body); r != nil {
		r.Lost = true
	}
}

// beginPart records that a channel was asked to drain or to abort.
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
