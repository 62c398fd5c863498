package poll

import "strings"

// Interest is documented as core.Interest.
type Interest uint8

const (
	// Readable: input, the end of the input, or a connection to accept.
	Readable Interest = 1 << iota
	// Writable: room for output, or the end of a connect.
	Writable
	// EdgeTriggered: the handler is called once for each change, instead of in every turn
	// for as long as the readiness lasts.
	EdgeTriggered
)

// InterestMask has every bit that an Interest may have.
const InterestMask = Readable | Writable | EdgeTriggered

func (i Interest) String() string {
	return flagNames(uint8(i), "Readable", "Writable", "EdgeTriggered")
}

// Readiness is documented as core.Readiness.
type Readiness uint8

const (
	readyRead Readiness = 1 << iota
	readyWrite
	readyHangUp
	readyError
	readyUrgent
)

// NewReadiness returns a Readiness with the given bits. It is for pollers. With hungUp or failed
// the Readiness is also Readable, and with failed also Writable.
func NewReadiness(readable, writable, hungUp, failed bool) Readiness {
	var r Readiness
	for i, set := range [...]bool{readable, writable, hungUp, failed} {
		if set {
			r |= 1 << i
		}
	}
	return r
}

// Readable reports whether a read would not block: there is input, the end of the input,
// or a pending error.
func (r Readiness) Readable() bool { return r&(readyRead|readyHangUp|readyError) != 0 }

// Writable reports whether a write would not block, possibly because it fails.
func (r Readiness) Writable() bool { return r&(readyWrite|readyError) != 0 }

// HungUp reports that the peer has ended its side. Input may still be there.
func (r Readiness) HungUp() bool { return r&readyHangUp != 0 }

// Failed reports an error on the descriptor, which a read or write will return.
func (r Readiness) Failed() bool { return r&readyError != 0 }

// Urgent reports that the input has urgent data. Only registrations with EdgeTriggered
// get it: see core.Readiness.
func (r Readiness) Urgent() bool { return r&readyUrgent != 0 }

// WithUrgent returns r with Urgent, which implies Readable. For pollers.
func (r Readiness) WithUrgent() Readiness { return r | readyRead | readyUrgent }

func (r Readiness) String() string {
	return flagNames(uint8(r), "readable", "writable", "hung up", "failed", "urgent")
}

func flagNames(bits uint8, names ...string) string {
	var set []string
	for i, name := range names {
		if bits&(1<<i) != 0 {
			set = append(set, name)
		}
	}
	if len(set) == 0 {
		return "nothing"
	}
	return strings.Join(set, "|")
}
