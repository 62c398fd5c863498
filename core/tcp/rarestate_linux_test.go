package tcp_test

import (
	"testing"
	"time"

	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// TestRareState: a channel that is connected keeps no state for its connection attempt or for idle
// timeouts that it does not have; servers keep very many channels. One with idle timeouts does.
func TestRareState(t *testing.T) {
	for _, tt := range []struct {
		opts []tcp.Option
		want bool
	}{{nil, false}, {[]tcp.Option{tcp.WithIdleTimeouts(time.Hour, 0, 0)}, true}} {
		p := newPair(t, func(string, *tcp.Channel, []byte) {}, tt.opts...)
		coretest.OnLoop(t, p.ch.EventLoop(), func() {
			if got := p.ch.HasRareState(); got != tt.want {
				t.Errorf("with %d options an open channel has rare state: %v, want %v", len(tt.opts), got, tt.want)
			}
		})
	}
}
