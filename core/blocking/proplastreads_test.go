package blocking_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// lastRead is what the last Read of a connection returns, what is called meanwhile, and what the handler then calls in its Read.
type lastRead struct {
	Input     int
	Ends      bool     // Read returns the end of the stream with the input
	Half      bool     // WithHalfClosure
	HalfClose string   // "answered", "unsupported", "fails" or "panics"; "": the connection has no CloseWrite
	Busy      bool     // the executor polls, and does not sleep in the Read
	Meanwhile string   // a call on another goroutine
	Calls     []string // "later" has a later body write
}

func drawLastRead(t *rapid.T) lastRead {
	calls := rapid.SampledFrom([]string{"Write", "later", "later", "later", "CloseGracefully", "ShutdownGracefully"})
	return lastRead{
		Input: rapid.IntRange(0, 3).Draw(t, "input"), Ends: rapid.IntRange(0, 3).Draw(t, "ends") > 0, Half: rapid.Bool().Draw(t, "half closure"),
		HalfClose: rapid.SampledFrom([]string{"", "unsupported", "answered", "answered", "fails", "panics"}).Draw(t, "half-close"), Busy: rapid.Bool().Draw(t, "busy"),
		Meanwhile: rapid.SampledFrom([]string{"", "", "CloseGracefully", "Close"}).Draw(t, "meanwhile"),
		Calls:     rapid.SliceOfN(calls, 0, 6).Draw(t, "calls"),
	}
}

// endingConn is a connection with that Read. It takes all that is written.
type endingConn struct {
	net.Conn
	plan  lastRead
	ch    *blocking.Channel
	known chan struct{} // closed when ch is set
	reads int
	sent  int
}

func (c *endingConn) Read(p []byte) (int, error) {
	if c.reads++; c.reads > 1 {
		return c.Conn.Read(p)
	}
	<-c.known
	called := make(chan struct{})
	go func() {
		defer close(called)
		switch c.plan.Meanwhile {
		case "CloseGracefully":
			c.ch.CloseGracefully(core.Deadline{})
		case "Close":
			c.ch.Close()
		}
	}()
	<-called
	if c.plan.Ends {
		return c.plan.Input, io.EOF
	}
	return c.plan.Input, nil
}

func (c *endingConn) Write(p []byte) (int, error) { c.sent += len(p); return len(p), nil }

// halfClosable is an endingConn with CloseWrite. If that succeeds, the peer answers with its own end.
type halfClosable struct {
	*endingConn
	theirs net.Conn
}

func (c halfClosable) CloseWrite() error {
	switch c.plan.HalfClose {
	case "unsupported":
		return fmt.Errorf("CloseWrite: %w", errors.ErrUnsupported)
	case "fails":
		return errOfConn
	case "panics":
		panic("of the connection")
	}
	return c.theirs.Close()
}

// keepBusy keeps the executor busy until the first Read.
func (c *endingConn) keepBusy(loop *core.EventLoop) {
	if c.reads == 0 {
		_ = loop.Execute(func() { c.keepBusy(loop) })
	}
}

// laterWrite is the result of a write in a later body, and what it is to be.
type laterWrite struct {
	err  error
	any  bool  // a shutdown of the executor has begun, and the drain begins between two bodies
	want error // nil: it is accepted
}

// inRead makes the calls of the handler, and returns the later writes. If Read has returned the end, each drain begins in the
// body that reads the end. Otherwise CloseGracefully posts it.
func (p lastRead) inRead(ch *blocking.Channel) (later []*laterWrite, accepted int) {
	var refused error
	for _, call := range p.Calls {
		switch call {
		case "Write":
			accepted++
			if err := ch.Write([]byte("x")).Err(); err != nil {
				later = append(later, &laterWrite{err: err}) // the drain has not begun
			}
		case "later":
			w := &laterWrite{want: refused}
			later = append(later, w)
			posted := core.NewPromise[int](ch.EventLoop())
			posted.Future().OnDone(func(int, error) { w.err = ch.Write([]byte("x")).Err() })
			posted.TrySuccess(0)
		case "CloseGracefully":
			ch.CloseGracefully(core.Deadline{})
			refused = blocking.ErrChannelClosing
		case "ShutdownGracefully":
			_, _ = ch.EventLoop().ShutdownGracefully(0, time.Hour)
		}
	}
	for _, w := range later {
		switch {
		case p.Ends && (refused != nil || p.shuts()):
			w.want = blocking.ErrChannelClosing
		case p.Ends && !p.Half:
			w.want = blocking.ErrChannelClosed
		case !p.Ends && p.shuts():
			w.any = true
		}
	}
	return later, accepted
}

// handled reports whether the handler gets the input, and makes its calls.
func (p lastRead) handled() bool { return p.Input > 0 && p.Meanwhile == "" }

func (p lastRead) shuts() bool  { return p.handled() && slices.Contains(p.Calls, "ShutdownGracefully") }
func (p lastRead) closes() bool { return p.handled() && slices.Contains(p.Calls, "CloseGracefully") }

