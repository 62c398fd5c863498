package blocking_test

import (
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// endsWhenClosed is a connection whose Read ends with io.EOF when it is closed here, as
// that of some protocols does, and which can half-close.
type endsWhenClosed struct{ net.Conn }

func (e endsWhenClosed) Read(p []byte) (int, error) {
	n, err := e.Conn.Read(p)
	if errors.Is(err, io.ErrClosedPipe) {
		err = io.EOF
	}
	return n, err
}

func (endsWhenClosed) CloseWrite() error { return nil }

// G22, G23: the end that our own cut makes is not the peer's, which has not ended.
func TestG23EndByOurOwnCutIsNotThePeers(t *testing.T) {
	for _, row := range []struct {
		name  string
		end   func(*blocking.Group, *blocking.Channel) *core.Future[struct{}]
		cause error
	}{
		{"CloseGracefully", func(_ *blocking.Group, ch *blocking.Channel) *core.Future[struct{}] {
			return ch.CloseGracefully(time.Now().Add(short))
		}, blocking.ErrCloseDeadline},
		{"CloseGracefully in a shutdown", func(g *blocking.Group, ch *blocking.Channel) *core.Future[struct{}] {
			closed := ch.CloseGracefully(time.Now().Add(short))
			_, _ = g.ShutdownGracefully(0, long)
			return closed
		}, blocking.ErrCloseDeadline},
		{"CloseGracefully after ShutdownGracefully", func(g *blocking.Group, ch *blocking.Channel) *core.Future[struct{}] {
			_, _ = g.ShutdownGracefully(0, long)
			synctest.Wait() // the channel is draining
			return ch.CloseGracefully(time.Now().Add(short))
		}, blocking.ErrCloseDeadline},
		{"ShutdownGracefully", func(g *blocking.Group, ch *blocking.Channel) *core.Future[struct{}] {
			_, _ = g.ShutdownGracefully(0, short)
			return nil
		}, core.ErrShutdownTimeout},
		{"Shutdown", func(g *blocking.Group, ch *blocking.Channel) *core.Future[struct{}] {
			g.Shutdown()
			return nil
		}, core.ErrShutdown},
	} {
		for _, with := range []struct{ half, written bool }{{false, false}, {true, false}, {false, true}, {true, true}} {
			half := with.half
			synctest.Test(t, func(t *testing.T) {
				g := newGroup(t, 0)
				ours, theirs := net.Pipe()
				closeAtEnd(t, theirs)
				ch := mustRegister(t, g, endsWhenClosed{ours}, &handler{
					inputShutdown: func(*blocking.Channel) { t.Errorf("G22: %s: InputShutdown, though the peer has not ended", row.name) },
				}, blocking.WithHalfClosure(half))
				if with.written {
					ch.WriteAndFlush([]byte("hello"))
					if _, err := io.ReadFull(theirs, make([]byte, 5)); err != nil {
						t.Fatal(err)
					}
				}
				closed := row.end(g, ch)
				coretest.Await(t, "the close", ch.CloseFuture().Done())
				if closed != nil {
					if _, err := closed.Wait(t.Context()); !errors.Is(err, row.cause) {
						t.Errorf("G22: %s, half closure %v: the future of CloseGracefully: got %v, want %v", row.name, half, err, row.cause)
					}
				}
				if got := ch.CloseCause(); !errors.Is(got, row.cause) {
					t.Errorf("G22: %s, half closure %v: CloseCause: got %v, want %v", row.name, half, got, row.cause)
				}
				g.Shutdown()
				if report := coretest.AwaitDone(t, g); report.ChannelsDrained != 0 {
					t.Errorf("G23: %s, half closure %v: report %+v, want none drained: the peer has not ended; written: %v", row.name, half, report, with.written)
				}
			})
		}
	}
}

// endsWithInput is a connection whose first Read returns input and the peer's end, and whose Close
// closes cut.
type endsWithInput struct {
	net.Conn
	cut func()
}

func (endsWithInput) Read(p []byte) (int, error) { return copy(p, "last"), io.EOF }
func (e endsWithInput) Close() error             { e.cut(); return e.Conn.Close() }

// G22: a shutdown cuts the channel while the handler has input that came with the peer's end. The
// cut has ended the channel, and the handler gets no InputShutdown after it.
func TestG22NoInputShutdownAfterACut(t *testing.T) {
	for name, row := range map[string]struct {
		end   func(*blocking.Group)
		cause error
	}{
		"Shutdown": {func(g *blocking.Group) { g.Shutdown() }, core.ErrShutdown},
		"timeout":  {func(g *blocking.Group) { _, _ = g.ShutdownGracefully(0, 0) }, core.ErrShutdownTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(t, 0)
			ours, theirs := net.Pipe()
			closeAtEnd(t, theirs)
			cut := make(chan struct{})
			var calls coretest.Journal
			ch := mustRegister(t, g, endsWithInput{ours, sync.OnceFunc(func() { close(cut) })}, &handler{
				read:          func(*blocking.Channel, []byte) { calls.Add("Read"); row.end(g); <-cut },
				readComplete:  func(*blocking.Channel) { calls.Add("ReadComplete") },
				inputShutdown: func(*blocking.Channel) { calls.Add("InputShutdown") },
				inactive:      func(*blocking.Channel) { calls.Add("Inactive") },
			}, blocking.WithHalfClosure(true))
			if report := coretest.AwaitDone(t, g); report.ChannelsAborted != 1 || report.ChannelsDrained != 0 {
				t.Errorf("G23: report %+v, want 1 aborted: the cut has ended the channel, not the end that came with the input", report)
			}
			coretest.Want(t, "G22: the calls", calls.String(), "Read ReadComplete Inactive")
			coretest.WantErr(t, "G22: CloseCause", ch.CloseCause(), row.cause)
		})
	}
}

