package props

import (
	"testing"

	"eventide/core"
	"eventide/props/history"

	"github.com/stretchr/testify/require"
)

// TestConsumeAfterReuse: a handler that was called as its registration ended leaves alone
// what a newer one of the same number has to hear.
func TestConsumeAfterReuse(t *testing.T) {
	const fd = 3
	p := newPoller(&clock{}, newRecorder(nil, nil))
	watch := func(id int, token uint64) {
		p.rec.token[token] = id
		require.NoError(t, p.Add(fd, core.Readable, token))
	}
	watch(1, 10)
	p.input(fd)
	require.NoError(t, p.Poll())
	require.Len(t, p.Ready(), 1)

	require.NoError(t, p.Remove(fd))
	watch(2, 20)
	p.consume(fd, 1)
	require.NoError(t, p.Poll())
	require.Len(t, p.Ready(), 1, "the newer registration was ready, and the handler of the older took that away")
	require.EqualValues(t, 20, p.Ready()[0].Token)

	p.consume(fd, 2)
	require.NoError(t, p.Poll())
	require.Empty(t, p.Ready())
}

// TestReadyAfterDeath: what a dead poller finds all the same is in the log before the
// handler is called.
func TestReadyAfterDeath(t *testing.T) {
	const fd = 3
	p := newPoller(&clock{}, newRecorder(nil, nil))
	p.input(fd)
	p.fail(FaultDead)
	p.rec.token[10] = 1
	require.NoError(t, p.Add(fd, core.Readable, 10))
	said := func() (n int) {
		for _, e := range p.rec.log.Events() {
			if e.Kind == history.Readied {
				n++
			}
		}
		return n
	}
	require.Zero(t, said(), "nobody is owed it")
	require.NoError(t, p.Poll())
	require.Len(t, p.Ready(), 1)
	require.Equal(t, 1, said())
	require.NoError(t, p.Poll())
	require.Equal(t, 1, said(), "once for one readiness")
}

// TestOutputIsNeverReady: a registration for both directions hears of input, and of nothing
// else: no body writes, so a descriptor with room would be reported without end.
func TestOutputIsNeverReady(t *testing.T) {
	const fd = 3
	p := newPoller(&clock{}, newRecorder(nil, nil))
	p.rec.token[10] = 1
	require.NoError(t, p.Add(fd, core.Readable|core.Writable, 10))
	require.NoError(t, p.Poll())
	require.Empty(t, p.Ready())
	p.input(fd)
	require.NoError(t, p.Poll())
	require.Equal(t, []core.PollEvent{{Token: 10, Readiness: core.NewReadiness(true, false, false, false)}}, p.Ready())
}
