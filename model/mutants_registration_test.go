package model

// The tempting wrong versions of what a shutdown does with registrations.

var registrationMutants = []mutant{
	{"closed means closed", "a loop that shuts down refuses registrations (R198)", also("closed means closed", func(s *State, a *Action) bool {
		return a.Kind != OpRegister || a.Outcome != Accepted || s.Phase < ShuttingDown
	})},
	{"closed means closed", "registrations are accepted until done", orElse("closed means closed", func(s *State, a *Action) bool {
		return a.Kind == OpRegister && s.Phase < Terminated
	})},
	{"close after registrations", "channels do not hold the quiet period", orElse("close after registrations", func(s *State, a *Action) bool {
		return s.Quiet
	})},
	{"close after registrations", "only channels hold it", orElse("close after registrations", func(s *State, a *Action) bool {
		for _, r := range s.Regs {
			if r.Kind == ChannelBody {
				return false
			}
		}
		return true
	})},
	{"close after registrations", "the owner need not know yet", orElse("close after registrations", func(s *State, a *Action) bool {
		for _, r := range s.Regs {
			if !r.Closed {
				return false
			}
		}
		return true
	})},
	{"done after registrations", "channels are forgotten", orElse("done after registrations", func(s *State, a *Action) bool {
		return len(s.Regs) > 0 && s.Regs[0].Kind == ChannelBody
	})},
	{"ended means ended", "what was ready is still told (stale fds)", orElse("ended means ended", func(s *State, a *Action) bool {
		return a.Part == Ready
	})},
	{"drain by policy", "at the first opportunity only (later registrations are forgotten)", also("drain by policy", func(s *State, a *Action) bool {
		r := s.record(a.Body)
		return a.Part != Drain || r == nil || r.At < ShuttingDown
	})},
	{"drain by policy", "also by Shutdown", orElse("drain by policy", func(s *State, a *Action) bool {
		r := s.reg(a.Body)
		return r != nil && r.Asked == Ready && s.Phase >= Shutdown
	})},
	{"drain by policy", "whatever the policy says", orElse("drain by policy", func(s *State, a *Action) bool {
		r := s.reg(a.Body)
		return r != nil && r.Asked == Ready && s.Phase == ShuttingDown
	})},
	{"abort by policy", "a draining channel may go on for ever", also("abort by policy", func(s *State, a *Action) bool {
		r := s.reg(a.Body)
		return a.Part != Abort || r == nil || r.Asked != Drain
	})},
	{"abort by policy", "at the shutdown call, flushed or not (R199)", orElse("abort by policy", func(s *State, a *Action) bool {
		r := s.reg(a.Body)
		return r != nil && r.Asked != Abort && s.Phase >= ShuttingDown
	})},
	{"loop ends plain registrations", "channels too", orElse("loop ends plain registrations", func(s *State, a *Action) bool {
		return s.openReg(a.Body) != nil && s.Phase >= ShuttingDown
	})},
	{"loop ends plain registrations", "a lost one is left deaf (R196)", also("loop ends plain registrations", func(s *State, a *Action) bool {
		return s.Phase >= Shutdown
	})},
	{"notified of the end", "before the end", orElse("notified of the end", func(s *State, a *Action) bool { return s.reg(a.Body) != nil })},

	{"register", "a refused one stays (R212)", after(OpRegister, func(s *State, a *Action) {
		if a.Outcome.IsRefusal() {
			s.Regs = append(s.Regs, Reg{Body: a.Body})
		}
	})},
	{"register", "not kept", after(OpRegister, func(s *State, a *Action) { s.Regs = nil })},
	{"unregister", "forgets to tell", after(OpEnd, func(s *State, a *Action) { s.Regs = nil })},
	{"unregister", "closes the others", after(OpEnd, func(s *State, a *Action) {
		for i := range s.Ledger {
			s.Ledger[i].Closed = s.Ledger[i].registers()
		}
	})},
	{"unregister", "opens it again", after(OpEnd, func(s *State, a *Action) {
		for i := range s.Regs {
			s.Regs[i].Closed = false
		}
		for i := range s.Ledger {
			s.Ledger[i].Closed = false
		}
	})},
	{"closeFD", "forgets to tell (G3)", after(StepCloseFD, func(s *State, a *Action) { s.Regs = nil })},
	{"notified", "forgets that its owner was notified", after(StepNotified, func(s *State, a *Action) {
		s.Regs = append(s.Regs, Reg{Body: a.Body, Closed: true})
	})},
	{"lost", "the others too", after(StepLost, func(s *State, a *Action) { s.Regs = nil })},
	{"shutdownGracefully", "the call itself forgets registrations", after(OpShutdownGracefully, func(s *State, a *Action) { s.Regs = nil })},
	{"timeoutFires", "loses the channels", after(StepTimeoutFires, func(s *State, a *Action) { s.Regs = nil })},
	{"begin", "does not know that it asked", func(m *machine) {
		m.effects[StepBegin] = func(s *State, a *Action) {
			regs := s.clone().Regs
			begin(s, a)
			s.Regs = regs
		}
	}},
	{"end", "the last call of a handler ends it", after(StepEnd, func(s *State, a *Action) {
		if a.Body.registers() {
			s.entry(a.Body).Ran = true
		}
	})},
}
