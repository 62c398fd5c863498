package tcp_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// TestWritabilityWhileHeld: an answer that is larger than the high water mark is written
// while the channel closes, by a writer that heeds the marks.
func TestWritabilityWhileHeld(t *testing.T) {
	for name, end := range gracefulEnds {
		t.Run(name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			const part = 32 << 10
			releases, again := make(chan func(), 1), make(chan struct{}, 1)
			p := newPair(t, func(at string, ch *tcp.Channel, _ []byte) {
				switch at {
				case "Read":
					release, err := ch.Hold()
					coretest.WantErr(t, "Hold", err, nil)
					releases <- release
				case "WritabilityChanged":
					select {
					case again <- struct{}{}:
					default:
					}
				}
			})
			size := p.kernelHolds(t)
			_, _ = p.peer.Write([]byte("question"))
			release := <-releases
			end(p)
			coretest.OnLoop(t, p.ch.EventLoop(), func() {})
			unwritable := 0
			received := make(chan int64, 1)
			for sent := 0; sent < size+1<<20; sent += part {
				for !p.ch.IsWritable() {
					if unwritable++; unwritable == 1 { // the peer begins to read
						go func() { n, _ := readAll(p.peer); _ = p.peer.Close(); received <- n }()
					}
					coretest.Await(t, "the channel to be writable", after(again))
				}
				coretest.WantErr(t, "G23: a part of the answer", p.ch.WriteAndFlush(make([]byte, part)).Err(), nil)
			}
			if unwritable == 0 {
				t.Fatal("not exercised: the channel was writable all the time")
			}
			release()
			if p.ch.IsWritable() {
				t.Error("the channel is writable after the release")
			}
			want := int64((size + 1<<20 + part - 1) / part * part)
			if got := <-received; got != want {
				t.Errorf("G23: the peer got %d bytes, want %d", got, want)
			}
			p.Await(t, 1, "Unregistered")
		})
	}
}

// TestWritabilityAfterCloseOfAHeldChannel: a Close ends the effect of a hold with the call, and not
// when the loop handles it. A flush that comes between these does not make the channel writable
// again, and does not call WritabilityChanged.
func TestWritabilityAfterCloseOfAHeldChannel(t *testing.T) {
	coretest.CheckLeaks(t)
	var changes atomic.Int64
	p := newPair(t, func(at string, _ *tcp.Channel, _ []byte) {
		if at == "WritabilityChanged" {
			changes.Add(1)
		}
	})
	release, err := p.ch.Hold()
	coretest.WantErr(t, "Hold", err, nil)
	defer release()
	coretest.OnLoop(t, p.ch.EventLoop(), func() {
		coretest.WantErr(t, "Write", p.ch.Write([]byte("answer")).Err(), nil)
		closed := make(chan struct{})
		go func() { defer close(closed); p.ch.Close() }()
		coretest.Await(t, "the call of Close", closed)
		p.ch.Flush()
		if p.ch.IsWritable() {
			t.Error("the channel is writable after a Close has returned")
		}
	})
	coretest.Await(t, "the close", p.ch.CloseFuture().Done())
	if n := changes.Load(); n != 0 {
		t.Errorf("WritabilityChanged was called %d times, want 0: a close makes no such call (R224)", n)
	}
}

// after returns a channel that is closed when c has a value.
func after(c <-chan struct{}) <-chan struct{} {
	done := make(chan struct{})
	go func() { <-c; close(done) }()
	return done
}

// TestG23HoldsRaceTheShutdown: goroutines hold, write and release while the shutdown comes.
// A goroutine that was granted a hold can write until its release, and the peer gets every byte.
func TestG23HoldsRaceTheShutdown(t *testing.T) {
	for name, end := range gracefulEnds {
		t.Run(name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			for range 30 {
				p := newPair(t, nil)
				var accepted, begun atomic.Int64
				var writers sync.WaitGroup
				for range 4 {
					writers.Go(func() {
						for {
							release, err := p.ch.Hold()
							if err != nil {
								coretest.WantErr(t, "Hold", err, tcp.ErrChannelClosing)
								return
							}
							begun.Add(1)
							for range 3 {
								coretest.WantErr(t, "G23: a write of a holder", p.ch.WriteAndFlush([]byte("x")).Err(), nil)
								accepted.Add(1)
							}
							release()
						}
					})
				}
				received := make(chan int64, 1)
				go func() { n, _ := readAll(p.peer); _ = p.peer.Close(); received <- n }()
				coretest.Until(t, "some answers", func() bool { return begun.Load() > 20 })
				end(p)
				writers.Wait()
				if got := <-received; got != accepted.Load() {
					t.Fatalf("G23: the peer got %d bytes of %d that were accepted", got, accepted.Load())
				}
				p.Await(t, 1, "Unregistered")
			}
		})
	}
}
