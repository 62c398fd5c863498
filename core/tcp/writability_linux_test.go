package tcp_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// producer writes while the channel is writable, flushes, and continues at the next call of
// WritabilityChanged with true, as a user's writer would.
type producer struct {
	ch    *tcp.Channel
	rng   *rand.Rand
	left  int64 // bytes
	most  int   // of one write
	again chan struct{}
}

func newProducer(p *pair, seed uint64, left int64, most int) *producer {
	return &producer{p.ch, rand.New(rand.NewPCG(seed, 7)), left, most, make(chan struct{}, 1)}
}

// burst writes until the channel is unwritable, or everything is written, and flushes.
func (p *producer) burst() {
	flushed := false
	for p.left > 0 && p.ch.IsWritable() {
		n := min(p.left, int64(1+p.rng.IntN(p.most)))
		p.left -= n
		if flushed = p.rng.IntN(4) == 0; flushed {
			p.ch.WriteAndFlush(make([]byte, n))
		} else {
			p.ch.Write(make([]byte, n))
		}
	}
	if !flushed {
		p.ch.Flush()
	}
}

// writable reports that the call came.
func (p *producer) writable() {
	select {
	case p.again <- struct{}{}:
	default: // the producer has not looked at the last one
	}
}

// run is a producer on a goroutine of its own.
func (p *producer) run() {
	for p.burst(); p.left > 0; p.burst() {
		select {
		case <-p.again:
		case <-p.ch.CloseFuture().Done(): // the test has failed
			return
		}
	}
}

// settled reports whether everything is sent and the loop has handled it.
func (p *pair) settled(t testing.TB) bool {
	t.Helper()
	sent := p.ch.PendingBytes() == 0
	for range 2 { // behind what the first one finds posted
		coretest.OnLoop(t, p.ch.EventLoop(), func() {})
	}
	return sent && p.ch.PendingBytes() == 0
}

// TestR222ProducerInWritabilityChanged writes in Handler.WritabilityChanged and flushes
// there: the flush makes the channel writable before the call returns. The next event
// comes all the same, or the producer stops after its second burst.
func TestR222ProducerInWritabilityChanged(t *testing.T) {
	for _, marks := range [][2]int{{1, 10}, {10, 10}, {tcp.DefaultLowWaterMark, tcp.DefaultHighWaterMark}} {
		t.Run(fmt.Sprint(marks), func(t *testing.T) {
			coretest.CheckLeaks(t)
			const enough = 50
			bursts := 0 // loop only
			burst := func(ch *tcp.Channel) {
				if bursts++; bursts <= enough {
					ch.Write(make([]byte, marks[1]+1))
					ch.Flush()
				}
			}
			p := newPair(t, func(at string, ch *tcp.Channel, _ []byte) {
				if at == "WritabilityChanged" && ch.IsWritable() {
					burst(ch)
				}
			}, tcp.WithWriteBufferWaterMarks(marks[0], marks[1]))
			go func() { _, _ = readAll(p.peer) }()
			coretest.OnLoop(t, p.ch.EventLoop(), func() { burst(p.ch) })
			for before, now := 0, 1; now <= enough; {
				if before = now; !p.settled(t) {
					continue
				}
				if coretest.OnLoop(t, p.ch.EventLoop(), func() { now = bursts }); now == before {
					t.Fatalf("R222: a producer that writes in WritabilityChanged has stalled after %d bursts of %d", now, enough)
				}
			}
		})
	}
}

