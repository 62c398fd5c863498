package tcp_test

import (
	"runtime"
	"slices"
	"sync"
	"testing"

	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// TestBroadcastBesideTheEnd: a Broadcast beside the end of an unwritable channel skips the channel, or finds it closed, and never
// gives it the message.
func TestBroadcastBesideTheEnd(t *testing.T) {
	ends := []func(*tcp.Channel){
		func(ch *tcp.Channel) { ch.CloseOutput() },
		func(ch *tcp.Channel) { _, _ = ch.EventLoop().ShutdownGracefully(0, coretest.HangGuard) },
	}
	for n := range 60 {
		p := newPair(t, nil, tcp.WithWriteBufferWaterMarks(2, 8))
		p.ch.Write(make([]byte, 100)) // not flushed: it stays unwritable until it ends
		var calls sync.WaitGroup
		for range 2 {
			calls.Go(func() {
				for sent := (tcp.BroadcastResult{}); sent.Refused == 0; runtime.Gosched() {
					var err error
					if sent, err = tcp.Broadcast(slices.Values([]*tcp.Channel{p.ch}), []byte("message"), tcp.SkipUnwritable); err != nil || sent.Accepted > 0 {
						t.Errorf("the unwritable channel: %+v, %v, want no message in it", sent, err)
						return
					}
				}
			})
		}
		for range 3 {
			runtime.Gosched()
		}
		ends[n%len(ends)](p.ch)
		calls.Wait()
		<-p.ch.EventLoop().Shutdown().Done()
	}
}
