package tcp

import (
	"context"
	"errors"

	"eventide/core"
)

// Quiesce stops the input of every channel of group, for good, and waits until no handler
// is inside Read or gets another Read. A channel that becomes active later gets none either.
// Writes go on: what was read can be answered.
//
// Call it between the end of the acceptors and the end of the executors that compute the
// answers, if the handlers do not hold their channels (Channel.Hold):
//
//	Steps: []process.Step{
//		{Name: "acceptors", Executor: boss},
//		{Name: "input", Run: func(ctx context.Context) error { return tcp.Quiesce(ctx, loops) }},
//		{Name: "workers", Executor: workers}, // every request that was read is answered
//		{Name: "loops", Executor: loops},     // every answer is sent
//	},
//
// The tempting wrong version leaves out the second step: while the workers end, the loops
// go on reading requests that no worker accepts any more.
//
// A request that the kernel has received and no handler has read is not accepted. The loops
// discard it when they drain the channel, so that its client sees an orderly end of the
// stream without an answer, and not a reset. Until then the end of a peer's stream is not
// noticed.
//
// The error is nil if the input has ended; core.ErrInEventLoop if the caller is a loop of
// group, and nothing was done; the cause of ctx if that ends first, and the input ends soon.
// A loop that is not started is started; one that was shut down ends its input by itself,
// and Quiesce waits for its end.
func Quiesce(ctx context.Context, group *core.Group) error {
	return quiesce(ctx, "Quiesce", loops{group: group})
}

// QuiesceOn is Quiesce for the channels of one loop.
func QuiesceOn(ctx context.Context, loop *core.EventLoop) error {
	return quiesce(ctx, "QuiesceOn", loops{loop: loop})
}

func quiesce(ctx context.Context, call string, of loops) error {
	if ctx == nil {
		return argumentError(call, "ctx is nil, want a context")
	}
	if err := of.check(call, "group"); err != nil {
		return err
	}
	if of.inEventLoop() {
		return core.ErrInEventLoop
	}
	var ends []<-chan struct{}
	for loop := range of.all() {
		end, err := endInput(loop)
		if err != nil {
			return err
		}
		ends = append(ends, end)
	}
	for _, end := range ends {
		select {
		case <-end:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// endInput ends the input of the loop's channels, and returns a channel that is closed then.
func endInput(loop *core.EventLoop) (<-chan struct{}, error) {
	done := make(chan struct{})
	// Not a task: it would take room in a bounded queue, and restart a quiet period.
	reg, err := loop.RegisterChannel(0, 0, inputEnd{})
	switch {
	case errors.Is(err, core.ErrRejected) && loop.State() >= core.StateShutdown:
		return loop.Termination().Done(), nil
	case err != nil:
		return nil, err
	}
	reg.Post(func() {
		defer reg.End(core.ChannelEnd{Kind: core.EndUncounted})
		shared, err := sharedOfLoop.Get()
		if err == nil { // it is a body of the loop
			shared.noInput = true
		}
		close(done)
	})
	return done, nil
}

// inputEnd is endInput as its loop sees it (core.Channel). It has no descriptor, and its
// only task ends it.
type inputEnd struct{}

func (inputEnd) Ready(core.Readiness) {}
func (inputEnd) Drain(core.Deadline)  {}
func (inputEnd) Abort(error)          {}