// TestR222WriterThatWaitsForTheEvent: another goroutine makes the channel unwritable, and a
// posted flush makes it writable before the loop has handled the write. The writer has seen
// IsWritable false, and waits: WritabilityChanged is called.
func TestR222WriterThatWaitsForTheEvent(t *testing.T) {
	for _, marks := range [][2]int{{1, 10}, {tcp.DefaultLowWaterMark, tcp.DefaultHighWaterMark}} {
		t.Run(fmt.Sprint(marks), func(t *testing.T) {
			coretest.CheckLeaks(t)
			events := make(chan struct{}, 2)
			p := newPair(t, func(at string, ch *tcp.Channel, _ []byte) {
				if at == "WritabilityChanged" && ch.IsWritable() {
					events <- struct{}{}
				}
			}, tcp.WithWriteBufferWaterMarks(marks[0], marks[1]))
			go func() { _, _ = readAll(p.peer) }()
			held, gate := make(chan struct{}), make(chan struct{})
			if err := p.ch.EventLoop().Execute(func() { close(held); <-gate }); err != nil {
				t.Fatal(err)
			}
			coretest.Await(t, "the task", held)
			p.ch.WriteAndFlush([]byte("x")) // the flush is on its way
			p.ch.Write(make([]byte, marks[1]))
			if p.ch.IsWritable() {
				t.Errorf("R222: writable with %d bytes pending, and a high mark of %d", p.ch.PendingBytes(), marks[1])
			}
			p.ch.Flush() // goes with the one that is on its way
			close(gate)
			coretest.Until(t, "everything to be sent", func() bool { return p.settled(t) })
			if n := len(events); n != 1 || !p.ch.IsWritable() {
				t.Errorf("R222: %d events, writable %v; want 1, true", n, p.ch.IsWritable())
			}
		})
	}
}

// TestR222NoProducerStalls generates producers: one in the handler, and some on goroutines
// of their own, with sends that are short or would block. Each waits for the event whenever
// it has seen false, and all of them finish.
func TestR222NoProducerStalls(t *testing.T) {
	coretest.CheckLeaks(t)
	rounds := 60
	if testing.Short() {
		rounds = 15
	}
	first := rand.Uint64()
	for round := range uint64(rounds) {
		producersFinish(t, first+round)
	}
}

// producersFinish runs one program.
func producersFinish(t *testing.T, seed uint64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	low := 1 + rng.IntN(100)
	high := low + rng.IntN(100)
	faulty, sends := rng.IntN(3) > 0, rand.New(rand.NewPCG(seed, 2)) // sends belongs to the loop
	var ch atomic.Pointer[tcp.Channel]
	var inLoop *producer
	var outside []*producer
	p := newPair(t, func(at string, c *tcp.Channel, _ []byte) {
		switch {
		case at != "WritabilityChanged":
		case c.IsWritable():
			for _, o := range outside {
				o.writable()
			}
			inLoop.burst()
		case sends.IntN(2) == 0:
			c.Flush() // inside the event that says false
		}
	}, tcp.WithWriteBufferWaterMarks(low, high), tcp.WithWriteSpin(1+rng.IntN(4)), tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
		if op != "send" || !faulty || ch.Load() == nil {
			return n, 0
		}
		switch sends.IntN(8) {
		case 0:
			go ch.Load().Again() // a real one is followed by an edge
			return n, syscall.EAGAIN
		case 1, 2:
			return 1 + sends.IntN(n), 0
		}
		return n, 0
	}))
	const each = 4000
	inLoop = newProducer(p, seed, each, 2*high)
	for i := range rng.IntN(4) {
		outside = append(outside, newProducer(p, seed+uint64(i)+1, each, 2*high))
	}
	coretest.OnLoop(t, p.ch.EventLoop(), func() { ch.Store(p.ch); inLoop.burst() })
	got := make(chan int64, 1)
	go func() { n, _ := readAll(p.peer); got <- n }()
	var running sync.WaitGroup
	for _, o := range outside {
		running.Go(o.run)
	}
	over := make(chan struct{})
	go func() { running.Wait(); close(over) }()
	coretest.Await(t, fmt.Sprintf("R222: the producers of seed %d", seed), over)
	finished := false
	coretest.Until(t, fmt.Sprintf("R222: the producer in the handler of seed %d", seed), func() bool {
		coretest.OnLoop(t, p.ch.EventLoop(), func() { finished = inLoop.left == 0 })
		return finished
	})
	coretest.AwaitErr(t, "the output", p.ch.CloseOutput())
	want := int64(each * (1 + len(outside)))
	if n := <-got; n != want {
		t.Errorf("seed %d: the peer received %d bytes, want %d", seed, n, want)
	}
	coretest.AwaitErr(t, "the close", p.ch.Close())
	_ = p.peer.Close()
}
