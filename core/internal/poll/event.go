package poll

// Event is core.PollEvent: the readiness of one descriptor, named by the token under
// which it was added.
type Event struct {
	Token     uint64
	Readiness Readiness
}

// BusyTurns bounds the turns of a loop between two looks at what its poller watches: with
// tasks without end the loop never sleeps, and sleeping is what looks (G13). A poller whose
// Wait may return without a look counts those returns up to the same bound.
const BusyTurns = 16
