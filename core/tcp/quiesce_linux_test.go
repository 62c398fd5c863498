package tcp_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/frame"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// lineServer answers each line with the line, computed by an executor of workers.
type lineServer struct {
	tcp.HandlerBase
	worker core.EventExecutor // of this connection, so that answers come in order
	lines  frame.Lines
	read   *atomic.Int64 // lines that were read
}

func (s *lineServer) Read(ch *tcp.Channel, p []byte) {
	for line, err := range s.lines.Feed(p) {
		if err != nil {
			ch.Close()
			return
		}
		s.read.Add(1)
		answer := frame.AppendLine(nil, line)
		_ = s.worker.Execute(func() { ch.WriteAndFlush(answer) }) // a refused one has no answer
	}
}

// window is how many lines of a client may be without an answer.
const window = 64

// sendLines sends numbered lines until the server ends the stream, and returns how many were
// answered. It counts lines without an answer in inFlight. An answer that is not the next one is an error, and so is a reset.
func sendLines(addr net.Addr, flowing func(), inFlight *atomic.Int64) (answered int64, err error) {
	c, err := net.Dial("tcp", addr.String())
	if err != nil {
		return 0, err
	}
	defer c.Close()
	room, ended := make(chan struct{}, window), make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 0; ; i++ {
			select {
			case room <- struct{}{}:
			case <-ended:
				return
			}
			if _, err := fmt.Fprintln(c, i); err != nil {
				return
			}
			inFlight.Add(1)
		}
	})
	defer writer.Wait()
	defer func() { close(ended); _ = c.SetWriteDeadline(time.Unix(1, 0)) }()
	tell := sync.OnceFunc(flowing)
	defer tell()
	for line, err := range frame.Messages(c, &frame.Lines{}) {
		if err != nil {
			return answered, err
		}
		if want := fmt.Sprint(answered); string(line) != want {
			return answered, fmt.Errorf("answer %q, want %q", line, want)
		}
		<-room
		inFlight.Add(-1)
		if answered++; answered == 500 {
			tell()
		}
	}
	return answered, nil
}

// TestG23QuiesceBeforeTheWorkersEnd: a line server under load ends in order. Every line that
// a handler has read is answered, and the clients count the answers. Without the second
// step, lines that are read while the workers end have no answer, and the exit code is still 0.
func TestG23QuiesceBeforeTheWorkersEnd(t *testing.T) {
	coretest.CheckLeaks(t)
	const clients = 8
	boss, loops := coretest.NewGroup(t, 1), coretest.NewGroup(t, 2)
	workers, err := core.NewExecutorGroup(2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { workers.Close() })
	var read, answered, inFlight atomic.Int64
	l, err := tcp.Listen(boss, loops, "127.0.0.1:0", func() tcp.Handler {
		return &lineServer{worker: workers.Next(), read: &read}
	})
	if err != nil {
		t.Fatal(err)
	}
	var flowing, over sync.WaitGroup
	flowing.Add(clients)
	for i := range clients {
		over.Go(func() {
			n, err := sendLines(l.Addr(), flowing.Done, &inFlight)
			if err != nil {
				t.Errorf("G23: client %d: %v", i, err)
			}
			answered.Add(n)
		})
	}
	flowing.Wait()
	end := func(g *core.Group) core.Report {
		if _, err := g.ShutdownGracefully(0, coretest.HangGuard); err != nil {
			t.Error(err)
		}
		return coretest.AwaitDone(t, g)
	}
	end(boss)
	if err := tcp.Quiesce(t.Context(), loops); err != nil {
		t.Errorf("Quiesce: %v", err)
	}
	before := read.Load()
	end(workers)
	// Other steps take time here. The clients send as much as their windows allow.
	coretest.Until(t, "every client to wait for answers", func() bool { return inFlight.Load() == clients*window })
	for loop := range loops.All() {
		coretest.OnLoop(t, loop, func() {})
	}
	if after := read.Load(); after != before {
		t.Errorf("G23: %d lines were read after Quiesce had returned", after-before)
	}
	report := end(loops)
	over.Wait()
	if lost := read.Load() - answered.Load(); lost != 0 || report.ChannelsDrained != clients {
		t.Errorf("G23: %d of %d lines that were read have no answer; %d channels drained, want %d",
			lost, read.Load(), report.ChannelsDrained, clients)
	}
	t.Logf("%d lines were read and answered", read.Load())
}

