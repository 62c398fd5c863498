package blocking_test

import (
	"io"
	"testing"
	"time"

	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// TestGettersBesideEveryCall: each method of a Channel and of a Group without arguments may be
// called from any goroutine at any time.
func TestGettersBesideEveryCall(t *testing.T) {
	g, err := blocking.NewGroup(1)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := tcpPair(t)
	go func() { _, _ = io.Copy(io.Discard, theirs) }()
	ch, err := g.Register(ours, echo())
	if err != nil {
		t.Fatal(err)
	}
	writes := func() {
		for range 300 {
			ch.WriteAndFlush([]byte("some bytes"))
		}
		ch.Close()
		<-ch.CloseFuture().Done()
	}
	coretest.CallGetters(t, ch, []string{"Close"}, func() {
		coretest.CallGetters(t, g, []string{"Close", "Shutdown"}, writes)
	})
	if _, err := g.ShutdownGracefully(0, time.Minute); err != nil {
		t.Error(err)
	}
	<-g.Termination().Done()
}
