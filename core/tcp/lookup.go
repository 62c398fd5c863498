package tcp

import (
	"context"

	"eventide/core"
)

// lookup is the core.Channel of the dial of a name. It has no descriptor, and the dial runs
// on another goroutine; but a shutdown of the loop stops the dial and waits for its end, so
// that none of it outlives the loop (G24). A resolver that ignores its context does not
// delay the loop: package net then returns without it.
type lookup struct {
	loop *core.EventLoop
	stop context.CancelCauseFunc
	reg  *core.Registration // of the goroutine that dials
}

// newLookup registers a lookup with loop. The context that it returns ends with the
// lookup. The caller must call end.
func (d *dialer) newLookup(ctx context.Context, loop *core.EventLoop) (*lookup, context.Context, error) {
	ctx, stop := context.WithCancelCause(ctx)
	l := &lookup{loop: loop, stop: stop}
	var err error
	if l.reg, err = registerNoDescriptor(loop, l); err != nil {
		stop(nil)
		return nil, nil, refusedByLoop(d.call, err)
	}
	return l, ctx, nil
}

func (l *lookup) end() {
	l.stop(nil)
	l.reg.End(core.ChannelEnd{Kind: core.EndUncounted})
}

// Ready implements core.Channel. It is never called.
func (l *lookup) Ready(core.Readiness) {}

// Drain implements core.Channel: a dial has no channel yet, so there is nothing to drain.
func (l *lookup) Drain(core.Deadline) { l.Abort(core.ErrShutdown) }

// Abort implements core.Channel.
func (l *lookup) Abort(cause error) {
	l.stop(&core.RejectedError{State: l.loop.State(), Reason: cause})
}

// dialName resolves the address and connects to each of its addresses until one succeeds.
func (d *dialer) dialName(ctx context.Context, loop *core.EventLoop) (*Channel, error) {
	addrs, err := resolve(ctx, d.addr)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx) // package net reports only that it was cancelled
		}
		return nil, d.wrap(err)
	}
	return d.tryEach(ctx, loop, addrs...)
}
