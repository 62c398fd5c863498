package model

import "fmt"

// There are invariants of states, of steps, and of the actions that must be possible in a
// state. They do not use the rules, so a wrong rule contradicts an invariant. They share only
// simple predicates with the rules, such as waiting, doomed and timerToRun.

// invariant is a sentence about one state. Its check returns what is wrong, or "".
type invariant struct {
	g        string
	sentence string
	check    func(s *State) string
}

var invariants = [...]invariant{
	{"G2", "the running body, and no other, has begun and not ended", func(s *State) string {
		return s.find(func(r *Record) bool { return r.Inside != (r.Body == s.Running) })
	}},
	{"G3", "a body is submitted once", func(s *State) string {
		for i := 1; i < len(s.Ledger); i++ {
			for j := range i {
				if s.Ledger[i].Body == s.Ledger[j].Body {
					return s.Ledger[i].Body.String()
				}
			}
		}
		return ""
	}},
	{"G3", "a body begins at most once, and only if it was accepted", func(s *State) string {
		return s.find(func(r *Record) bool { return r.Begun > 1 || r.Begun > 0 && (r.Refused || r.At == 0) })
	}},
	{"G3", "no accepted body is lost", func(s *State) string {
		return s.find(func(r *Record) bool {
			return !r.Refused && !r.Ran && !r.Cancelled && !r.Inside && !waiting(s, r.Body)
		})
	}},
	{"G3", "every accepted body has ended when Done is closed", func(s *State) string {
		return s.find(func(r *Record) bool {
			return s.Phase == Terminated && !r.Refused && (!r.Ran && !r.Cancelled || r.Inside)
		})
	}},
	{"G6", "no hook has begun before the shutdown call", func(s *State) string {
		return s.find(func(r *Record) bool { return r.Kind == HookBody && r.Begun > 0 && s.Phase < ShuttingDown })
	}},
	{"G6", "a removed hook never began", func(s *State) string {
		return s.find(func(r *Record) bool { return r.Kind == HookBody && r.Cancelled && r.Begun > 0 })
	}},
	{"G7", "once the timer policy has decided, no timer is waiting, and one is due only if the policy runs it", func(s *State) string {
		for _, t := range s.Timers {
			open := s.Phase < ShuttingDown || s.Phase == ShuttingDown && s.Policy == RunTimersUntilTimeout
			if t.Status == TimerWaiting && !open || t.Status == TimerDue && (open || s.Policy == CancelTimers) {
				return TimerNo(t.ID).String()
			}
		}
		return ""
	}},
	{"G8", "a one-shot is cancelled or runs, never both", func(s *State) string {
		return s.find(func(r *Record) bool { return r.Cancelled && r.Begun > 0 && !r.Periodic && r.Kind != HookBody })
	}},
	{"G10", "the quiet period can be over only in the phase ShuttingDown, if quiet > 0, and while no task, timer or hook runs", func(s *State) string {
		return when(s.QuietElapsed && (s.Phase != ShuttingDown || !s.Quiet || s.restarts()), "over")
	}},
	{"G16", "the quiet period fits into the timeout", func(s *State) string {
		return when(s.Quiet && !s.Timeout, "quiet without a timeout")
	}},
	{"G17", "before the loop exists nothing is accepted, and in Started the loop exists", func(s *State) string {
		if s.Up == (s.Phase == NotStarted) && s.Phase <= Started {
			return fmt.Sprintf("up=%v in %v", s.Up, s.Phase)
		}
		return s.find(func(r *Record) bool { return !s.Up && !r.Refused })
	}},
	{"G19", "the queue holds no more than its limit", func(s *State) string {
		return when(s.Limit > 0 && s.queued() > s.Limit, "%d of %d", s.queued(), s.Limit)
	}},
	{"G20", "accepted = ran + cancelled + pending", func(s *State) string {
		pending := s.queued()
		if s.Running.Kind == TaskBody || s.Running.Kind == TailBody {
			pending++
		}
		return when(s.Accepted != s.Ran+s.Cancelled+pending,
			"%d != %d + %d + %d", s.Accepted, s.Ran, s.Cancelled, pending)
	}},
	{"G20", "the counters agree with the ledger", func(s *State) string {
		var accepted, ran, refused int
		for i := range s.Ledger {
			if r := &s.Ledger[i]; r.Kind == TaskBody || r.Kind == TailBody {
				accepted += one(!r.Refused)
				ran += one(r.Ran)
				refused += one(r.Refused)
			}
		}
		return when(s.Accepted != accepted || s.Ran != ran || s.Refused != refused,
			"accepted %d of %d, ran %d of %d, refused %d of %d", s.Accepted, accepted, s.Ran, ran, s.Refused, refused)
	}},
}

// find returns the name of the first body in the ledger for which bad is true.
func (s *State) find(bad func(*Record) bool) string {
	for i := range s.Ledger {
		if bad(&s.Ledger[i]) {
			return s.Ledger[i].Body.String()
		}
	}
	return ""
}

// when returns the text if bad is true.
func when(bad bool, format string, args ...any) string {
	if !bad {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
