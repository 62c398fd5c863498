package blocking_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// TestG23AbortedChannelsAreLogged: a channel that the deadline of a shutdown cuts is logged if the report counts it as aborted. If
// Close was called before the shutdown call, and no bytes are lost, the shutdown has aborted nothing: it is neither counted nor logged.
func TestG23AbortedChannelsAreLogged(t *testing.T) {
	for _, closes := range []bool{false, true} {
		for _, writes := range []bool{false, true} {
			t.Run(fmt.Sprintf("closes=%v,writes=%v", closes, writes), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { deadlineCuts(t, closes, writes) })
			})
		}
	}
}

// deadlineCuts makes the shutdown call while a channel is in its handshake, which ends only as the deadline cuts it.
func deadlineCuts(t *testing.T, closes, writes bool) {
	g := newGroup(t, 0)
	out := new(coretest.Log)
	ours, theirs := net.Pipe()
	closeAtEnd(t, theirs)
	conn := cutShake{ours, make(chan struct{}), new(sync.Once)}
	ch := mustRegister(t, g, conn, &handler{}, blocking.WithHandshakeTimeout(time.Hour), blocking.WithCloseTimeout(time.Hour),
		blocking.WithLogger(slog.New(slog.NewTextHandler(out, nil))))
	synctest.Wait() // until the handshake
	if writes {
		ch.Write([]byte("lost"))
	}
	if closes {
		ch.Close()
	}
	coretest.MustShutdownGracefully(t, g, 0, time.Second)
	report := coretest.AwaitDone(t, g)
	if cause := ch.CloseCause(); !errors.Is(cause, core.ErrShutdownTimeout) {
		t.Fatalf("G22: the cause is %v, want ErrShutdownTimeout", cause)
	}
	want := 1
	if closes && !writes {
		want = 0
	}
	if messages := strings.Count(out.String(), "aborted a channel"); report.ChannelsAborted != int64(want) || messages != want {
		t.Errorf("G23: %d channels are aborted, and logged %q, want %d for both", report.ChannelsAborted, out, want)
	}
}
