package tcp_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"
	"eventide/core/tcp/tcptest"
)

// inMemory runs f with a channel in virtual time whose handler writes down its calls. The peer does
// not read.
func inMemory(t *testing.T, f func(t *testing.T, p *tcptest.Peer, calls *coretest.Journal)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := journalHandler{Journal: new(coretest.Journal)}
		p := tcptest.Connect(t, h)
		p.SetRoom(0)
		f(t, p, h.Journal)
	})
}

type journalHandler struct {
	tcp.HandlerBase
	*coretest.Journal
}

func (h journalHandler) Read(_ *tcp.Channel, p []byte) { h.Add("Read:" + string(p)) }
func (h journalHandler) Inactive(*tcp.Channel)         { h.Add("Inactive") }

// isDone reports whether f is complete once every goroutine is blocked.
func isDone[T any](f *core.Future[T]) bool {
	synctest.Wait()
	select {
	case <-f.Done():
		return true
	default:
		return false
	}
}

// TestDeadlinesOfCloseGracefully: of several deadlines the earliest closes the channel, to the
// nanosecond, and each call returns the same future.
func TestDeadlinesOfCloseGracefully(t *testing.T) {
	const none = 0
	for _, tt := range []struct {
		deadlines []time.Duration // from now on
		shutdown  time.Duration
		want      time.Duration
		err       error
	}{
		{[]time.Duration{10}, none, 10, tcp.ErrCloseDeadline},
		{[]time.Duration{10, 5}, none, 5, tcp.ErrCloseDeadline},
		{[]time.Duration{5, 10}, none, 5, tcp.ErrCloseDeadline},
		{[]time.Duration{none, 7, none}, none, 7, tcp.ErrCloseDeadline},
		{[]time.Duration{10}, 5, 5, core.ErrShutdownTimeout},
		{[]time.Duration{5}, 10, 5, tcp.ErrCloseDeadline},
		{[]time.Duration{none}, 5, 5, core.ErrShutdownTimeout},
	} {
		t.Run(fmt.Sprint(tt.deadlines, tt.shutdown), func(t *testing.T) {
			inMemory(t, func(t *testing.T, p *tcptest.Peer, _ *coretest.Journal) {
				p.Channel().Write([]byte("abc"))
				begin := time.Now()
				var f *core.Future[struct{}]
				for _, d := range tt.deadlines {
					var deadline time.Time
					if d != none {
						deadline = begin.Add(d * time.Second)
					}
					next := p.Channel().CloseGracefully(deadline)
					if f != nil && next != f {
						t.Error("a later call returned another future")
					}
					f = next
				}
				if tt.shutdown != none {
					coretest.MustShutdownGracefully(t, p.EventLoop(), 0, tt.shutdown*time.Second)
				}
				time.Sleep(tt.want*time.Second - 1)
				coretest.Want(t, "closed before the deadline", isDone(f), false)
				time.Sleep(time.Nanosecond)
				coretest.Want(t, "closed at the deadline", isDone(f), true)
				coretest.WantErr(t, "CloseGracefully", coretest.AwaitErr(t, "it", f), tt.err)
				coretest.Want(t, "bytes that the kernel never took", p.Channel().PendingBytes(), 3)
			})
		})
	}
}

// TestCloseGracefullyInSteps: input is not delivered, the buffer is sent though it was not flushed,
// the output ends, and the close waits for the peer's end.
func TestCloseGracefullyInSteps(t *testing.T) {
	inMemory(t, func(t *testing.T, p *tcptest.Peer, calls *coretest.Journal) {
		p.Channel().Write([]byte("abc"))
		f := p.Channel().CloseGracefully(time.Time{})
		p.Send([]byte("discarded"))
		coretest.WantErr(t, "the output before the buffer is sent", p.Err(), nil)
		p.SetRoom(-1)
		coretest.Want(t, "received", string(p.Received()), "abc")
		coretest.WantErr(t, "the output", p.Err(), io.EOF)
		time.Sleep(time.Hour)
		coretest.Want(t, "closed before the peer's end", isDone(f), false)
		p.End()
		coretest.Want(t, "closed", isDone(f), true)
		coretest.WantErr(t, "CloseGracefully", coretest.AwaitErr(t, "it", f), nil)
		calls.Want(t, "the handler", "Inactive")
	})
}

