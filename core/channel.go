package core

import (
	"time"

	"eventide/internal/vocabulary"
)

// Channel is a descriptor with a life of its own, which a shutdown has to end in
// an orderly way: a connection, or a listener. core/tcp makes them; bring your own
// for other transports. A loop terminates only when every channel registered with
// it has ended.
//
// The loop calls these methods, each as a body: one at a time, and a panic in one
// is contained. After Registration.End none is called.
type Channel interface {
	// Ready tells what the descriptor is ready for.
	Ready(Readiness)

	// Drain is called once, when a shutdown with the policy DrainChannels has
	// begun: the channel is to stop delivering input, to flush, and to end by
	// until at the latest.
	Drain(until Deadline)

	// Abort is called once, with the cause of the close, when the channel is to
	// end now: by the policy CloseChannels, by Shutdown, by the deadline of a
	// graceful shutdown, or because the loop's poller is broken or could not
	// take the descriptor over into a new one. It may end later, by Post or from
	// elsewhere; but whatever happens in Abort, a panic included, end it must: the
	// loop waits for it.
	Abort(cause error)
}

// DrainPolicy says what a shutdown does with channels that are open.
type DrainPolicy = vocabulary.DrainPolicy

const (
	// DrainChannels: ShutdownGracefully drains each channel, which keeps the
	// quiet period from ending, and aborts at its deadline those that are left.
	// Shutdown aborts.
	DrainChannels = vocabulary.DrainChannels

	// CloseChannels: every channel is aborted at the shutdown call, whatever it
	// has not yet flushed (as in Netty, R199).
	CloseChannels = vocabulary.CloseChannels
)

// WithDrain sets the policy for channels. The default is DrainChannels. It has no
// effect on an Executor, which has none.
func WithDrain(policy DrainPolicy) Option {
	return func(c *config) error {
		if policy != DrainChannels && policy != CloseChannels {
			return argumentError("WithDrain", "policy is %d, want DrainChannels or CloseChannels", int(policy))
		}
		c.drain = policy
		return nil
	}
}

// ChannelEnd says how a channel ended, for the Report. A Kind that is none of the
// three counts as EndAborted, and a negative Discarded as 0.
type ChannelEnd struct {
	Kind      ChannelEndKind
	Discarded int64 // bytes accepted by a write that were never handed to the kernel

	// Held names the channel, if a shutdown closed it while an answer was in flight since
	// HeldSince: see Report.Held. Only with EndAborted.
	Held      string
	HeldSince time.Time
}

// ChannelEndKind is how a channel ended.
type ChannelEndKind uint8

const (
	// EndUncounted: no connection, such as a listener.
	EndUncounted ChannelEndKind = iota
	// EndDrained: everything was flushed, and the peer's end of the stream was
	// seen, so that it has received what was sent (G23).
	EndDrained
	// EndAborted: anything else.
	EndAborted
)

// RegisterChannel is Register for a Channel: the shutdown is told to the channel,
// which must call Registration.End when it has ended. Call it from a task of the
// loop: from elsewhere the loop may call the channel before it knows its
// registration.
func (l *EventLoop) RegisterChannel(fd int, interest Interest, ch Channel) (*Registration, error) {
	if ch == nil {
		return nil, argumentError("RegisterChannel", "ch is nil, want a Channel")
	}
	r := &Registration{target: ch, isChannel: true}
	if err := l.register("RegisterChannel", r, fd, interest); err != nil {
		return nil, err
	}
	return r, nil
}

// End closes the registration of a channel and counts how it ended, if a shutdown
// has begun. It is Close in everything else, and like it has no effect the second
// time.
func (r *Registration) End(end ChannelEnd) {
	r.close(nil, end)
}

// plainHandler is what Register makes of a function. Shutdown closes it.
type plainHandler func(Readiness)

func (h plainHandler) Ready(r Readiness) { h(r) }
func (plainHandler) Drain(Deadline)      {}
func (plainHandler) Abort(error)         {}
