package process

import (
	"context"
	"time"
)

// nearEnd returns a context that ends shortly before ctx. Then the step gives up waiting for
// connections that have sent nothing, such as those of a health check or a preconnect, so that
// they do not make it late.
func nearEnd(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-heedTimeWithin(ctx)))
}

// isOver reports whether ctx has ended. It compares the deadline with the clock, because the timer
// of the context may be late.
func isOver(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ok && !time.Now().Before(deadline) || ctx.Err() != nil
}

// shutDown calls srv.Shutdown. If only connections that have sent nothing are left at the end of
// near, it gives up and returns nil: no request was cut. For five seconds srv.Shutdown waits for
// the request of such a connection, though srv would not answer it.
func (h *httpServer) shutDown(ctx, near context.Context) error {
	ctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	call := begin(ctx, time.Now(), h.srv.Shutdown)
	silent := false
	select {
	case <-call.over:
	case <-near.Done():
		if silent = h.onlySilent(); silent {
			giveUp()
		}
		<-call.over
	}
	if ctx.Err() != nil && call.err == ctx.Err() && (silent || h.onlySilent()) {
		return nil
	}
	return call.err
}

// onlySilent reports whether no handler runs, and no open connection is known to have sent anything
// that has no answer. Whether a connection with TLS has sent part of a request is not known. After
// unreadTime srv.Shutdown does not wait for the rest of a request.
func (h *httpServer) onlySilent() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.inFlight) > 0 || len(h.active) > 0 || h.unknown > 0 {
		return false
	}
	for c, at := range h.fresh {
		if time.Since(at) < unreadTime && belowTLS(c) == c && received(c) > 0 {
			return false
		}
	}
	return true
}
