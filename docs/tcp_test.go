package docs

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/tcp"
	"eventide/core/tcp/tcptest"
)

// The fragments of docs/tcp.md, so that the compiler sees them.
var (
	_ tcp.Handler = &handler{}
	_             = broadcast
)

// handler answers on other executors.
type handler struct {
	tcp.HandlerBase
	workers core.EventExecutor
}

func answer(request []byte) []byte { return request }

func (h *handler) Read(ch *tcp.Channel, p []byte) {
	release, err := ch.Hold()
	if err != nil {
		return // the channel is closing: the request is not accepted
	}
	request := bytes.Clone(p)
	err = h.workers.Execute(func() {
		defer release()
		ch.WriteAndFlush(answer(request))
	})
	if err != nil { // refused: the function never runs
		release()
		ch.Close()
	}
}

func broadcast(listener *tcp.Listener, message []byte) (tcp.BroadcastResult, error) {
	sent, err := tcp.Broadcast(listener.Channels(), message, tcp.SkipUnwritable)
	return sent, err
}

// echo is the handler of the page's program.
type echo struct{ tcp.HandlerBase }

func (echo) Read(ch *tcp.Channel, p []byte)     { ch.Write(p) }
func (echo) ReadComplete(ch *tcp.Channel)       { ch.Flush() }
func (echo) WritabilityChanged(ch *tcp.Channel) { ch.SetAutoRead(ch.IsWritable()) }

func TestEcho(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer := tcptest.Connect(t, echo{})
		peer.Send([]byte("hello"))
		if got := string(peer.Received()); got != "hello" {
			t.Errorf("got %q, want hello", got)
		}
		peer.SetRoom(0)       // the peer stops reading
		time.Sleep(time.Hour) // passes at once, with every timer that is due
	})
}
