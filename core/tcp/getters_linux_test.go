package tcp_test

import (
	"io"
	"testing"
	"time"

	"eventide/core/internal/coretest"
)

// TestGettersBesideEveryCall: each method of a Channel without arguments may be called from any
// goroutine at any time.
func TestGettersBesideEveryCall(t *testing.T) {
	p := newPair(t, nil)
	go func() {
		_, _ = io.Copy(io.Discard, p.peer)
		_ = p.peer.Close()
	}()
	except := []string{"Close", "CloseOutput", "Hold",
		"Again", "ContinueFlush", "FireGraceTimer", "GraceFiresEarly", "HasRareState", "InputEnded"} // of tests, for the loop
	coretest.CallGetters(t, p.ch, except, func() {
		for range 300 {
			p.ch.WriteAndFlush([]byte("some bytes"))
		}
		p.ch.CloseGracefully(time.Now().Add(coretest.HangGuard))
		<-p.ch.CloseFuture().Done()
	})
}
