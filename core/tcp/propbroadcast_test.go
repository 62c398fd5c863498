package tcp_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core/internal/coretest"
	"eventide/core/tcp"
	"eventide/core/tcp/tcptest"

	"pgregory.net/rapid"
)

// TestPropBroadcast compares a Broadcast over channels in each state with a specification: the result, the error, the bytes
// that each channel has accepted, and whether it is open. The policy applies to channels that accept writes and are above their
// mark. A channel refuses the message if it is closing without a hold, or if the end of its output has begun.
func TestPropBroadcast(t *testing.T) {
	checkInBubbles(t, func(r *rapid.T) func(t *testing.T) string {
		states := rapid.SliceOfN(rapid.SampledFrom([]string{"open", "above", "shut", "above and shut", "closing", "closed", "held and closing", "above, held and closing"}), 0, 4).Draw(r, "channels")
		policy := rapid.SampledFrom([]tcp.BroadcastPolicy{tcp.SkipUnwritable, tcp.WriteUnwritable, tcp.CloseUnwritable, tcp.StopAtUnwritable}).Draw(r, "policy")
		return func(t *testing.T) string {
			if wrong := checkBroadcast(t, states, policy); wrong != "" {
				return fmt.Sprintf("%s; policy %d, channels %q", wrong, policy, states)
			}
			return ""
		}
	})
}

func checkBroadcast(t *testing.T, states []string, policy tcp.BroadcastPolicy) string {
	var channels []*tcp.Channel
	for _, state := range states {
		p := tcptest.Connect(t, tcp.HandlerBase{}, tcp.WithWriteBufferWaterMarks(1, 2))
		ch := p.Channel()
		channels = append(channels, ch)
		p.SetRoom(0)
		if state == "held and closing" || state == "above, held and closing" {
			release, err := ch.Hold()
			coretest.Must(t, err)
			defer release()
			ch.CloseGracefully(time.Time{})
		}
		switch state {
		case "above", "above and shut", "above, held and closing":
			ch.Write([]byte("123"))
		case "closing":
			ch.Write([]byte("1")) // the peer does not read, so the close stays pending
			ch.CloseGracefully(time.Time{})
		case "closed":
			ch.Close()
		}
		if state == "shut" || state == "above and shut" {
			ch.CloseOutput()
		}
		synctest.Wait()
	}
	var before []int64
	for _, ch := range channels {
		before = append(before, ch.PendingBytes())
	}
	got, err := tcp.Broadcast(slices.Values(channels), []byte("news"), policy)
	synctest.Wait()

	var want tcp.BroadcastResult
	stopped := false
	for i, state := range states {
		above := state == "above" || state == "above, held and closing"
		bytes, open := before[i], state == "open" || state == "above" || state == "shut" || state == "above and shut"
		switch {
		case stopped:
		case above && policy != tcp.WriteUnwritable:
			want.Unwritable++
			stopped = policy == tcp.StopAtUnwritable
			open = open && policy != tcp.CloseUnwritable
			if unwritable := (*tcp.UnwritableError)(nil); stopped && (!errors.As(err, &unwritable) || unwritable.Channel != channels[i] || unwritable.Pending != bytes) {
				return fmt.Sprintf("the error is %v, want that of channel %d", err, i)
			}
		case above || state == "open" || state == "held and closing":
			want.Accepted++
			bytes += 4
		default:
			want.Refused++
		}
		if n := channels[i].PendingBytes(); n != bytes || channels[i].IsOpen() != open {
			return fmt.Sprintf("channel %d has %d bytes and is open: %v, want %d and %v", i, n, channels[i].IsOpen(), bytes, open)
		}
	}
	if got != want || !stopped && err != nil {
		return fmt.Sprintf("the result is %+v and the error %v, want %+v, and an error: %v", got, err, want, stopped)
	}
	return ""
}
