package props

import (
	"bytes"
	"fmt"
	"testing"

	"eventide/props/history"

	"pgregory.net/rapid"
)

func TestScratch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Programs(Profile{Timers: true, Abrupt: true, Long: true, Spawner: false}).Draw(t, "program")
		rapid.SyncTest(t, func(t *rapid.T) {
			events := Run(p)
			h, err := history.Of(events, rulesOf(p))
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range h.Violations() {
				var b bytes.Buffer
				fmt.Fprintln(&b, p)
				fmt.Fprintln(&b, v)
				for _, e := range events {
					fmt.Fprintf(&b, "#%d @%v g%d %v %v id=%d call=%d %v %v->%v\n", e.N, e.At, e.G, e.Kind, e.Op, e.ID, e.Call, e.Outcome, e.From, e.To)
				}
				t.Fatal(b.String())
			}
		})
	})
}