// TestCloseEndsAGracefulClose at once.
func TestCloseEndsAGracefulClose(t *testing.T) {
	inMemory(t, func(t *testing.T, p *tcptest.Peer, _ *coretest.Journal) {
		w := p.Channel().Write([]byte("abc"))
		f := p.Channel().CloseGracefully(time.Time{})
		coretest.Want(t, "CloseGracefully of a peer that does not read", isDone(f), false)
		coretest.Want(t, "Close", isDone(p.Channel().Close()), true)
		coretest.WantErr(t, "CloseGracefully", coretest.AwaitErr(t, "it", f), tcp.ErrChannelClosed)
		coretest.WantErr(t, "the write", w.Err(), tcp.ErrChannelClosed)
		coretest.WantErr(t, "the cause", p.Channel().CloseCause(), nil)
		coretest.Want(t, "bytes that the kernel never took", p.Channel().PendingBytes(), 3)
	})
}

// TestCloseOutputInSteps: earlier writes are flushed, then the output ends, input is still
// delivered, and the peer's end closes the channel.
func TestCloseOutputInSteps(t *testing.T) {
	inMemory(t, func(t *testing.T, p *tcptest.Peer, calls *coretest.Journal) {
		p.Channel().Write([]byte("abc"))
		f := p.Channel().CloseOutput()
		coretest.Want(t, "the future before the buffer is sent", isDone(f), false)
		coretest.Want(t, "a second call returns the same future", p.Channel().CloseOutput() == f, true)
		coretest.WantErr(t, "a write", p.Channel().Write([]byte("x")).Err(), tcp.ErrOutputShutdown)
		p.SetRoom(-1)
		coretest.Want(t, "received", string(p.Received()), "abc")
		coretest.WantErr(t, "the output", p.Err(), io.EOF)
		coretest.Want(t, "the future", isDone(f), true)
		p.Send([]byte("input"))
		calls.Want(t, "the handler", "Read:input")
		p.End()
		calls.Want(t, "the handler after the peer's end", "Read:input Inactive")
	})
}

// TestOutputFutureAtAClose fails if the channel closes first, after the futures of Close and
// CloseGracefully and before those of the writes.
func TestOutputFutureAtAClose(t *testing.T) {
	inMemory(t, func(t *testing.T, p *tcptest.Peer, calls *coretest.Journal) {
		ch := p.Channel()
		ch.Write([]byte("abc")).OnDone(func(int, error) { calls.Add("write") })
		ch.CloseOutput().OnDone(func(_ struct{}, err error) {
			coretest.WantErr(t, "CloseOutput", err, tcp.ErrChannelClosed)
			calls.Add("output")
		})
		ch.CloseGracefully(time.Time{}).OnDone(func(struct{}, error) { calls.Add("graceful") })
		coretest.OnLoop(t, p.EventLoop(), func() { // or Close is complete before OnDone
			ch.CloseFuture().OnDone(func(struct{}, error) { calls.Add("closed") })
			done := make(chan struct{})
			go func() {
				defer close(done)
				ch.Close().OnDone(func(struct{}, error) { calls.Add("close") })
			}()
			<-done
		})
		synctest.Wait()
		calls.Want(t, "G22: order", "closed close graceful output write Inactive")
	})
}

