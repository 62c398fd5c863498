package core

import (
	"time"

	"eventide/internal/vocabulary"
)

// Channel is a descriptor that a shutdown ends in an orderly way: a connection, or a
// listener. Package core/tcp has implementations; write your own for other transports.
// A loop terminates only when every channel registered with it has ended.
//
// The loop calls these methods, each as a body: one at a time, and a panic is recovered
// and reported. If Registration.End is called on the loop, no method is called after it. If
// another goroutine calls End, one call that the loop has already chosen may still run.
type Channel interface {
	// Ready is called when the descriptor is ready, with its readiness.
	Ready(Readiness)

	// Drain is called at most once: when ShutdownGracefully has been called and the policy
	// is DrainChannels, unless Abort comes first. The channel must stop delivering input,
	// flush its output, and end by until at the latest.
	Drain(until Deadline)

	// Abort is called at most once, when the channel must end now: by the policy
	// CloseChannels, by Shutdown, by the deadline of a graceful shutdown, or because the
	// loop's poller is broken or could not be rebuilt with this descriptor. cause is the
	// cause of the shutdown or the error of the poller. The channel may call End after
	// Abort has returned, by Post or on any goroutine. But it must call End in any case,
	// even if Abort panics: the loop waits for it.
	Abort(cause error)
}

// DrainPolicy says what a shutdown does with open channels.
type DrainPolicy = vocabulary.DrainPolicy

const (
	// DrainChannels: ShutdownGracefully drains each channel, and aborts at its deadline
	// those that are still open. The quiet period does not end while a channel is open.
	// Shutdown aborts channels.
	DrainChannels = vocabulary.DrainChannels

	// CloseChannels: the shutdown call aborts every channel, even one with output that is
	// not flushed (as in Netty, R199).
	CloseChannels = vocabulary.CloseChannels
)

// WithDrain sets the policy for channels. The default is DrainChannels. The option has no
// effect on an Executor, which has no channels.
func WithDrain(policy DrainPolicy) Option {
	return func(c *config) error {
		if policy != DrainChannels && policy != CloseChannels {
			return argumentError("WithDrain", "policy is %d, want DrainChannels or CloseChannels", int(policy))
		}
		c.drain = policy
		return nil
	}
}

// ChannelEnd says how a channel ended, for the Report. An unknown Kind counts as
// EndAborted, and a negative Discarded or Refused as 0.
type ChannelEnd struct {
	Kind      ChannelEndKind
	Discarded int64 // bytes accepted by a write that were never handed to the kernel
	Refused   int64 // writes that the channel refused because of the shutdown: see Report.WritesRefused

	// Held names the channel if a shutdown closed it while an answer was in flight;
	// HeldSince is the time since which the answer was in flight. See Report.Held. Both
	// are used only with EndAborted.
	Held      string
	HeldSince time.Time
}

// ChannelEndKind is how a channel ended.
type ChannelEndKind uint8

const (
	// EndUncounted: the channel is not a connection but, for example, a listener.
	EndUncounted ChannelEndKind = iota
	// EndDrained: all output was flushed, and the end of the peer's stream was seen, so
	// that the peer has received everything (G23).
	EndDrained
	// EndAborted: any other end.
	EndAborted
)

// RegisterChannel registers a Channel, as Register registers a function. A shutdown calls
// the channel's Drain or Abort method; the channel must call Registration.End when it has
// ended. If RegisterChannel is not called on the loop, the loop may call methods of the
// channel before RegisterChannel has returned the registration.
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

// End closes the registration of a channel, like Close. If a shutdown has begun, it also
// counts how the channel ended. Only the first call of End or Close has an effect.
func (r *Registration) End(end ChannelEnd) {
	r.close(nil, end)
}

// plainHandler is the Channel of a registration by Register. A shutdown closes that
// registration itself, and calls neither Drain nor Abort.
type plainHandler func(Readiness)

func (h plainHandler) Ready(r Readiness) { h(r) }
func (plainHandler) Drain(Deadline)      {}
func (plainHandler) Abort(error)         {}
