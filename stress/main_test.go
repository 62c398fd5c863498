package stress

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"eventide/core"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // thousands of the shutdowns pass their timeout
	goleak.VerifyTestMain(m)
}

// hangGuard turns a hang into a failure. It is no measure of speed.
const hangGuard = 20 * time.Second

// ended waits for the end of an executor and reports whether it came.
func ended(ex core.EventExecutor) bool {
	ctx, cancel := context.WithTimeout(context.Background(), hangGuard)
	defer cancel()
	_, _ = ex.Termination().Wait(ctx)
	return isClosed(ex.Termination().Done())
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
