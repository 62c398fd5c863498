package history_test

import (
	"fmt"
	"testing"
	"time"

	"eventide/props/history"
)

// BenchmarkCheck indexes and judges a log of tasks that run one after the
// other, with every predicate. key events: length of the log.
func BenchmarkCheck(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		events := serial(n / 4)
		b.Run(fmt.Sprintf("events=%d", len(events)), func(b *testing.B) {
			for b.Loop() {
				h, err := history.Of(events, history.Rules{Virtual: true, AtRest: true, Parts: history.LoopKnown})
				if err != nil {
					b.Fatal(err)
				}
				if v := h.Violations(); len(v) > 0 {
					b.Fatal(v[0])
				}
			}
		})
	}
}

// serial is a log of so many tasks, each submitted, accepted and run.
func serial(tasks int) []history.Event {
	var events []history.Event
	add := func(e history.Event) {
		e.N = len(events) + 1
		events = append(events, e)
	}
	for id := 1; id <= tasks; id++ {
		at, invoke := time.Duration(id)*time.Millisecond, len(events)+1
		add(history.Event{At: at, G: 1, Kind: history.Invoke, Op: history.OpExecute, ID: id})
		add(history.Event{At: at, G: 1, Kind: history.Return, Op: history.OpExecute, ID: id, Call: invoke, Outcome: history.Accepted})
		add(history.Event{At: at, G: -1, Kind: history.Begin, Body: history.BodyTask, ID: id, InLoop: true})
		add(history.Event{At: at, G: -1, Kind: history.End, Body: history.BodyTask, ID: id, InLoop: true, Outcome: history.Normal})
	}
	return events
}
