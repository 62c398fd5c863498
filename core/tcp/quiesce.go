package tcp

import (
	"context"
	"errors"

	"eventide/core"
)

// Quiesce stops the input of every channel of group for good, and blocks until no handler
// is inside Read or will be called with more input. That includes channels that become
// active later. Writes are still accepted, so requests that were read can be answered.
//
// Call it after the acceptors have ended and before the executors that compute the
// answers end, if the handlers do not hold their channels (Channel.Hold):
//
//	Steps: []process.Step{
//		{Name: "acceptors", Executor: boss},
//		{Name: "input", Run: func(ctx context.Context) error { return tcp.Quiesce(ctx, loops) }},
//		{Name: "workers", Executor: workers}, // every request that was read is answered
//		{Name: "loops", Executor: loops},     // every answer is sent
//	},
//
// The tempting wrong version omits the second step: while the workers end, the loops
// still read requests, and no worker accepts them any more.
//
// A request that the kernel has received and no handler has read is not accepted. The loops
// discard it when they drain the channel, so its client sees an orderly end of the
// stream without an answer, and not a reset. Until they drain it, the end of the peer's
// stream is not noticed.
//
// The error is nil if the input has ended. It is core.ErrInEventLoop if the caller is on a
// loop of group; the call then has no effect. It is the cause of ctx if ctx ends first; the
// input then still ends soon. Quiesce starts loops that are not started. The input of a
// loop that was shut down ends with the loop, and Quiesce waits for its termination.
func Quiesce(ctx context.Context, group *core.Group) error {
	return quiesce(ctx, "Quiesce", loops{name: "group", group: group})
}

// QuiesceOn is Quiesce for the channels of one loop.
func QuiesceOn(ctx context.Context, loop *core.EventLoop) error {
	return quiesce(ctx, "QuiesceOn", loops{loop: loop})
}

func quiesce(ctx context.Context, call string, of loops) error {
	if ctx == nil {
		return argumentError(call, "ctx is nil, want a context")
	}
	if err := of.check(call); err != nil {
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

// endInput ends the input of the loop's channels. It returns a channel that is closed when
// the input has ended.
func endInput(loop *core.EventLoop) (<-chan struct{}, error) {
	done := make(chan struct{})
	// Not a task: it would take room in a bounded queue, and restart a quiet period.
	reg, err := registerNoDescriptor(loop, inputEnd{})
	switch {
	case errors.Is(err, core.ErrRejected) && loop.State() >= core.StateShutdown:
		return loop.Termination().Done(), nil
	case err != nil:
		return nil, err
	}
	reg.Post(func() {
		defer reg.End(core.ChannelEnd{Kind: core.EndUncounted})
		shared().noInput = true
		close(done)
	})
	return done, nil
}

// inputEnd is the core.Channel of endInput. It has no descriptor, and its only body ends it.
type inputEnd struct{}

func (inputEnd) Ready(core.Readiness) {}
func (inputEnd) Drain(core.Deadline)  {}
func (inputEnd) Abort(error)          {}
