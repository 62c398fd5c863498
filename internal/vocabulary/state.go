package vocabulary

// State is the life-cycle state of an executor. States are ordered, so that "at
// least this far" is a comparison: s >= ShuttingDown. States only move forward (G1).
type State int32

const (
	// NotStarted: there is no goroutine. The first accepted call that needs the
	// loop, or a shutdown call, leaves this state. A failed start does not (G17).
	NotStarted State = iota

	// Started: the spawner has accepted the loop. Tasks are accepted and run.
	Started

	// ShuttingDown: a graceful shutdown was requested. Tasks are still accepted,
	// hooks run, and the quiet period runs.
	ShuttingDown

	// Shutdown: admission is closed. Accepted work still runs.
	Shutdown

	// Terminated: Termination().Done() is closed and nothing runs any more. Final.
	Terminated
)

var stateWords = []string{"NotStarted", "Started", "ShuttingDown", "Shutdown", "Terminated"}

// String returns the constant's name, such as "ShuttingDown".
func (s State) String() string { return word(s) }

// MarshalText implements encoding.TextMarshaler.
func (s State) MarshalText() ([]byte, error) { return marshal(s) }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *State) UnmarshalText(text []byte) error { return unmarshal(s, text) }
