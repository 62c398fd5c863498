package tcp_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"

	"golang.org/x/sys/unix"
)

// interruption runs something on another goroutine while the loop of a channel is about
// to make a system call, and has the loop wait for that.
type interruption struct {
	op  string
	run func() // loop only; once
}

func (i *interruption) option() tcp.Option {
	return tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
		if run := i.run; run != nil && op == i.op {
			i.run = nil
			done := make(chan struct{})
			go func() { defer close(done); run() }()
			<-done
		}
		return n, 0
	})
}

// TestG23WriteAtThePeersEnd has another goroutine write, and request a graceful close,
// while a channel closes for its peer's end. The write is refused: an end that counts as
// drained, and a future that completes with nil, cover every accepted byte.
func TestG23WriteAtThePeersEnd(t *testing.T) {
	for name, ask := range map[string]func(p *pair) error{
		"ShutdownGracefully": func(p *pair) error { _, err := p.group.ShutdownGracefully(0, coretest.HangGuard); return err },
		"CloseGracefully":    func(p *pair) error { p.ch.CloseGracefully(time.Time{}); return nil },
		"CloseOutput":        func(p *pair) error { p.ch.CloseOutput(); return nil },
	} {
		for _, op := range []string{"close", "shutdown"} {
			t.Run(name+" at "+op, func(t *testing.T) {
				coretest.CheckLeaks(t)
				seam := &interruption{op: op}
				opts := []tcp.Option{seam.option()}
				if op == "shutdown" {
					opts = append(opts, tcp.WithLinger(coretest.HangGuard))
				}
				p := newPair(t, nil, opts...)
				var write tcp.WriteFuture
				coretest.OnLoop(t, p.group, func() {
					seam.run = func() {
						write = p.ch.Write([]byte("x"))
						if err := ask(p); err != nil {
							t.Error(err)
						}
					}
				})
				_ = p.peer.CloseWrite()
				if op == "shutdown" {
					_, _ = readAll(p.peer)
					_ = p.peer.Close()
				}
				p.Await(t, 1, "Unregistered")
				coretest.WantErr(t, "G23: a write while the channel closes", awaitWrite(t, write), tcp.ErrChannelClosed)
				if n := p.ch.PendingBytes(); n != 0 {
					t.Errorf("G23: %d accepted bytes never reached the kernel, want none", n)
				}
				switch name {
				case "CloseGracefully":
					coretest.WantErr(t, "G23: "+name, coretest.AwaitErr(t, name, p.ch.CloseGracefully(time.Time{})), nil)
				case "CloseOutput":
					coretest.WantErr(t, "G23: "+name, coretest.AwaitErr(t, name, p.ch.CloseOutput()), nil)
				default:
					if r := coretest.AwaitDone(t, p.group); r.ChannelsDrained != 1 || r.ChannelsAborted != 0 || r.BytesDiscarded != 0 {
						t.Errorf("G23: drained %d, aborted %d, discarded %d bytes; want 1, 0, 0", r.ChannelsDrained, r.ChannelsAborted, r.BytesDiscarded)
					}
				}
			})
		}
	}
}

// TestG23CloseOutputAtThePeersEnd: CloseOutput is called while the peer's end is read, and
// is posted to the loop. It is honoured: the output is shut down behind the bytes that the
// peer has not acknowledged yet.
func TestG23CloseOutputAtThePeersEnd(t *testing.T) {
	coretest.CheckLeaks(t)
	seam := &interruption{op: "read"}
	p := newPair(t, nil, seam.option())
	sent := p.ourKernelTakes(t)
	asked := make(chan *core.Future[struct{}], 1)
	coretest.OnLoop(t, p.group, func() {
		coretest.WantErr(t, "the write", p.ch.WriteAndFlush(make([]byte, sent)).Err(), nil)
		left, err := unix.IoctlGetInt(p.ch.FD(), unix.SIOCOUTQ)
		if pending := p.ch.PendingBytes(); pending != 0 || left == 0 || err != nil {
			t.Fatalf("pending %d, unacknowledged %d, %v: want none, some", pending, left, err)
		}
		seam.run = func() { asked <- p.ch.CloseOutput() }
	})
	_ = p.peer.CloseWrite()
	coretest.WantErr(t, "G23: CloseOutput", coretest.AwaitErr(t, "CloseOutput", <-asked), nil)
	if n, err := readAll(p.peer); n != int64(sent) || err != nil {
		t.Errorf("G23: received %d of %d: %v", n, sent, err)
	}
	_ = p.peer.Close()
	coretest.AwaitErr(t, "the close", p.ch.CloseFuture())
}

// TestG23WritesRaceThePeersEnd is the same without a seam, for the steps that have none:
// a nil never covers bytes that were discarded.
func TestG23WritesRaceThePeersEnd(t *testing.T) {
	rounds := 200
	if testing.Short() {
		rounds = 40
	}
	asks := map[string]func(ch *tcp.Channel) error{
		"CloseGracefully": func(ch *tcp.Channel) error {
			_, err := ch.CloseGracefully(time.Time{}).Wait(context.Background())
			return err
		},
		"CloseOutput": func(ch *tcp.Channel) error {
			_, err := ch.CloseOutput().Wait(context.Background())
			return err
		},
	}
	for name, ask := range asks {
		for _, linger := range []time.Duration{0, coretest.HangGuard} {
			t.Run(fmt.Sprintf("%s, linger %v", name, linger), func(t *testing.T) {
				coretest.CheckLeaks(t)
				g := coretest.NewGroup(t, 1)
				var lost atomic.Int32
				for i := range rounds {
					var reads atomic.Bool
					var opts []tcp.Option
					if linger > 0 {
						opts = append(opts, tcp.WithLinger(linger))
					}
					p := newPairOn(t, g, func(at string, _ *tcp.Channel, _ []byte) {
						if at == "ReadComplete" {
							reads.Store(true)
						}
					}, opts...)
					var wg sync.WaitGroup
					wg.Go(func() {
						for spins := i % 100 * 20; !reads.Load() || spins > 0; { // a different moment each time
							if reads.Load() {
								spins--
							}
							runtime.Gosched() // a processor for the loop, also without preemption
						}
						p.ch.Write([]byte("x"))
						if err, n := ask(p.ch), p.ch.PendingBytes(); err == nil && n > 0 {
							lost.Add(1)
						}
					})
					_, _ = p.peer.Write([]byte("q")) // data and the end together
					_ = p.peer.CloseWrite()
					_, _ = readAll(p.peer)
					_ = p.peer.Close()
					wg.Wait()
					p.Await(t, 1, "Unregistered")
				}
				if n := lost.Load(); n > 0 {
					t.Errorf("G23: in %d of %d rounds the answer was nil, and accepted bytes never reached the kernel", n, rounds)
				}
			})
		}
	}
}
