package props

import (
	"context"
	"testing"

	"eventide/core"

	"github.com/stretchr/testify/require"
)

// TestG15SaidFailedIsTrue: Modify may say that the loop has failed, without a call of the poller, only of
// a loop that ends with an error.
func TestG15SaidFailedIsTrue(t *testing.T) {
	ex, err := core.NewExecutor()
	require.NoError(t, err)
	ex.Shutdown()
	_, err = ex.Termination().Wait(context.Background())
	require.NoError(t, err)
	h := emptyHarness(Program{}, nil)
	h.ex = ex
	h.lookAtFailure()
	require.Nil(t, h.wrong.Load())
	h.saidFailed.Store(true)
	h.lookAtFailure()
	require.NotNil(t, h.wrong.Load())
}
