package history

import "fmt"

// State is how far an executor's life has gone. "At least this far" is a
// comparison: s >= ShuttingDown. The package has its own type so that it can
// judge executors it does not know.
type State uint8

// The five states, in their only order.
const (
	NotStarted   State = iota // no goroutine yet; everything is accepted
	Started                   // the loop lives
	ShuttingDown              // a shutdown was asked for; still accepting
	Shutdown                  // admission has ended; accepted work is finished
	Terminated                // nothing runs any more; final
)

var stateNames = [...]string{"NotStarted", "Started", "ShuttingDown", "Shutdown", "Terminated"}

// String is the constant's name.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// legalMoves is G1: legalMoves[from] has every state that may come next. The
// moves from NotStarted and ShuttingDown straight to Terminated are a start
// that failed.
var legalMoves = [...][]State{
	NotStarted:   {Started, ShuttingDown, Shutdown, Terminated},
	Started:      {ShuttingDown, Shutdown},
	ShuttingDown: {Shutdown, Terminated},
	Shutdown:     {Terminated},
	Terminated:   {},
}

func legalMove(from, to State) bool {
	for _, s := range legalMoves[from] {
		if s == to {
			return true
		}
	}
	return false
}