// G22: the error of a write that a shutdown cuts matches ErrChannelClosing, even if the loop
// finds the connection closed before it sees the shutdown.
func TestG22WriteCutByAShutdownSaysClosing(t *testing.T) {
	for name, row := range map[string]struct {
		end   func(*blocking.Group)
		cause error
	}{
		"Shutdown": {func(g *blocking.Group) { g.Shutdown() }, core.ErrShutdown},
		"timeout":  {func(g *blocking.Group) { _, _ = g.ShutdownGracefully(0, short) }, core.ErrShutdownTimeout},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := newGroup(t, 0)
			ours, theirs := net.Pipe() // holds nothing, and nobody reads
			closeAtEnd(t, theirs)
			ch := mustRegister(t, g, ours, &handler{})
			w := ch.WriteAndFlush([]byte("hello"))
			synctest.Wait() // until the write blocks
			row.end(g)
			n, err := w.Wait(t.Context())
			for _, want := range []error{blocking.ErrChannelClosing, blocking.ErrChannelClosed, row.cause} {
				if n != 0 || !errors.Is(err, want) {
					t.Errorf("G22: %s: the blocked write: got %d, %v, want 0, %v", name, n, err, want)
				}
			}
		})
	}
}

// G22: a channel that was closed before the shutdown was not closed by it.
func TestG22WriteCutBeforeAShutdownDoesNotSayClosing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, 0)
		ours, theirs := net.Pipe()
		closeAtEnd(t, theirs)
		ch := mustRegister(t, g, ours, &handler{}, blocking.WithCloseTimeout(0))
		w := ch.Write([]byte("hello"))
		ch.Close()
		if _, err := w.Wait(t.Context()); errors.Is(err, blocking.ErrChannelClosing) || !errors.Is(err, blocking.ErrChannelClosed) {
			t.Errorf("G22: the write of a channel that was closed: got %v, want ErrChannelClosed, and not ErrChannelClosing", err)
		}
	})
}
