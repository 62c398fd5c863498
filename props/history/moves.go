package history

// legalMoves[from] has every state that may follow (G1). Only a failed start moves from
// NotStarted or ShuttingDown directly to Terminated.
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
