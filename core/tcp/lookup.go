package tcp

import (
	"context"

	"eventide/core"
)

// lookup is the dial of a name as its loop sees it (core.Channel): it has no
// descriptor, and lives on another goroutine, but the loop asks it to end and waits
// for that, so that nothing of it is left behind (G24). A resolver that does not heed
// its context does not hold the loop up: package net leaves it alone then.
type lookup struct {
	loop *core.EventLoop
	stop context.CancelCauseFunc
	reg  *core.Registration // of the goroutine that dials
}

// newLookup returns a lookup that is known to the loop, and the context that ends with
// it. Its owner has to call end.
func (d *dialer) newLookup(ctx context.Context, loop *core.EventLoop) (*lookup, context.Context, error) {
	ctx, stop := context.WithCancelCause(ctx)
	l := &lookup{loop: loop, stop: stop}
	var err error
	// Without an interest no descriptor is watched, whichever it is.
	if l.reg, err = loop.RegisterChannel(0, 0, l); err != nil {
		stop(nil)
		return nil, nil, refusedByLoop(d.call, err)
	}
	return l, ctx, nil
}

func (l *lookup) end() {
	l.stop(nil)
	l.reg.End(core.ChannelEnd{Kind: core.EndUncounted})
}

// Ready is core.Channel's, and is not called.
func (l *lookup) Ready(core.Readiness) {}

// Drain is core.Channel's: a dial is no channel yet, and there is nothing to drain.
func (l *lookup) Drain(core.Deadline) { l.Abort(core.ErrShutdown) }

// Abort is core.Channel's.
func (l *lookup) Abort(cause error) {
	l.stop(&core.RejectedError{State: l.loop.State(), Reason: cause})
}

// dialName looks the name up, tries each address, and waits.
func (d *dialer) dialName(ctx context.Context, loop *core.EventLoop) (*Channel, error) {
	addrs, err := resolve(ctx, d.addr)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx) // package net says only that it was cancelled
		}
		return nil, d.wrap(err)
	}
	return d.tryEach(ctx, loop, addrs...)
}