// TestQuiesce: no Read begins after it, not even of later channels; writes are still accepted,
// and a drain discards the unread input.
func TestQuiesce(t *testing.T) {
	coretest.CheckLeaks(t)
	g := coretest.NewGroup(t, 2) // round robin: of two channels each loop has one
	pairs := []*pair{newPairOn(t, g, nil), newPairOn(t, g, nil)}
	if err := tcp.Quiesce(t.Context(), g); err != nil {
		t.Fatalf("Quiesce: %v", err)
	}
	pairs = append(pairs, newPairOn(t, g, nil), newPairOn(t, g, nil))
	for _, p := range pairs {
		_, _ = p.peer.Write([]byte("not accepted"))
		p.ch.SetAutoRead(false)
		p.ch.SetAutoRead(true) // does not undo it
		coretest.WantErr(t, "a write", awaitWrite(t, p.ch.WriteAndFlush([]byte("answer"))), nil)
	}
	if err := tcp.Quiesce(t.Context(), g); err != nil {
		t.Errorf("Quiesce again: %v", err)
	}
	if _, err := g.ShutdownGracefully(0, coretest.HangGuard); err != nil {
		t.Fatal(err)
	}
	for _, p := range pairs {
		if n, err := readAll(p.peer); n != 6 || err != nil {
			t.Errorf("G23: the peer got %d bytes, %v; want the answer, and the end", n, err)
		}
		_ = p.peer.Close()
		p.Await(t, 1, "Unregistered")
		p.Want(t, "the handler", "Active Inactive Unregistered")
	}
	if r := coretest.AwaitDone(t, g); r.ChannelsDrained != 4 {
		t.Errorf("G23: %d channels drained, want 4", r.ChannelsDrained)
	}
	if err := tcp.Quiesce(t.Context(), g); err != nil {
		t.Errorf("Quiesce of a group that has ended: %v", err)
	}
}

// TestQuiesceArguments and the calls that do not wait.
func TestQuiesceArguments(t *testing.T) {
	coretest.CheckLeaks(t)
	g := coretest.NewGroup(t, 1)
	loop := loopOf(g)
	//lint:ignore SA1012 a nil context is an argument like any other
	err := tcp.Quiesce(nil, g) //nolint:staticcheck
	if err == nil || err.Error() != "tcp: Quiesce: ctx is nil, want a context" {
		t.Errorf("without a context: got %v", err)
	}
	if err := tcp.Quiesce(t.Context(), nil); err == nil || err.Error() != "tcp: Quiesce: group is nil, want event loops" {
		t.Errorf("without a group: got %v", err)
	}
	coretest.OnLoop(t, loop, func() {
		coretest.WantErr(t, "G18: on the loop", tcp.Quiesce(t.Context(), g), core.ErrInEventLoop)
		coretest.WantErr(t, "G18: on the loop", tcp.QuiesceOn(t.Context(), loop), core.ErrInEventLoop)
	})
	busy, stop := make(chan struct{}), make(chan struct{})
	if err := loop.Execute(func() { close(busy); <-stop }); err != nil {
		t.Fatal(err)
	}
	coretest.Await(t, "the loop to be busy", busy)
	cause := errors.New("no time")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	coretest.WantErr(t, "a loop that is busy", tcp.QuiesceOn(ctx, loop), cause)
	close(stop)
	coretest.WantErr(t, "a loop that is idle", tcp.QuiesceOn(t.Context(), loop), nil)
}

func loopOf(g *core.Group) *core.EventLoop { return g.Next().(*core.EventLoop) }
