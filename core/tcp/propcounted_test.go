package tcp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"
	"eventide/core/tcp"

	"pgregory.net/rapid"
)

// TestPropG23EndsThatCount compares an end of a channel with a specification if a shutdown of the loop begins in one of its
// steps. The shutdown counts the end if it began before close(2) had returned, unless the user had called Close before; it
// also counts an end whose linger it cuts short. An end counts as drained if no accepted byte is lost. The errors of
// writes match ErrChannelClosing if a graceful close or a shutdown had begun. The log line of the end comes before Inactive.
// A write behind the end is logged if the shutdown has ended the channel. The futures of Close have the error of close(2). A
// channel whose graceful close was requested is writable only if it is held.
func TestPropG23EndsThatCount(t *testing.T) {
	checkInBubbles(t, func(r *rapid.T) func(t *testing.T) string {
		e := drawCountedEnd(r)
		return func(t *testing.T) string {
			got, want := e.run(t), e.spec()
			return got.differs(want, e)
		}
	})
}

// countedEnd is an end of a channel.
type countedEnd struct {
	how       string
	linger    time.Duration // of WithLinger; negative: none
	shutFails bool          // the end of the output fails
	pending   bool          // 3 bytes are pending, and the peer does not read
	unacked   bool          // the peer does not acknowledge
	held      bool
	shutdown  string // the step in which a shutdown of the loop begins; "": none
	late      bool   // CloseGracefully is called when the socket is closed
	fails     bool   // close(2) fails
	panics    bool   // Unregistered panics
}

func drawCountedEnd(t *rapid.T) countedEnd {
	flag := func(name string) bool { return rapid.Bool().Draw(t, name) }
	e := countedEnd{
		how: rapid.SampledFrom([]string{
			"Close", "Close elsewhere", "the peer's end", "a reset", "a panic", "CloseGracefully", "a deadline", "a shutdown",
		}).Draw(t, "end"),
		linger:  rapid.SampledFrom([]time.Duration{-1, 0, 10 * time.Millisecond}).Draw(t, "linger"),
		pending: flag("pending"), unacked: flag("not acknowledged"), held: flag("held"), late: flag("CloseGracefully behind it"),
		fails: flag("close(2) fails"), panics: flag("Unregistered panics"),
	}
	steps := []string{"", "the socket closes", "Inactive"}
	switch e.how {
	case "Close":
		steps = append(steps, "before", "the output ends")
		e.shutFails = flag("the end of the output fails")
	case "Close elsewhere":
		steps = append(steps, "the output ends")
		e.shutFails = flag("the end of the output fails")
	case "the peer's end":
		steps = append(steps, "the output ends")
		e.shutFails = flag("the end of the output fails")
		e.pending, e.held = false, false // the channel would wait for the peer or for the release
	case "a reset":
		steps = append(steps, "Error")
	case "CloseGracefully":
		e.pending, e.held, e.unacked = false, false, false
	case "a shutdown":
		steps = []string{"before"}
	}
	e.shutdown = rapid.SampledFrom(steps).Draw(t, "the shutdown begins")
	return e
}

// countedOutcome is what an end shows.
type countedOutcome struct {
	drained, aborted, held, discarded int64 // of the report of the loop
	cause                             error
	closing                           bool  // the error of the pending write matches ErrChannelClosing
	closingLate                       bool  // so does that of a write in Unregistered
	late                              error // of the CloseGracefully behind the end
	closes                            error // of the futures of Close, before and behind the end
	calls                             []string
	state                             string // of the channel when it has ended
}

// differs describes the difference between two outcomes of e, or returns "".
func (o countedOutcome) differs(want countedOutcome, e countedEnd) string {
	if errors.Is(o.cause, want.cause) && errors.Is(o.late, want.late) {
		o.cause, o.late = want.cause, want.late
	}
	if got, want := fmt.Sprintf("%+v", o), fmt.Sprintf("%+v", want); got != want {
		return fmt.Sprintf("G23: got %s, want %s: %+v", got, want, e)
	}
	return ""
}

