package blocking_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

const (
	mostPiece  = 64 << 10 // bytes of one Write of a connection
	readBuffer = 8
)

var errOfConn = errors.New("error of the connection")

// answer is what one call of a connection does.
type answer struct {
	N         int // the number it returns
	Err       error
	Panics    bool
	Closes    bool // it calls Channel.Close first
	Elsewhere bool // on another goroutine
}

// drawAnswer draws the answer of a Read or a Write of size bytes: often one that breaks the rules of
// net.Conn.
func drawAnswer(t *rapid.T, size int) answer {
	return answer{
		N:      rapid.OneOf(rapid.IntRange(-2, size+2), rapid.SampledFrom([]int{-1, 0, size, size + 1})).Draw(t, "n"),
		Err:    rapid.SampledFrom([]error{nil, nil, errOfConn, io.EOF}).Draw(t, "err"),
		Panics: rapid.IntRange(0, 7).Draw(t, "panics") == 0,
		Closes: rapid.Bool().Draw(t, "closes"), Elsewhere: rapid.Bool().Draw(t, "elsewhere"),
	}
}

// gives returns the text of the answer's error for size bytes, and the bytes that count: none if the
// answer breaks the rules.
func (a answer) gives(call string, size int) (n int, text string) {
	switch {
	case a.Panics:
		return 0, "core: panic: of the connection"
	case a.N < 0 || a.N > size:
		return 0, fmt.Sprintf("blocking: %s of a *blocking_test.oddConn returned %d for %d bytes", call, a.N, size)
	case a.Err != nil:
		return a.N, a.Err.Error()
	case call == "Write" && a.N < size:
		return a.N, io.ErrShortWrite.Error()
	}
	return a.N, ""
}

// oddConn is a connection whose first Read, one Write and each Close have a drawn answer. Other calls
// of Write take everything.
type oddConn struct {
	net.Conn
	ch     atomic.Pointer[blocking.Channel]
	known  chan struct{} // closed when ch is set
	read   *answer       // nil: an ordinary connection
	write  *answer
	odd    int // the number of the Write with that answer
	closes answer
	reads  int
	writes int
	closed coretest.Journal // the calls of Close, of the connection below too
	cut    chan struct{}    // closed by the first Close of the connection below
	once   sync.Once
}

// below is the connection below an oddConn, as that below TLS.
type below struct {
	net.Conn
	of *oddConn
}

func (b below) Close() error {
	b.of.closed.Add("below")
	defer b.of.once.Do(func() { close(b.of.cut) })
	return b.Conn.Close()
}

func (c *oddConn) NetConn() net.Conn { return below{c.Conn, c} }

func (c *oddConn) do(a answer) (int, error) {
	<-c.known
	switch ch := c.ch.Load(); {
	case a.Closes && a.Elsewhere:
		called := make(chan struct{})
		go func() {
			defer close(called)
			ch.Close()
		}()
		<-called
	case a.Closes:
		ch.Close()
	}
	if a.Panics {
		panic("of the connection")
	}
	return a.N, a.Err
}

func (c *oddConn) Read(p []byte) (int, error) {
	if c.reads++; c.reads > 1 || c.read == nil {
		return c.Conn.Read(p)
	}
	copy(p, "12345678")
	return c.do(*c.read)
}

// runsTasks keeps the executor busy until the first Read.
func (c *oddConn) runsTasks(loop *core.EventLoop) {
	if c.reads == 0 {
		_ = loop.Execute(func() { c.runsTasks(loop) })
	}
}

func (c *oddConn) Write(p []byte) (int, error) {
	if c.writes++; c.writes != c.odd {
		return len(p), nil
	}
	return c.do(*c.write)
}

