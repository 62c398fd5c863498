package props

import (
	"testing"
	"testing/synctest"
	"time"

	"eventide/props/history"

	"github.com/stretchr/testify/require"
)

// whileDraining returns how many events between the begin of Drain of a channel and its end are of this channel and satisfy is.
func whileDraining(events []history.Event, is func(*history.Event) bool) int {
	draining, n := map[int]bool{}, 0
	for i := range events {
		switch e := &events[i]; {
		case e.Kind == history.Begin && e.Body == history.BodyDrain:
			draining[e.ID] = true
		case e.Kind == history.Ended:
			delete(draining, e.ID)
		default:
			n += one(draining[e.ID] && is(e))
		}
	}
	return n
}

func becomesReady(e *history.Event) bool { return e.Kind == history.Readied }

func handlesReadiness(e *history.Event) bool {
	return e.Kind == history.Begin && e.Body == history.BodyReadiness
}

// slowHandlers returns how many panic handlers took time on the loop.
func slowHandlers(events []history.Event) (n int) {
	var since time.Duration
	for i := range events {
		switch e := &events[i]; {
		case e.ID != handlerID || !e.InLoop:
		case e.Kind == history.Begin:
			since = e.At
		case e.Kind == history.End:
			n += one(e.At > since)
		}
	}
	return n
}

// TestProgramsMeetRarePremises: what only some programs do is done by enough of them, so that the predicates judge
// it.
func TestProgramsMeetRarePremises(t *testing.T) {
	const programs, least = 400, 4
	met := map[string]int{}
	for seed := range programs {
		for _, profile := range []Profile{{Loop: true, Wide: true}, {Abrupt: true, Wide: true}} {
			p := Programs(profile).Example(seed)
			var out Recording
			synctest.Test(t, func(*testing.T) { out = Run(p) })
			v, err := Judge(p, out)
			require.NoError(t, err)
			require.Empty(t, v.Violations, "%v", p)
			met["a channel is ready while draining"] += min(1, whileDraining(out.Events, becomesReady))
			met["a channel handles readiness while draining"] += min(1, whileDraining(out.Events, handlesReadiness))
			met["a panic handler takes time"] += min(1, slowHandlers(out.Events))
		}
	}
	t.Logf("met by so many of %d programs: %v", 2*programs, met)
	for what, n := range met {
		require.GreaterOrEqual(t, n, least, what)
	}
}

// TestG7ManyTimersUnderEachPolicy: more timers than one turn runs are due at the shutdown call, and as many later.
func TestG7ManyTimersUnderEachPolicy(t *testing.T) {
	for _, policy := range []history.TimerPolicy{history.CancelTimers, history.RunDueTimers, history.RunTimersUntilTimeout} {
		for name, pool := range map[string]int{"executor": 0, "pool": 3} {
			t.Run(policy.String()+"/"+name, func(t *testing.T) {
				p := Program{Timers: policy, Pool: pool, Actors: []Actor{{Steps: []Step{
					{Op: history.OpExecute, ID: 1, Times: max(1, pool), Body: &Script{Sleep: 2 * time.Millisecond}},
					{Op: history.OpSchedule, ID: 2, Times: 300, Delay: time.Millisecond, Body: &Script{}},
					{Op: history.OpSchedule, ID: 3, Times: 300, Delay: 5 * time.Millisecond, Body: &Script{}},
					{Op: history.OpShutdownGracefully, Wait: time.Millisecond, Quiet: time.Millisecond, Timeout: time.Second},
				}}}}
				var out Recording
				synctest.Test(t, func(*testing.T) { out = Run(p) })
				v, err := Judge(p, out)
				require.NoError(t, err)
				require.Empty(t, v.Violations)
				want := map[history.TimerPolicy]int64{history.RunDueTimers: 300, history.RunTimersUntilTimeout: 600}[policy]
				require.Equal(t, want, out.Final.Report.TimersRun)
			})
		}
	}
}

// TestG10ASlowPanicHandler: a panic handler delays the close if it takes longer than the quiet period, and does not
// restart that period.
func TestG10ASlowPanicHandler(t *testing.T) {
	for name, c := range map[string]struct {
		quiet, closes time.Duration
	}{
		"short quiet period": {time.Millisecond, time.Millisecond + slowHandler},
		"long quiet period":  {10 * time.Millisecond, 11 * time.Millisecond},
	} {
		for kind, pool := range map[string]int{"executor": 0, "pool": 2} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				p := Program{Handler: HandlerSlow, Pool: pool, Actors: []Actor{{Steps: []Step{
					{Op: history.OpExecute, ID: 1, Body: &Script{Sleep: time.Millisecond, End: history.Panicked}},
					{Op: history.OpShutdownGracefully, Quiet: c.quiet, Timeout: time.Second},
				}}}}
				var out Recording
				synctest.Test(t, func(*testing.T) { out = Run(p) })
				v, err := Judge(p, out)
				require.NoError(t, err)
				require.Empty(t, v.Violations)
				require.Equal(t, 1, slowHandlers(out.Events))
				for _, e := range out.Events {
					if e.Kind == history.Transit && e.To == history.Shutdown {
						require.Equal(t, c.closes, e.At)
					}
				}
			})
		}
	}
}
