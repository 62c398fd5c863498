package props

import (
	"testing"

	"eventide/core"

	"github.com/stretchr/testify/require"
)

// TestConsumeAfterReuse: a handler that was called as its registration ended leaves alone
// what a newer one of the same number has to hear.
func TestConsumeAfterReuse(t *testing.T) {
	const fd = 3
	p := newPoller(&clock{}, newRecorder())
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
