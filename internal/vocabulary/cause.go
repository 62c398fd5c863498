package vocabulary

// Cause says why admission was closed or why a registration ended. The zero value means
// that no cause is known, or that the owner ended the registration. Checks compare
// causes, never the texts of errors.
type Cause uint8

// The causes.
const (
	CauseShutdown   Cause = iota + 1 // a shutdown call
	CauseTimeout                     // the deadline of a shutdown
	CauseReused                      // the registration's descriptor was closed and its number used again
	CausePoller                      // the loop's poller is broken
	CauseOtherError                  // any other failure: of a start, or of one descriptor
)

var causeWords = []string{
	CauseShutdown: "shutdown", CauseTimeout: "timeout", CauseReused: "reused", CausePoller: "poller", CauseOtherError: "error",
}

// Failure reports whether something broke: a start, the poller or a descriptor.
func (c Cause) Failure() bool { return c >= CausePoller }

// String returns the word for the cause, such as "timeout".
func (c Cause) String() string { return word(c) }

// MarshalText implements encoding.TextMarshaler.
func (c Cause) MarshalText() ([]byte, error) { return marshal(c) }

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *Cause) UnmarshalText(text []byte) error { return unmarshal(c, text) }