func (c *oddConn) Close() error {
	c.closed.Add("conn")
	_ = c.Conn.Close()
	if c.closes.Panics {
		panic("of the connection")
	}
	return c.closes.Err
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// check compares the end of a channel: its cause, and the result of Close (R213). After an error the
// connection below is closed first, because a close alert of TLS could block; after Close and the
// peer's end the whole connection, which sends the alert.
func (c *oddConn) check(t *rapid.T, ch *blocking.Channel, want string) {
	<-ch.CloseFuture().Done()
	if got := text(ch.CloseCause()); got != want {
		t.Fatalf("CloseCause: %q, want %q", got, want)
	}
	first := "below"
	if want == "" || want == io.EOF.Error() {
		first = "conn"
	}
	if got := c.closed.All()[0]; got != first {
		t.Fatalf("%q is closed first, want %q", got, first)
	}
	wantClose := ""
	if want == "" {
		_, wantClose = c.closes.gives("Close", 0)
	}
	if _, err := ch.Close().Wait(t.Context()); text(err) != wantClose {
		t.Fatalf("R213: Close: %q, want %q", text(err), wantClose)
	}
}

// reads checks an odd Read. The handler gets the bytes that count, unless Read has closed the channel, and
// then the end, in the order of G22. After a Close on another goroutine, which the executor may handle later, the
// handler gets neither bytes nor the end of the stream. A shutdown may come while the handler has the bytes, and end
// the channel.
func reads(t *rapid.T, c *oddConn, register func(blocking.Handler, ...blocking.Option) *blocking.Channel) {
	a, half := drawAnswer(t, readBuffer), rapid.Bool().Draw(t, "half closure")
	n, want := a.gives("Read", readBuffer)
	// Otherwise what the executor handles first, the Close or the error, depends on where it reads.
	a.Elsewhere = a.Elsewhere && (want == "" || want == io.EOF.Error() && half)
	c.read = &a
	if a.Closes {
		n, want = 0, ""
	}
	cut := n > 0 && rapid.IntRange(0, 3).Draw(t, "shutdown") == 0
	wanted := []string{"Active"}
	if n > 0 {
		wanted = append(wanted, "Read "+"12345678"[:n], "ReadComplete")
	}
	ended := want == io.EOF.Error() && half
	switch {
	case cut:
		ended, want = false, core.ErrShutdown.Error()
	case ended:
		wanted, want = append(wanted, "InputShutdown", "ReadComplete"), ""
	case want != "" && want != io.EOF.Error():
		wanted = append(wanted, "Error "+want)
	}
	calls, last, ending, got := &coretest.Journal{}, make(chan struct{}), make(chan struct{}), make(chan struct{})
	adds := func(name string) func(*blocking.Channel) { return func(*blocking.Channel) { calls.Add(name) } }
	busy := rapid.Bool().Draw(t, "the executor is busy") // then it polls, and does not sleep in Read
	ch := register(&handler{
		active: func(ch *blocking.Channel) {
			calls.Add("Active")
			if busy {
				c.runsTasks(ch.EventLoop())
			}
		},
		readComplete: adds("ReadComplete"), inactive: adds("Inactive"),
		read: func(ch *blocking.Channel, p []byte) {
			calls.Add("Read " + string(p))
			close(got)
			if cut {
				ch.EventLoop().Shutdown()
				<-c.cut
			}
		},
		inputShutdown: func(*blocking.Channel) { calls.Add("InputShutdown"); close(ending) },
		failed:        func(_ *blocking.Channel, err error) { calls.Add("Error " + err.Error()) },
		unregistered:  func(*blocking.Channel) { calls.Add("Unregistered"); close(last) },
	}, blocking.WithHalfClosure(half))
	switch {
	case ended:
		<-ending
	case n > 0:
		<-got
	}
	if want == "" && !a.Closes {
		ch.Close()
	}
	c.check(t, ch, want)
	<-last
	if got, wanted := calls.All(), append(wanted, "Inactive", "Unregistered"); !slices.Equal(got, wanted) {
		t.Fatalf("G22: the handler got %q, want %q", got, wanted)
	}
}

// writes checks an odd Write. The future of the written bytes has the bytes that were taken. A Close
// inside Write comes after the bytes that were flushed.
func writes(t *rapid.T, c *oddConn, register func(blocking.Handler, ...blocking.Option) *blocking.Channel) {
	size := rapid.SampledFrom([]int{1, 2, 100, mostPiece - 1, mostPiece, mostPiece + 1, 3 * mostPiece}).Draw(t, "size")
	c.odd = rapid.IntRange(1, (size+mostPiece-1)/mostPiece).Draw(t, "odd")
	before := (c.odd - 1) * mostPiece
	piece := min(size-before, mostPiece)
	a := drawAnswer(t, piece)
	c.write = &a
	n, want := a.gives("Write", piece)
	if n += before; want == "" {
		n = size
	}
	ch := register(&handler{})
	w := ch.WriteAndFlush(bytes.Repeat([]byte("x"), size))
	got, err := w.Wait(t.Context())
	if got != n || (err != nil) != (n < size) || err != nil && !errors.Is(err, blocking.ErrChannelClosed) {
		t.Fatalf("the write: %d, %v; want %d of %d bytes", got, err, n, size)
	}
	if want == "" {
		ch.Close()
	}
	c.check(t, ch, want)
	if got := ch.PendingBytes(); got != int64(size-n) {
		t.Fatalf("%d bytes were never taken, want %d", got, size-n)
	}
}

// TestPropConnections: if a call of a connection breaks the rules of net.Conn, fails or panics, its channel
// ends with that error. The executor and its next channel are not affected (G14).
func TestPropConnections(t *testing.T) {
	for name, call := range map[string]func(*rapid.T, *oddConn, func(blocking.Handler, ...blocking.Option) *blocking.Channel){"Read": reads, "Write": writes} {
		t.Run(name, func(outer *testing.T) {
			rapid.Check(outer, func(t *rapid.T) {
				g, err := blocking.NewGroup(0)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { <-g.Shutdown().Done() }()
				ours, theirs := net.Pipe()
				defer func() { _ = theirs.Close() }()
				c := &oddConn{Conn: ours, known: make(chan struct{}), cut: make(chan struct{}), closes: answer{Err: rapid.SampledFrom([]error{nil, errOfConn}).Draw(t, "error of Close")}}
				c.closes.Panics = rapid.IntRange(0, 3).Draw(t, "Close panics") == 0
				var loop *core.EventLoop
				call(t, c, func(h blocking.Handler, opts ...blocking.Option) *blocking.Channel {
					ch, err := g.Register(c, h, append(opts, blocking.WithReadBuffer(readBuffer))...)
					if err != nil {
						t.Fatal(err)
					}
					loop = ch.EventLoop()
					c.ch.Store(ch)
					close(c.known)
					return ch
				})
				if loop.State() < core.StateShuttingDown {
					echoes(outer, t, g, loop)
				}
			})
		})
	}
}

// echoes checks that the group serves its next channel, on the same executor.
func echoes(outer *testing.T, t *rapid.T, g *blocking.Group, loop *core.EventLoop) {
	coretest.Until(outer, "the executor to be idle", func() bool { return g.Stats().Idle == 1 })
	ours, theirs := net.Pipe()
	defer func() { _ = theirs.Close() }()
	ch, err := g.Register(ours, echo())
	if err != nil || ch.EventLoop() != loop {
		t.Fatalf("the next channel: %v, want one on the same executor", err)
	}
	answer := make([]byte, 4)
	if _, err := theirs.Write([]byte("next")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(theirs, answer); err != nil || string(answer) != "next" {
		t.Fatalf("the next channel: echo %q, %v, cause %v", answer, err, ch.CloseCause())
	}
}
