package tcptest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"eventide/core/tcp"
	"eventide/core/tcp/tcptest"
)

// shout answers in capitals.
type shout struct{ tcp.HandlerBase }

func (shout) Read(ch *tcp.Channel, p []byte) {
	for i, c := range p {
		if 'a' <= c && c <= 'z' {
			p[i] = c - 'a' + 'A'
		}
	}
	ch.WriteAndFlush(p)
}

// TestShout is the example of Connect, which needs the test of a bubble.
func TestShout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer := tcptest.Connect(t, shout{}, tcp.WithIdleTimeouts(0, 0, time.Minute))
		peer.Send([]byte("hello"))
		if got := string(peer.Received()); got != "HELLO" {
			t.Errorf("got %q, want HELLO", got)
		}
		time.Sleep(time.Hour) // virtual: it returns at once
	})
}
