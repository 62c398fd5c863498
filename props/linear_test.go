package props

import (
	"strings"
	"testing"

	"eventide/props/history"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
)

func parseTrace(t *testing.T, text string) history.Trace {
	t.Helper()
	trace, err := history.Parse(strings.NewReader("verdict: good\nrules: virtual rest states\n\n" + text))
	require.NoError(t, err)
	return trace
}

// TestStarterThatIsRefused: a submission that starts the loop may be refused after a
// close; what was seen of the state in between is no contradiction. What nobody can
// have caused is one all the same.
func TestStarterThatIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want porcupine.CheckResult
	}{
		"started, seen, closed, refused": {`
g1 invoke execute 1
g1 state NotStarted->Started
g2 invoke state
g2 return state Started
g3 invoke shutdown
g3 state Started->Shutdown
g3 return shutdown returned
g1 return execute 1 refused:closed
`, porcupine.Ok},
		"started, and its spawner called back": {`
g1 invoke execute 1
g1 invoke execute 2
g1 return execute 2 refused:starting
g1 state NotStarted->Started
g2 invoke state
g2 return state Started
g3 invoke shutdown
g3 state Started->Shutdown
g3 return shutdown returned
g1 return execute 1 refused:closed
`, porcupine.Ok},
		"seen before the call": {`
g2 invoke state
g2 return state Started
g1 invoke execute 1
g1 state NotStarted->Started
g1 return execute 1 accepted
`, porcupine.Illegal},
		"seen, and another was refused": {`
g1 invoke execute 1
g2 invoke state
g2 return state Started
g3 invoke shutdown
g3 return shutdown returned
g1 return execute 1 refused:closed
`, porcupine.Illegal},
	} {
		t.Run(name, func(t *testing.T) {
			trace := parseTrace(t, c.text)
			h, err := history.Of(trace.Events, trace.Rules)
			require.NoError(t, err)
			require.Equal(t, c.want, linearizable(h, trace.Events, terms{observed: trace.Rules}))
		})
	}
}
