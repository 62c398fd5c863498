package vocabulary

// Body names a kind of user function that the loop runs. The zero value names none.
//
// A listener is not a body in the sense of the guarantees: it may nest inside one, it
// does not restart the quiet period, and it may run after done.
type Body uint8

// The kinds of body.
const (
	NoBody Body = iota
	BodyTask
	BodyTail
	BodyTimer
	BodyHook
	BodyListener
	BodyReadiness // the handler of a registration
	BodyDrain     // a shutdown asks a channel to drain
	BodyAbort     // a shutdown, or a lost descriptor, aborts a channel
)

var bodyWords = []string{
	BodyTask: "task", BodyTail: "tail", BodyTimer: "timer", BodyHook: "hook", BodyListener: "listener",
	BodyReadiness: "readiness", BodyDrain: "drain", BodyAbort: "abort",
}

// Registration reports whether the body belongs to a registration.
func (b Body) Registration() bool { return b >= BodyReadiness }

// String returns the word for the kind, such as "timer".
func (b Body) String() string { return word(b) }

// MarshalText implements encoding.TextMarshaler.
func (b Body) MarshalText() ([]byte, error) { return marshal(b) }

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *Body) UnmarshalText(text []byte) error { return unmarshal(b, text) }
