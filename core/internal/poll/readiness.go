package poll

import "strings"

// Interest says what a Registration waits for. The zero value is nothing: the
// registration is paused and its descriptor is not watched at all.
type Interest uint8

const (
	// Readable: input, the end of the input, or a connection to accept.
	Readable Interest = 1 << iota
	// Writable: room for output, or the end of a connect.
	Writable
	// EdgeTriggered asks to be told of each change once, instead of in every
	// turn for as long as it lasts. The handler must then go on until the
	// descriptor would block, or it will not hear of what it left.
	EdgeTriggered
)

// InterestMask has every bit that an Interest may have.
const InterestMask = Readable | Writable | EdgeTriggered

func (i Interest) String() string {
	return flagNames(uint8(i), "Readable", "Writable", "EdgeTriggered")
}

// Readiness is what a poller found out about a descriptor.
type Readiness uint8

const (
	readyRead Readiness = 1 << iota
	readyWrite
	readyHangUp
	readyError
	readyUrgent
)

// NewReadiness returns a Readiness with these answers: for pollers.
func NewReadiness(readable, writable, hungUp, failed bool) Readiness {
	var r Readiness
	for i, set := range [...]bool{readable, writable, hungUp, failed} {
		if set {
			r |= 1 << i
		}
	}
	return r
}

// Readable reports whether a read would not block: there is input, or its end, or
// an error to be fetched.
func (r Readiness) Readable() bool { return r&(readyRead|readyHangUp|readyError) != 0 }

// Writable reports whether a write would not block, if only because it would fail.
func (r Readiness) Writable() bool { return r&(readyWrite|readyError) != 0 }

// HungUp reports that the peer has ended its side. Input may still be there.
func (r Readiness) HungUp() bool { return r&readyHangUp != 0 }

// Failed reports an error on the descriptor, which a read or write will return.
func (r Readiness) Failed() bool { return r&readyError != 0 }

// Urgent reports that there is urgent data in the input, which TCP lets a peer mark.
// A read ends in front of it: one that brought less than it had room for has not
// emptied the descriptor. Only registrations with EdgeTriggered get it; the
// others hear again of whatever is left.
func (r Readiness) Urgent() bool { return r&readyUrgent != 0 }

// WithUrgent returns r with Urgent, which makes it Readable too: for pollers.
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
