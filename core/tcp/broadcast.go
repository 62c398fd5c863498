package tcp

import (
	"fmt"
	"iter"
)

// BroadcastPolicy says what Broadcast does with a channel that is not writable: one whose
// peer reads slower than messages arrive.
type BroadcastPolicy uint8

const (
	// SkipUnwritable skips the channel: its peer misses this message.
	SkipUnwritable BroadcastPolicy = iota
	// WriteUnwritable writes to the channel nevertheless. Its buffer grows without bound.
	WriteUnwritable
	// CloseUnwritable closes the channel at once: its peer misses the rest of the messages,
	// and sees the close.
	CloseUnwritable
	// StopAtUnwritable ends the broadcast with an *UnwritableError.
	StopAtUnwritable
)

// BroadcastResult counts the channels of a Broadcast by the fate of the message.
type BroadcastResult struct {
	Accepted   int // Write accepted the message, and a flush was requested
	Unwritable int // the channel was not writable: the policy was applied, nothing was written
	Refused    int // the channel was closing or closed, or its output was shut down
}

// UnwritableError is the error of a Broadcast that StopAtUnwritable ended.
type UnwritableError struct {
	Channel *Channel
	Pending int64 // bytes that wait to be sent
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
// the copies are sent. Any goroutine may call it. Concurrent broadcasts may reach two
// channels in different orders.
//
// It checks once whether a channel is writable, just before the write: each of several
// concurrent broadcasts may take the channel above its mark by one message.
//
// The error is an *UnwritableError or an error of an argument. The result counts the
// channels that Broadcast reached before the error.
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

// isUnwritable reports whether the channel accepts writes and is not writable by its water marks. A
// channel for which another goroutine has called Close is not writable either, and may accept bytes until
// the loop closes it: it is left to Write.
func (c *Channel) isUnwritable() bool {
	if c.writable.Load() {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.writable.Load() && c.refusal(false) == nil && (c.isOpen() || c.held())
}
