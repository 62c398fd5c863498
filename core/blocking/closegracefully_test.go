package blocking_test

import (
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// CloseGracefully drains one channel, by its own deadline, and leaves the group alone.
func TestG23CloseGracefully(t *testing.T) {
	for _, row := range []struct {
		name     string
		deadline func() time.Time
		reads    bool
		cause    error
	}{
		{"in time", func() time.Time { return time.Now().Add(long) }, true, nil},
		{"without a deadline", func() time.Time { return time.Time{} }, true, nil},
		{"dead reader", func() time.Time { return time.Now().Add(short) }, false, blocking.ErrCloseDeadline},
		{"deadline in the past", func() time.Time { return time.Now().Add(-time.Second) }, false, blocking.ErrCloseDeadline},
	} {
		for _, tr := range []string{"tcp", "tls"} {
			t.Run(tr+" "+row.name, func(t *testing.T) {
				const size = 16 << 20
				g := newGroup(t, 0)
				ours, theirs := transportNamed(tr).pair(t)
				started := make(chan struct{})
				ch := mustRegister(t, g, ours, &handler{active: func(*blocking.Channel) { close(started) }})
				if tr == "tls" {
					_, _ = theirs.Write([]byte("x"))
				}
				coretest.Await(t, "Active", started)
				w := ch.WriteAndFlush(make([]byte, size))
				closed := ch.CloseGracefully(row.deadline())
				if err := ch.Write([]byte("late")).Err(); !errors.Is(err, blocking.ErrChannelClosing) && !errors.Is(err, blocking.ErrChannelClosed) {
					t.Errorf("a write after CloseGracefully: %v, want ErrChannelClosing", err)
				}
				if row.reads {
					r := receive(theirs, 0)
					coretest.Await(t, "the peer", r.over)
					if len(r.got) != size {
						t.Errorf("G23: the peer got %d bytes (%v), want %d", len(r.got), r.err, size)
					}
				}
				coretest.Await(t, "the close", closed.Done())
				if _, err := closed.Wait(t.Context()); !errors.Is(err, row.cause) || (err == nil) != (row.cause == nil) {
					t.Errorf("the future of CloseGracefully: got %v, want %v", err, row.cause)
				}
				if got := ch.CloseCause(); !errors.Is(got, row.cause) || (got == nil) != (row.cause == nil) {
					t.Errorf("CloseCause: got %v, want %v", got, row.cause)
				}
				if n, err := w.Wait(context.Background()); (err == nil) != row.reads || row.reads && n != size || !row.reads && !errors.Is(err, blocking.ErrChannelClosing) {
					t.Errorf("the write: got %d, %v", n, err)
				}
				if s := g.State(); s != core.StateStarted {
					t.Errorf("the group is %v, want Started", s)
				}
			})
		}
	}
}

func transportNamed(name string) (found struct {
	name string
	pair func(testing.TB) (ours, theirs net.Conn)
}) {
	for _, tr := range transports {
		if tr.name == name {
			found = tr
		}
	}
	return found
}

// The earlier deadline wins, in either order.
func TestG23EarlierDeadlineWins(t *testing.T) {
	for name, deadlines := range map[string][]time.Duration{"later first": {long, short}, "earlier first": {short, long}} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(t, 0)
			ours, _ := tcpPair(t)
			ch := mustRegister(t, g, ours, echo())
			ch.WriteAndFlush(make([]byte, 16<<20)) // to a dead reader
			for _, d := range deadlines {
				ch.CloseGracefully(time.Now().Add(d))
			}
			coretest.Await(t, "the close by the earlier deadline", ch.CloseFuture().Done())
		})
	}
}

// Close ends a graceful close that waits for its peer.
func TestCloseEndsCloseGracefully(t *testing.T) {
	g := newGroup(t, 0)
	ours, _ := tcpPair(t)
	ch := mustRegister(t, g, ours, echo())
	if !ch.IsOpen() {
		t.Errorf("IsOpen: got false, want true")
	}
	graceful := ch.CloseGracefully(time.Time{})
	coretest.Want(t, "G22: Cancel of the future of CloseGracefully", graceful.Cancel(), false)
	if ch.IsOpen() {
		t.Errorf("IsOpen during a graceful close: got true, want false")
	}
	if _, err := ch.Close().Wait(t.Context()); err != nil {
		t.Errorf("Close: got %v, want nil", err)
	}
	if _, err := graceful.Wait(t.Context()); !errors.Is(err, blocking.ErrChannelClosed) {
		t.Errorf("CloseGracefully: got %v, want ErrChannelClosed", err)
	}
}

