package model

import "bytes"

// Key returns a compact encoding. Two states have the same key if and only if they are
// equal. For a text to read, see [State.String].
func (s State) Key() string {
	var buffer [1024]byte // on the stack: most keys fit
	return string(s.appendKey(buffer[:0]))
}

// equal reports whether two states are equal.
func (s *State) equal(t *State) bool {
	if s.Running != t.Running || len(s.Queue) != len(t.Queue) || len(s.Timers) != len(t.Timers) || len(s.Ledger) != len(t.Ledger) {
		return false
	}
	var one, other [1024]byte // on the stack: most keys fit
	return bytes.Equal(s.appendKey(one[:0]), t.appendKey(other[:0]))
}

func (s *State) appendKey(k []byte) []byte {
	k = append(k, byte(s.Policy), byte(s.Drain), byte(s.Phase), byte(s.ClosedBy), byte(s.Running.Kind),
		bits(s.Up, s.StartFailed, s.Quiet, s.Timeout, s.QuietElapsed, s.LastHook))
	k = number(k, s.Limit, s.Running.ID, s.Marked, s.MarkedTail, s.Accepted, s.Ran, s.Cancelled, s.Refused)
	k = number(number(k, len(s.Queue)), s.Queue...)
	k = number(number(k, len(s.Tails)), s.Tails...)
	k = number(k, len(s.Timers))
	for _, t := range s.Timers {
		k = append(number(k, t.ID), byte(t.At), byte(t.Status), bits(t.Periodic))
	}
	k = number(k, len(s.Hooks))
	for _, h := range s.Hooks {
		k = append(number(k, h.ID), byte(h.At))
	}
	k = number(k, len(s.Regs))
	for _, r := range s.Regs {
		k = append(number(k, r.ID), byte(r.Kind), byte(r.Asked), bits(r.Lost, r.Closed))
	}
	for _, r := range s.Ledger {
		k = append(number(k, r.ID), byte(r.Kind)<<3|byte(r.At), r.Begun|r.Drains<<2|r.Aborts<<4,
			bits(r.Periodic, r.Refused, r.Cancelled, r.Inside, r.Ran, r.Closed))
	}
	return k
}

// number appends ns in groups of 7 bits, so that no two lists have the same encoding.
func number(k []byte, ns ...int) []byte {
	for _, n := range ns {
		for ; n >= 0x80; n >>= 7 {
			k = append(k, byte(n)|0x80)
		}
		k = append(k, byte(n))
	}
	return k
}

func bits(flags ...bool) (b byte) {
	for i, f := range flags {
		if f {
			b |= 1 << i
		}
	}
	return b
}