// TestClosesThatDoNotWaitForARelease: Close and CloseOutput of a held channel.
func TestClosesThatDoNotWaitForARelease(t *testing.T) {
	for name, end := range map[string]func(ch *tcp.Channel) *core.Future[struct{}]{
		"Close":       func(ch *tcp.Channel) *core.Future[struct{}] { return ch.Close() },
		"CloseOutput": func(ch *tcp.Channel) *core.Future[struct{}] { return ch.CloseOutput() },
		"CloseOutput in a graceful close": func(ch *tcp.Channel) *core.Future[struct{}] {
			ch.CloseGracefully(time.Time{})
			return ch.CloseOutput()
		},
	} {
		t.Run(name, func(t *testing.T) {
			inMemory(t, func(t *testing.T, p *tcptest.Peer, _ *coretest.Journal) {
				release, err := p.Channel().Hold()
				coretest.Must(t, err)
				defer release()
				coretest.Want(t, "complete before the release", isDone(end(p.Channel())), true)
				if p.Channel().Write([]byte("x")).Err() == nil {
					t.Error("a write is accepted: the hold has an effect")
				}
			})
		})
	}
}

// TestWaitOfAWrite ends with the context, and returns its cause and no bytes.
func TestWaitOfAWrite(t *testing.T) {
	inMemory(t, func(t *testing.T, p *tcptest.Peer, _ *coretest.Journal) {
		p.SetRoom(2)
		w := p.Channel().WriteAndFlush([]byte("abc"))
		synctest.Wait() // until the kernel has taken two bytes
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(io.ErrNoProgress)
		n, err := w.Wait(ctx)
		coretest.WantErr(t, "Wait", err, io.ErrNoProgress)
		coretest.Want(t, "bytes", n, 0)
		coretest.WantErr(t, "Err of a pending write", w.Err(), nil)
		p.Channel().Close()
		synctest.Wait()
		n, err = w.Wait(t.Context())
		coretest.WantErr(t, "Wait after the close", err, tcp.ErrChannelClosed)
		coretest.Want(t, "bytes that the kernel has taken", n, 2)
	})
}

// TestWhatIsFlushedIsSent: Write alone sends nothing; Flush, WriteAndFlush and Broadcast send.
func TestWhatIsFlushedIsSent(t *testing.T) {
	inMemory(t, func(t *testing.T, p *tcptest.Peer, _ *coretest.Journal) {
		p.SetRoom(-1)
		ch := p.Channel()
		want := func(what, want string) {
			t.Helper()
			coretest.Want(t, what, string(p.Received()), want)
		}
		ch.Write([]byte("a"))
		want("Write", "")
		ch.Flush()
		want("Flush", "a")
		ch.WriteAndFlush([]byte("b"))
		want("WriteAndFlush", "b")
		_, err := tcp.Broadcast(slices.Values([]*tcp.Channel{ch}), []byte("c"), tcp.SkipUnwritable)
		coretest.Must(t, err)
		want("Broadcast", "c")
	})
}

// TestRefusedWriteIsNotAccepted: none of its bytes waits to be sent.
func TestRefusedWriteIsNotAccepted(t *testing.T) {
	inMemory(t, func(t *testing.T, p *tcptest.Peer, _ *coretest.Journal) {
		p.Channel().Write([]byte("abc"))
		p.Channel().CloseGracefully(time.Time{})
		coretest.WantErr(t, "a write", p.Channel().Write([]byte("refused")).Err(), tcp.ErrChannelClosing)
		coretest.Want(t, "pending bytes", p.Channel().PendingBytes(), 3)
	})
}

// TestG23AWriteAfterCloseOutputIsTheCallers: no shutdown has refused it, also if the loop drains the channel when it comes.
func TestG23AWriteAfterCloseOutputIsTheCallers(t *testing.T) {
	inMemory(t, func(t *testing.T, p *tcptest.Peer, _ *coretest.Journal) {
		p.Channel().CloseOutput()
		coretest.MustShutdownGracefully(t, p.EventLoop(), 0, time.Hour)
		synctest.Wait() // the drain waits for the peer's end
		coretest.WantErr(t, "the write", p.Channel().Write([]byte("x")).Err(), tcp.ErrChannelClosing)
		p.End()
		coretest.Want(t, "G23: WritesRefused", coretest.AwaitDone(t, p.EventLoop()).WritesRefused, 0)
	})
}
