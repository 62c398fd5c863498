package blocking_test

import (
	"errors"
	"io"
	"testing"

	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// A Flush on the loop sends before it returns, also when one from elsewhere is on its
// way and has not had its turn.
func TestFlushOnLoopDoesNotWaitForAnother(t *testing.T) {
	g := newGroup(t, 0)
	ours, theirs := tcpPair(t)
	ch := mustRegister(t, g, ours, echo())
	onLoop(t, ch, func() {
		flushed := make(chan struct{})
		go func() {
			defer close(flushed)
			ch.WriteAndFlush([]byte("other"))
		}()
		coretest.Await(t, "the other flush", flushed)
		if n, err := ch.WriteAndFlush([]byte("mine")).Wait(t.Context()); n != 4 || err != nil {
			t.Errorf("the write on the loop after its Flush: got %d, %v, want 4, nil", n, err)
		}
	})
	got := make([]byte, 9)
	if _, err := io.ReadFull(theirs, got); string(got) != "othermine" || err != nil {
		t.Errorf("the peer got %q, %v", got, err)
	}
}

// The future of a Flush from elsewhere is that of the last write before it.
func TestFlushFuture(t *testing.T) {
	g := newGroup(t, 0)
	ours, theirs := tcpPair(t)
	ch := mustRegister(t, g, ours, echo())
	ch.Write([]byte("abc"))
	if n, err := ch.Flush().Wait(t.Context()); n != 0 || err != nil || ch.PendingBytes() != 0 {
		t.Errorf("Flush: got %d, %v with %d bytes pending, want 0, nil, 0", n, err, ch.PendingBytes())
	}
	if n, err := ch.Flush().Wait(t.Context()); n != 0 || err != nil {
		t.Errorf("Flush of nothing: got %d, %v, want 0, nil", n, err)
	}
	if _, err := io.ReadFull(theirs, make([]byte, 3)); err != nil {
		t.Error(err)
	}
	<-ch.Close().Done()
	if err := ch.Flush().Err(); !errors.Is(err, blocking.ErrChannelClosed) {
		t.Errorf("Flush of a closed channel: got %v, want ErrChannelClosed", err)
	}
}