// spec returns the outcome.
func (e countedEnd) spec() (o countedOutcome) {
	begun := false // the shutdown
	at := func(step string) { begun = begun || e.shutdown == step }
	at("before")
	closedFirst, broken, clean, cut, graceful := false, false, false, false, false
	lingers := e.linger > 0
	switch e.how {
	case "Close", "Close elsewhere":
		closedFirst = !begun
	case "the peer's end":
		o.cause, clean = io.EOF, !e.unacked && e.linger != 0
	case "a reset":
		o.cause, broken, lingers = syscall.ECONNRESET, true, false
		o.calls = append(o.calls, "Error")
		at("Error")
	case "a panic":
		o.cause, broken, lingers = tcp.ErrHandlerFailed, true, false
	case "CloseGracefully":
		clean, graceful, lingers = true, true, false
	case "a deadline":
		o.cause, graceful, lingers = tcp.ErrCloseDeadline, true, false
	case "a shutdown":
		o.cause, lingers = core.ErrShutdown, false
	}
	if lingers {
		at("the output ends")
		cut = begun && e.unacked && !e.shutFails
	}
	at("the socket closes")
	if e.pending {
		clean, o.state = false, "3 bytes pending"
	}
	if begun && (!closedFirst || cut) {
		if clean && !cut {
			o.drained = 1
		} else {
			o.aborted = 1
		}
		if e.pending {
			o.discarded = 3
		}
		if e.held && o.aborted > 0 && o.cause != nil && !broken {
			o.held = 1
		}
	}
	o.closing = e.pending && (begun || graceful)
	if o.aborted > 0 && o.discarded+o.held > 0 || e.how == "a panic" {
		o.calls = append(o.calls, "log")
	}
	o.calls = append(o.calls, "Inactive", "Unregistered")
	if e.how == "a shutdown" {
		o.calls = append(o.calls, "log") // the write in Unregistered
	}
	at("Inactive")
	o.closingLate = begun || graceful
	if e.fails {
		o.closes = errOfClose
	}
	switch {
	case !e.late || clean && !cut:
	case o.cause != nil:
		o.late = o.cause
	default:
		o.late = tcp.ErrChannelClosed
	}
	return o
}

// countedRun is the run of an end: the socket and the handler of the channel, and its logger.
type countedRun struct {
	tcp.HandlerBase
	countedEnd
	coretest.Journal
	t           *testing.T
	loop        *core.EventLoop
	d           *pollertest.Descriptor
	closingLate bool
}

var (
	errOfClose  = errors.New("close(2) of the test")
	ourAddress  = netip.MustParseAddrPort("192.0.2.1:1")
	peerAddress = netip.MustParseAddrPort("192.0.2.2:2")
)

// at begins the shutdown if step is that of the end.
func (c *countedRun) at(step string) {
	if c.shutdown == step {
		c.loop.Shutdown()
	}
}

func (c *countedRun) FD() int                             { return c.d.FD() }
func (c *countedRun) Addrs() (local, peer netip.AddrPort) { return ourAddress, peerAddress }
func (c *countedRun) Err() syscall.Errno                  { return 0 }

func (c *countedRun) Send(p []byte) (int, syscall.Errno) {
	if c.pending {
		_ = c.d.Fill()
		return 0, syscall.EAGAIN
	}
	return len(p), 0
}

func (c *countedRun) Unacknowledged() int {
	if c.unacked {
		return 1
	}
	return 0
}

func (c *countedRun) ShutdownWrite() error {
	c.at("the output ends")
	if c.shutFails {
		return syscall.ENOTCONN
	}
	return nil
}

func (c *countedRun) Close(bool) error {
	c.at("the socket closes")
	coretest.Must(c.t, c.d.Close())
	if c.fails {
		return errOfClose
	}
	return nil
}

// peerSocket is a countedRun as a Socket: the handler has a Read too.
type peerSocket struct{ *countedRun }

func (s peerSocket) Read(p []byte) (int, syscall.Errno) {
	if !s.d.Readable() {
		return 0, syscall.EAGAIN
	}
	switch s.how {
	case "a reset":
		return 0, syscall.ECONNRESET
	case "a panic":
		return 1, 0
	}
	return 0, 0
}

func (c *countedRun) Read(*tcp.Channel, []byte) { panic("a handler of the test") }
func (c *countedRun) Error(*tcp.Channel, error) { c.Add("Error"); c.at("Error") }
func (c *countedRun) Inactive(*tcp.Channel)     { c.Add("Inactive"); c.at("Inactive") }
func (c *countedRun) Unregistered(ch *tcp.Channel) {
	c.closingLate = errors.Is(ch.Write([]byte("late")).Err(), tcp.ErrChannelClosing)
	if c.Add("Unregistered"); c.panics {
		panic("a handler of the test")
	}
}

// logged is a slog.Handler that records each line as "log" if it has the addresses of the channel.
type logged struct{ *coretest.Journal }