// cause returns the text of the cause of the close: that of a failed half-close, of the peer's end without a drain, or none.
func (p lastRead) cause() string {
	switch {
	case p.Meanwhile == "Close":
		return ""
	case p.Meanwhile == "" && p.Ends && !p.Half && !p.shuts() && !p.closes():
		return io.EOF.Error()
	case p.HalfClose == "fails":
		return errOfConn.Error()
	case p.HalfClose == "panics":
		return "core: panic: of the connection"
	}
	return ""
}

// wanted returns the calls that the handler gets.
func (p lastRead) wanted() []string {
	want := []string{"Active"}
	if p.handled() {
		want = append(want, fmt.Sprint("Read ", p.Input), "ReadComplete")
	}
	if p.Ends && p.Half && p.Meanwhile == "" && !p.shuts() && !p.closes() {
		want = append(want, "InputShutdown", "ReadComplete")
	}
	if cause := p.cause(); cause != "" && cause != io.EOF.Error() {
		want = append(want, "Error "+cause)
	}
	return append(want, "Inactive", "Unregistered")
}

// run returns the first difference, or "".
func (p lastRead) run(t *testing.T) string {
	g, err := blocking.NewGroup(0)
	coretest.Must(t, err)
	ours, theirs := net.Pipe()
	c := &endingConn{Conn: ours, plan: p, known: make(chan struct{})}
	conn := net.Conn(c)
	if p.HalfClose != "" {
		conn = halfClosable{c, theirs}
	}
	var calls coretest.Journal
	var later []*laterWrite
	accepted := 0
	adds := func(name string) func(*blocking.Channel) { return func(*blocking.Channel) { calls.Add(name) } }
	c.ch = mustRegister(t, g, conn, &handler{
		active: func(ch *blocking.Channel) {
			calls.Add("Active")
			if p.Busy {
				c.keepBusy(ch.EventLoop())
			}
		},
		read: func(ch *blocking.Channel, b []byte) {
			calls.Add(fmt.Sprint("Read ", len(b)))
			later, accepted = p.inRead(ch)
		},
		readComplete: adds("ReadComplete"), inputShutdown: adds("InputShutdown"), inactive: adds("Inactive"), unregistered: adds("Unregistered"),
		failed: func(_ *blocking.Channel, err error) { calls.Add("Error " + err.Error()) },
	}, blocking.WithHalfClosure(p.Half))
	close(c.known)
	synctest.Wait()
	c.ch.CloseGracefully(core.Deadline{})
	synctest.Wait()
	_ = theirs.Close()
	coretest.Await(t, "the end of the channel", c.ch.CloseFuture().Done())
	g.Shutdown()
	report := coretest.AwaitDone(t, g)
	cause := text(c.ch.CloseCause())
	if p.Meanwhile == "Close" && p.Ends && !p.Half && cause == io.EOF.Error() {
		cause = "" // what the executor handles first, the Close or the end, depends on where it reads
	}
	if want := p.cause(); cause != want {
		return fmt.Sprintf("the cause is %q, want %q", cause, want)
	}
	refused := int64(0)
	var closed *blocking.ClosedError
	for i, w := range later {
		switch {
		case !w.any && (!errors.Is(w.err, w.want) || (w.err == nil) != (w.want == nil)):
			return fmt.Sprintf("G23: later write %d of %d: %v, want %v", i, len(later), w.err, w.want)
		case w.err == nil:
			accepted++
		case !errors.As(w.err, &closed): // a write after the end of the channel is not counted
			refused++
		}
	}
	if c.sent != accepted {
		return fmt.Sprintf("G23: the connection got %d bytes, want the %d that were accepted", c.sent, accepted)
	}
	if got, want := calls.All(), p.wanted(); !slices.Equal(got, want) {
		return fmt.Sprintf("G22: the handler got %q, want %q", got, want)
	}
	return p.check(report, refused, accepted)
}

// check compares the report, which counts the channel if the handler has shut its executor down. If its peer has ended before
// bytes were sent, nobody can say whether the peer has received them.
func (p lastRead) check(r core.Report, refused int64, accepted int) string {
	var want core.Report
	if p.shuts() {
		want.ChannelsAborted = 1
		if p.Ends && accepted == 0 || !p.Ends && p.HalfClose == "answered" {
			want.ChannelsDrained, want.ChannelsAborted = 1, 0
		}
		if !p.closes() {
			want.WritesRefused = refused
		}
	}
	if r.ChannelsDrained != want.ChannelsDrained || r.ChannelsAborted != want.ChannelsAborted || r.WritesRefused != want.WritesRefused || r.BytesDiscarded != 0 {
		return fmt.Sprintf("G23: the report is %+v, want the counts of %+v", r, want)
	}
	return ""
}

// TestPropLastReads: the writes of the body that reads the peer's end are accepted. If that body, or a call beside it, has
// requested a drain, the drain begins as the end is handled, and the writes of all later bodies are refused. If there is no end,
// the drain begins after the bodies that were posted before CloseGracefully. After a call of CloseGracefully or Close beside
// the Read, the handler gets neither its input nor the end. All accepted bytes are sent. A half-close that fails or panics is an
// error of the connection (G14, G22, G23).
func TestPropLastReads(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawLastRead(rt)
		wrong := ""
		synctest.Test(t, func(t *testing.T) { wrong = p.run(t) })
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}
