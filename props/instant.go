package props

import (
	"fmt"

	"eventide/props/history"
)

// checkInstant returns the first shutdown call that took time. It begins the shutdown and returns:
// neither a body nor a spawner delays it (G11, G17).
func checkInstant(lane Lane, events []history.Event, p Program) *history.Violation {
	if lane != Virtual || p.Clock == ClockRounded || p.clockFaults() {
		return nil
	}
	for i := range events {
		e := &events[i]
		if e.Kind != history.Return || e.Op != history.OpShutdown && e.Op != history.OpShutdownGracefully {
			continue
		}
		if began := events[e.Call-1].At; e.At != began {
			return &history.Violation{
				Guarantee: "G11", Predicate: "Instant", Sentence: "a shutdown call returns at once",
				Text: fmt.Sprintf("%v, called at %v, returns %v later", e.Op, began, e.At-began), At: []int{e.N},
			}
		}
	}
	return nil
}
