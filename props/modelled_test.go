package props

import (
	"testing"

	"eventide/props/history"

	"github.com/stretchr/testify/require"
)

// TestAsModelledFailedStart: a call that is told of a failed start only after the end
// is no step of the model, unless that start was the end. With free goroutines that holds only for
// a call that was made before the shutdown call.
func TestAsModelledFailedStart(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		dropped bool
	}{
		"the poller failed, later": {`
g1 invoke execute 1
g2 invoke execute 2
g2 state NotStarted->Started
g2 admit execute 2 accepted
g2 return execute 2 accepted
loop park Started until=never next=never queued=0
loop state Started->Shutdown cause=poller
g1 admit execute 1 refused
g1 return execute 1 refused:startfailed
`, true},
		"the start failed in a shutdown": {`
g1 invoke execute 1
g2 invoke shutdown
g2 state NotStarted->Shutdown cause=error
g2 return shutdown returned
g1 admit execute 1 refused
g1 return execute 1 refused:startfailed
`, false},
		"a shutdown call came between": {`
g1 invoke execute 1
g2 invoke shutdown
g2 admit shutdown true
g2 state NotStarted->Shutdown cause=shutdown
g1 admit execute 1 refused
g1 return execute 1 refused:startfailed
`, true},
	} {
		t.Run(name, func(t *testing.T) {
			trace := parseTrace(t, c.text)
			for _, early := range []bool{false, true} {
				events, ok := asModelled(trace.Events, early)
				require.True(t, ok)
				require.Equal(t, c.dropped, events[0].Op == history.OpStats, "early %v", early)
			}
		})
	}
}

func TestAsModelledFailedStartOfALateCall(t *testing.T) {
	trace := parseTrace(t, `
g2 invoke shutdown
g2 admit shutdown true
g2 state NotStarted->Shutdown cause=shutdown
g1 invoke execute 1
g1 admit execute 1 refused
g1 return execute 1 refused:startfailed
`)
	events, _ := asModelled(trace.Events, false)
	require.Equal(t, history.OpExecute, events[3].Op, "a lie that the model has to see")
}
