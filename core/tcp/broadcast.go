package tcp

import (
	"fmt"
	"iter"
)

// BroadcastPolicy says what Broadcast does with a channel above its high water mark: one
// whose peer reads slower than messages come.
type BroadcastPolicy uint8

const (
	// SkipUnwritable leaves the channel out: its peer misses this message.
	SkipUnwritable BroadcastPolicy = iota
	// WriteUnwritable writes to the channel all the same. Its buffer has no bound.
	WriteUnwritable
	// CloseUnwritable closes the channel at once, so that its peer misses the rest and knows
	// it.
	CloseUnwritable
	// StopAtUnwritable ends the broadcast with an *UnwritableError.
	StopAtUnwritable
)

// BroadcastResult counts the channels of a Broadcast by what became of the message.
type BroadcastResult struct {
	Accepted   int // the channel accepted the message, and has begun to send it
	Unwritable int // the message was not written because of the policy
	Refused    int // the channel was closing or closed
}

// UnwritableError is why a Broadcast with StopAtUnwritable ended early.
type UnwritableError struct {
	Channel *Channel
	Pending int64 // bytes that waited to be sent
}

func (e *UnwritableError) Error() string {
	return fmt.Sprintf("tcp: Broadcast: channel to %v is not writable: %d bytes wait to be sent, want at most %d",
		e.Channel.remote, e.Pending, e.Channel.cfg.high)
}

// Broadcast writes p to each of channels and flushes it:
//
//	sent, err := tcp.Broadcast(tcp.Channels(loops), message, tcp.SkipUnwritable)
//
// It returns when every channel has accepted or refused its copy, and does not wait until
// the copies are sent. Any goroutine may call it. Two broadcasts at a time may reach two
// channels in different orders.
//
// Whether a channel is writable is looked at once, before its write: several broadcasts at
// a time may take it above its mark by a message each.
//
// The error is an *UnwritableError, or about the arguments; the result counts what happened
// before.
func Broadcast(channels iter.Seq[*Channel], p []byte, policy BroadcastPolicy) (sent BroadcastResult, err error) {
	switch {
	case channels == nil:
		return sent, argumentError("Broadcast", "channels is nil, want an iterator")
	case policy > StopAtUnwritable:
		return sent, argumentError("Broadcast", "policy is %d, want SkipUnwritable, WriteUnwritable, CloseUnwritable or StopAtUnwritable", policy)
	}
	for c := range channels {
		if policy != WriteUnwritable && c.isUnwritable() {
			sent.Unwritable++
			if policy == CloseUnwritable {
				c.Close()
			}
			if policy == StopAtUnwritable {
				return sent, &UnwritableError{c, c.PendingBytes()}
			}
			continue
		}
		if c.WriteAndFlush(p).err != nil {
			sent.Refused++
		} else {
			sent.Accepted++
		}
	}
	return sent, nil
}

// isUnwritable reports whether the channel accepts writes and is above its high water mark,
// or has not come below the low one since.
func (c *Channel) isUnwritable() bool {
	if c.writable.Load() {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.writable.Load() && c.refusal(false) == nil
}