func (l logged) Enabled(context.Context, slog.Level) bool { return true }
func (l logged) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l logged) WithGroup(string) slog.Handler            { return l }

func (l logged) Handle(_ context.Context, r slog.Record) error {
	var addresses []string
	for a := range r.Attrs {
		if a.Key == "local" || a.Key == "remote" {
			addresses = append(addresses, a.Key+" "+a.Value.String())
		}
	}
	line := "log"
	if want := fmt.Sprintf("[local %v remote %v]", ourAddress, peerAddress); fmt.Sprint(addresses) != want {
		line += fmt.Sprint(" with the addresses ", addresses)
	}
	l.Add(line)
	return nil
}

// elsewhere runs f on another goroutine, and waits for its end.
func elsewhere(f func()) {
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	<-done
}

// run ends a channel.
func (e countedEnd) run(t *testing.T) (o countedOutcome) {
	m := pollertest.NewModel(nil)
	loop, err := core.NewEventLoop(core.WithPoller(m), core.WithLogger(slog.New(slog.DiscardHandler)))
	coretest.Must(t, err)
	c := &countedRun{t: t, countedEnd: e, loop: loop, d: m.Open()}
	opts := []tcp.Option{tcp.WithLogger(slog.New(logged{&c.Journal}))}
	if e.linger >= 0 {
		opts = append(opts, tcp.WithLinger(e.linger))
	}
	ch, err := tcp.Embed(loop, peerSocket{c}, c, opts...).Wait(t.Context())
	coretest.Must(t, err)
	var w tcp.WriteFuture
	if e.pending {
		w = ch.WriteAndFlush([]byte("abc"))
	}
	if e.held {
		_, err := ch.Hold()
		coretest.Must(t, err)
	}
	var late *core.Future[struct{}]
	if e.late {
		ch.CloseFuture().OnDone(func(struct{}, error) { late = ch.CloseGracefully(time.Time{}) })
	}
	var closed *core.Future[struct{}]
	coretest.OnLoop(t, loop, func() {
		c.at("before")
		switch e.how {
		case "Close":
			closed = ch.Close()
		case "Close elsewhere":
			elsewhere(func() { closed = ch.Close() })
		case "CloseGracefully":
			elsewhere(func() { ch.CloseGracefully(time.Time{}) })
		case "a deadline":
			elsewhere(func() { ch.CloseGracefully(time.Now().Add(time.Millisecond)) })
		}
		if open, writable := ch.IsOpen(), ch.IsWritable(); (e.how == "CloseGracefully" || e.how == "a deadline") && (open || writable != e.held) {
			o.state += fmt.Sprintf("open %v, writable %v behind the call, ", open, writable)
		}
	})
	if slices.Contains([]string{"the peer's end", "a reset", "a panic", "CloseGracefully"}, e.how) {
		_ = c.d.Input()
	}
	<-ch.CloseFuture().Done()
	synctest.Wait()
	o.cause, o.calls, o.closingLate = ch.CloseCause(), c.All(), c.closingLate
	o.closing = errors.Is(w.Err(), tcp.ErrChannelClosing)
	if n := ch.PendingBytes(); n > 0 {
		o.state += fmt.Sprintf("%d bytes pending", n)
	}
	if ch.IsOpen() || ch.IsWritable() || ch.BytesBeforeUnwritable() > 0 || ch.BytesBeforeWritable() > 0 {
		o.state += ", open or writable"
	}
	if e.pending && !errors.Is(w.Err(), tcp.ErrChannelClosed) {
		o.state += fmt.Sprintf(", and the write has the error %v", w.Err())
	}
	if late != nil {
		o.late = coretest.AwaitErr(t, "the late CloseGracefully", late)
	}
	if o.closes = coretest.AwaitErr(t, "Close behind the end", ch.Close()); closed != nil && coretest.AwaitErr(t, "Close", closed) != o.closes {
		o.state += ", and the futures of Close differ"
	}
	coretest.WantErr(t, "CloseFuture", coretest.AwaitErr(t, "it", ch.CloseFuture()), nil)
	loop.Shutdown()
	report := coretest.AwaitDone(t, loop)
	if name := fmt.Sprintf("tcp %v to %v, holds 1", ourAddress, peerAddress); report.ChannelsHeld > 0 && !strings.Contains(report.Held, name) {
		o.state += ", and the report says " + report.Held
	}
	o.drained, o.aborted, o.held, o.discarded = report.ChannelsDrained, report.ChannelsAborted, report.ChannelsHeld, report.BytesDiscarded
	return o
}
