package poll

// Event is core.PollEvent: the readiness of one descriptor, named by the token under
// which it was added.
type Event struct {
	Token     uint64
	Readiness Readiness
}

// BusyTurns bounds the turns of a loop between two polls. A loop that always has tasks
// never sleeps, and would not poll otherwise (G13). A poller whose Wait may return
// without a poll also bounds the number of consecutive such returns by BusyTurns.
const BusyTurns = 16
