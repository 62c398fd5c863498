package tcp_test

import (
	"testing"

	"eventide/core/internal/coretest"
)

// A channel keeps no promise of a write that has completed, and no memory for promises when no write is pending.
func TestAChannelKeepsNoPromiseOfACompletedWrite(t *testing.T) {
	coretest.CheckLeaks(t)
	p := newPair(t, nil)
	defer p.peer.Close()
	first, second := p.ch.Write([]byte("x")), p.ch.Write([]byte("y"))
	first.Done()
	second.Done()
	kept := p.ch.KeptWaiters()
	promises, _ := kept()
	coretest.Want(t, "promises while the writes are pending", promises, 2)
	p.ch.Flush()
	coretest.WantErr(t, "the write", awaitWrite(t, second), nil)
	coretest.OnLoop(t, p.ch.EventLoop(), func() {}) // the flush has returned
	promises, list := kept()
	coretest.Want(t, "promises behind the writes", promises, 0)
	coretest.Want(t, "the memory of the list is kept", list, false)
}

// The close gives the memory of bytes that were not sent to the other channels of the loop.
func TestAClosedChannelGivesItsChunksBack(t *testing.T) {
	coretest.CheckLeaks(t)
	const chunk, chunks = 8 << 10, 3
	p := newPair(t, nil)
	defer p.peer.Close()
	p.ch.Write(make([]byte, chunks*chunk))
	coretest.Want(t, "spare chunks before the close", p.ch.SpareChunks(), 0)
	coretest.AwaitErr(t, "the close", p.ch.Close())
	coretest.Want(t, "spare chunks behind it", p.ch.SpareChunks(), chunks)
}
