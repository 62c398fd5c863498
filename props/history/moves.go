package history

// legalMoves is G1: legalMoves[from] has every state that may follow. The moves from
// NotStarted and ShuttingDown straight to Terminated are those of a failed start.
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
