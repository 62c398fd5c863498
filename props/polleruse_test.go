package props

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/pollertest"
	"eventide/props/history"

	"github.com/stretchr/testify/require"
)

// TestPollerUse: each wrong call on a poller is found, and the right ones beside it are not.
func TestPollerUse(t *testing.T) {
	ok := func(p *poller) { _ = p.Wait(time.Now()) }
	fails := func(p *poller) { p.Fail(pollertest.Wait, errPoller); _ = p.Wait(time.Now()) }
	reopen := func(p *poller) { _ = p.Reopen() }
	poll := func(p *poller) { _ = p.Poll() }
	busy := func(p *poller) {
		for range leastBusy {
			p.rec.log.Add(history.Event{Kind: history.Wake})
		}
	}
	storm := func(n int) func(p *poller) {
		return func(p *poller) {
			p.early = n
			for range n {
				p.rec.Trace(core.Event{Kind: core.EventPark})
				_ = p.Wait(core.Deadline{})
				p.rec.log.Add(history.Event{Kind: history.Unpark})
			}
		}
	}
	woken := func(p *poller) {
		p.rec.Trace(core.Event{Kind: core.EventPark})
		p.rec.Trace(core.Event{Kind: core.EventWake})
		p.early = 1
		_ = p.Wait(core.Deadline{})
		p.rec.Trace(core.Event{Kind: core.EventUnpark})
	}
	tasks := func(n int) func(p *poller) {
		return func(p *poller) {
			p.use.shared.handled = true
			for range n {
				p.use.begins()
			}
		}
	}
	type does = []func(*poller)
	for name, c := range map[string]struct{ right, wrong does }{
		"a failure without a rebuild":   {does{ok, fails}, does{ok}},
		"a second failure":              {does{fails, reopen, fails}, does{reopen}},
		"worked in between":             {does{fails, reopen, ok, fails, reopen, busy, poll, fails, reopen}, does{poll}},
		"a rebuild without a failure":   {does{ok}, does{reopen}},
		"a rebuild after few returns":   {does{storm(mostPremature - 1)}, does{reopen}},
		"no rebuild after many returns": {does{storm(mostPremature)}, does{storm(1)}},
		"a wake-up before a Wait":       {does{woken, storm(mostPremature)}, does{storm(1)}},
		"a rebuild after many returns":  {does{storm(mostPremature), reopen}, does{reopen}},
		"a poll of a loop that sleeps":  {does{ok, busy, poll, busy, poll}, does{poll}},
		"tasks without a poll":          {does{ok, tasks(turnTasks), busy, poll, tasks(turnTasks)}, does{tasks(1)}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPoller(nil, newRecorder(nil, nil))
				wrong := ""
				p.use.ratio, p.use.epoch = 50, time.Now().Add(-time.Hour)
				p.use.blame = func(format string, args ...any) { wrong = fmt.Sprintf(format, args...) }
				for i, do := range c.right {
					do(p)
					require.Empty(t, wrong, "call %d", i)
				}
				for _, do := range c.wrong {
					do(p)
				}
				require.NotEmpty(t, wrong)
			})
		})
	}
}