// The handler calls CloseGracefully in the Read of the last input, which also has the end of
// the stream: the whole drain is still to come, and succeeds. With half closure the
// handler gets no further call either.
func TestG23CloseGracefullyInTheLastRead(t *testing.T) {
	for _, half := range []bool{false, true} {
		g := newGroup(t, 0)
		ours, theirs := tcpPair(t)
		asked := make(chan *core.Future[struct{}], 1)
		mustRegister(t, g, &lastBytes{TCPConn: ours.(*net.TCPConn)}, &handler{
			read: func(ch *blocking.Channel, p []byte) {
				ch.Write(p)
				asked <- ch.CloseGracefully(time.Time{})
			},
			inputShutdown: func(*blocking.Channel) { t.Errorf("G23: InputShutdown after CloseGracefully") },
		}, blocking.WithHalfClosure(half))
		if got, err := io.ReadAll(theirs); string(got) != "x" || err != nil {
			t.Errorf("G23: the peer got %q, %v, want the answer", got, err)
		}
		if _, err := (<-asked).Wait(t.Context()); err != nil {
			t.Errorf("CloseGracefully, half closure %v: got %v, want nil", half, err)
		}
	}
}

// G22, G23: the same for a shutdown that the loop has not seen yet: the end of
// the input begins the drain.
func TestG23ShutdownInTheLastRead(t *testing.T) {
	g := newGroup(t, 0)
	ours, theirs := tcpPair(t)
	ch := mustRegister(t, g, &lastBytes{TCPConn: ours.(*net.TCPConn)}, &handler{
		read: func(ch *blocking.Channel, p []byte) {
			_, _ = g.ShutdownGracefully(0, long)
			ch.Write(p)
		},
	})
	if got, err := io.ReadAll(theirs); string(got) != "x" || err != nil {
		t.Errorf("G23: the peer got %q, %v, want the answer", got, err)
	}
	if report := coretest.AwaitDone(t, g); report.BytesDiscarded != 0 || ch.CloseCause() != nil {
		t.Errorf("G23: report %+v, cause %v, want nothing discarded, no cause", report, ch.CloseCause())
	}
}

// lastBytes is a connection whose last input comes together with the end, as io.Reader
// allows.
type lastBytes struct {
	*net.TCPConn
	read bool
}

func (l *lastBytes) Read(p []byte) (int, error) {
	if l.read {
		return 0, io.EOF
	}
	l.read = true
	return copy(p, "x"), io.EOF
}

// Input that comes after CloseGracefully is discarded, with and without half closure.
func TestG23NoInputAfterCloseGracefully(t *testing.T) {
	for _, half := range []bool{false, true} {
		g := newGroup(t, 0)
		ours, theirs := tcpPair(t)
		var j coretest.Journal
		ch := mustRegister(t, g, ours, &handler{
			read:          func(ch *blocking.Channel, p []byte) { j.Add(string(p)); ch.CloseGracefully(time.Time{}) },
			inputShutdown: func(*blocking.Channel) { j.Add("inputShutdown") },
		}, blocking.WithHalfClosure(half))
		_, err := theirs.Write([]byte("first"))
		coretest.Must(t, err)
		_, err = io.ReadAll(theirs) // until the output is half-closed
		coretest.Must(t, err)
		_, err = theirs.Write([]byte("late"))
		coretest.Must(t, err)
		coretest.Must(t, theirs.Close())
		coretest.Await(t, "the close", ch.CloseFuture().Done())
		coretest.Want(t, "G23: input of the handler", j.String(), "first")
	}
}

// A busy executor looks for input between two tasks. Input that such a look finds, and that comes after
// CloseGracefully or Close has returned on another goroutine, does not reach the handler.
func TestG22NoInputFromALookDuringTheCall(t *testing.T) {
	for name, end := range map[string]func(*blocking.Channel){
		"CloseGracefully": func(ch *blocking.Channel) { ch.CloseGracefully(time.Time{}) },
		"Close":           func(ch *blocking.Channel) { ch.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(t, 0)
			ours, theirs := net.Pipe()
			closeAtEnd(t, theirs)
			conn := &lookedInto{Conn: ours, entered: make(chan struct{}), leave: make(chan struct{})}
			var got atomic.Int64
			ch := mustRegister(t, g, conn, &handler{read: func(*blocking.Channel, []byte) { got.Add(1) }})
			var stop atomic.Bool
			var busy func()
			busy = func() {
				if !stop.Load() {
					_ = ch.EventLoop().Execute(busy)
				}
			}
			coretest.Must(t, ch.EventLoop().Execute(busy))
			onLoop(t, ch, func() { conn.armed.Store(true) }) // from here on it does not sleep
			coretest.Await(t, "a look for input", conn.entered)
			end(ch)
			close(conn.leave)
			coretest.Await(t, "the close", ch.CloseFuture().Done())
			stop.Store(true)
			coretest.Want(t, "G22: calls of Read", got.Load(), 0)
		})
	}
}

// lookedInto is a connection whose first Read after armed is set waits for leave, and returns input.
type lookedInto struct {
	net.Conn
	armed          atomic.Bool
	entered, leave chan struct{}
}

func (l *lookedInto) Read(p []byte) (int, error) {
	if !l.armed.CompareAndSwap(true, false) {
		return l.Conn.Read(p)
	}
	close(l.entered)
	<-l.leave
	return copy(p, "late"), nil
}
