package tcp_test

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"sync/atomic"
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

// TestPropG23CloseAwaitsAcknowledgements compares ends of a channel with a specification, in virtual time and to the
// nanosecond. A graceful close awaits the acknowledgement of all bytes, however long that takes. So does a close with
// WithLinger, until its time is over. The channel checks for both after delays that double from 1 ms to 16 ms, and each check
// also finds a broken connection. The end counts as drained if the bytes were acknowledged before it; at the peer's end, only if no
// reset follows. A broken connection is the cause if the end of the output fails. No idle timeout passes meanwhile. The earliest
// deadline of CloseGracefully ends a graceful close, but no close with WithLinger, which a further Close does not extend. No
// timer of an idle timeout is left, which a shutdown would count as activity. The poller does not watch the socket while the
// channel lingers, nor when the socket closes.
func TestPropG23CloseAwaitsAcknowledgements(t *testing.T) {
	checkInBubbles(t, func(r *rapid.T) func(t *testing.T) string {
		e := drawAckEnd(r)
		return func(t *testing.T) string {
			if wrong := e.run(t); wrong != "" {
				return fmt.Sprintf("G23: %s: %+v", wrong, e)
			}
			return ""
		}
	})
}

// never is later than every event of the property.
const never = 5 * time.Second

// ackEnd is an end of a channel. Times count from its begin.
type ackEnd struct {
	how       string           // "Close", "CloseGracefully", "ShutdownGracefully" or "the peer's end"
	linger    time.Duration    // of WithLinger; negative: none
	acked     time.Duration    // when the peer's kernel has acknowledged all bytes
	broken    time.Duration    // when the connection breaks
	then      time.Duration    // when Close is called behind CloseGracefully or ShutdownGracefully
	deadlines [2]time.Duration // of calls of CloseGracefully
	again     time.Duration    // when Close is called once more, for a channel that lingers
	shutFails bool             // the end of the output fails
}

func drawAckEnd(t *rapid.T) ackEnd {
	at := func(name string) time.Duration {
		return rapid.SampledFrom([]time.Duration{0, never, time.Millisecond, 2 * time.Millisecond, 6 * time.Millisecond, 29 * time.Millisecond, 100 * time.Millisecond}).Draw(t, name)
	}
	e := ackEnd{
		how:       rapid.SampledFrom([]string{"Close", "CloseGracefully", "ShutdownGracefully", "the peer's end"}).Draw(t, "end"),
		linger:    rapid.SampledFrom([]time.Duration{-1, 0, time.Nanosecond, 10 * time.Millisecond, 50 * time.Millisecond, 2 * time.Second}).Draw(t, "linger"),
		acked:     at("acknowledged"),
		broken:    rapid.SampledFrom([]time.Duration{never, never, 0, 2 * time.Millisecond, 40 * time.Millisecond}).Draw(t, "broken"),
		then:      rapid.SampledFrom([]time.Duration{never, 4 * time.Millisecond, 20 * time.Millisecond}).Draw(t, "Close behind it"),
		shutFails: rapid.SampledFrom([]bool{false, false, false, true}).Draw(t, "the end of the output fails"),
	}
	if e.how == "Close" || e.how == "the peer's end" {
		e.then = never
	}
	if e.then < never { // mostly a Close that comes before the end and lingers
		e.linger = rapid.SampledFrom([]time.Duration{2 * time.Second, 50 * time.Millisecond, 10 * time.Millisecond, -1, 0, time.Nanosecond}).Draw(t, "linger of the Close")
		e.acked = e.then + rapid.SampledFrom([]time.Duration{3 * time.Millisecond, 80 * time.Millisecond, never, -time.Millisecond, -e.then}).Draw(t, "acknowledged after it")
	}
	for i := range e.deadlines {
		e.deadlines[i] = rapid.SampledFrom([]time.Duration{never, 5 * time.Millisecond, 25 * time.Millisecond}).Draw(t, "deadline")
	}
	if e.again = never; e.lingers() {
		e.again = max(0, e.then%never) + rapid.SampledFrom([]time.Duration{never, 5 * time.Millisecond, 8 * time.Millisecond}).Draw(t, "Close once more")
	}
	return e
}

// lingers reports whether Close or the peer's end is a close with WithLinger.
func (e ackEnd) lingers() bool {
	return e.linger > 0 && (e.how == "Close" || e.how == "the peer's end" || e.then < never)
}

// ackSocket is a Socket whose bytes are all acknowledged at the time acked.
type ackSocket struct {
	ackEnd
	m       *pollertest.Model
	d       *pollertest.Descriptor
	begin   time.Time
	ended   atomic.Bool // the peer has ended its side
	watched atomic.Bool // the poller watched the socket of a channel that lingers, or when it closed
	closed  atomic.Bool
	closes  []bool          // for each call of Close: whether it is a reset
	checks  []time.Duration // when the channel asked for the bytes that are not acknowledged
}

// isWatched reports whether the poller watches the socket.
func (s *ackSocket) isWatched() bool {
	_, interest, ok := s.m.Watched(s.FD())
	return ok && interest&(core.Readable|core.Writable) != 0
}

var errOfShutdown = errors.New("shutdown of the test")

func (s *ackSocket) FD() int                             { return s.d.FD() }
func (s *ackSocket) Send(p []byte) (int, syscall.Errno)  { return len(p), 0 }
func (s *ackSocket) Addrs() (local, peer netip.AddrPort) { return local, peer }

func (s *ackSocket) Read([]byte) (int, syscall.Errno) {
	if s.ended.Load() {
		return 0, 0
	}
	return 0, syscall.EAGAIN
}

func (s *ackSocket) ShutdownWrite() error {
	if s.shutFails {
		return errOfShutdown
	}
	return nil
}

func (s *ackSocket) Unacknowledged() int {
	s.checks = append(s.checks, time.Since(s.begin))
	if time.Since(s.begin) >= s.acked {
		return 0
	}
	return 1
}

func (s *ackSocket) Err() syscall.Errno {
	if time.Since(s.begin) >= s.broken {
		return syscall.ECONNRESET
	}
	return 0
}

func (s *ackSocket) Close(reset bool) error {
	s.closes = append(s.closes, reset)
	if s.isWatched() {
		s.watched.Store(true)
	}
	s.closed.Store(true)
	return s.d.Close()
}

// ackOutcome is the outcome of an end.
type ackOutcome struct {
	took     time.Duration
	cause    error
	graceful error // of the future of CloseGracefully, which is also called after the close
	drained  bool
	reset    bool
	checks   []time.Duration // of the acknowledgements
}

// spec returns the outcome.
func (e ackEnd) spec() ackOutcome {
	o := ackOutcome{reset: e.linger == 0}
	clean := false // the end counts as drained
	switch e.how {
	case "Close":
		o.took = e.await(&o, 0, new(time.Duration), e.lingerEnd(0), 10*never)
	case "the peer's end":
		e.check(&o, 0) // whether it counts as drained
		o.cause, clean = io.EOF, e.acked == 0 && e.broken > 0 && e.linger != 0
		o.took = e.await(&o, 0, new(time.Duration), e.lingerEnd(0), 10*never)
	default:
		if e.how == "ShutdownGracefully" {
			o.cause = core.ErrShutdown
		}
		if e.shutFails {
			if o.cause = errOfShutdown; e.broken == 0 {
				o.cause = syscall.ECONNRESET
			}
			break
		}
		var delay time.Duration
		deadline := min(e.deadlines[0], e.deadlines[1])
		if e.how == "ShutdownGracefully" {
			deadline = never
		}
		cut := min(e.then, deadline)
		if cut == never {
			cut = 10 * never
		}
		o.took = e.await(&o, 0, &delay, 10*never, cut)
		clean = e.acked <= o.took && e.broken > o.took
		switch {
		case o.took < cut:
		case cut == deadline:
			o.cause, clean = tcp.ErrCloseDeadline, false
		default: // Close was called before the graceful close was over
			o.cause, clean = nil, false
			o.took = e.await(&o, e.then, &delay, e.lingerEnd(e.then), 10*never)
		}
	}
	o.drained = clean
	switch {
	case clean:
	case o.cause != nil:
		o.graceful = o.cause
	default:
		o.graceful = tcp.ErrChannelClosed
	}
	return o
}

// lingerEnd is the end of WithLinger's time.
func (e ackEnd) lingerEnd(begin time.Duration) time.Duration {
	if e.shutFails || e.linger <= 0 {
		return begin
	}
	return begin + e.linger
}

// await returns when a wait for acknowledgements that begins at at is over, or cut if it is not over before cut.
func (e ackEnd) await(o *ackOutcome, at time.Duration, delay *time.Duration, end, cut time.Duration) time.Duration {
	if end > at { // otherwise the channel closes at once
		e.check(o, at)
	}
	for e.acked > at && e.broken > at && end > at {
		*delay = min(max(2**delay, time.Millisecond), 16*time.Millisecond)
		at += min(*delay, end-at)
		if at >= cut {
			return cut
		}
		e.check(o, at)
	}
	return at
}

// check counts a check at at. It does not reach the bytes of a broken connection.
func (e ackEnd) check(o *ackOutcome, at time.Duration) {
	if at < e.broken {
		o.checks = append(o.checks, at)
	}
}

// run ends a channel, and describes the difference from the specification, if there is one.
func (e ackEnd) run(t *testing.T) string {
	m := pollertest.NewModel(nil)
	loop, err := core.NewEventLoop(core.WithPoller(m))
	coretest.Must(t, err)
	defer func() { <-loop.Shutdown().Done() }()
	s := &ackSocket{ackEnd: e, m: m, d: m.Open(), begin: time.Now()}
	opts := []tcp.Option{tcp.WithIdleTimeouts(3*time.Millisecond, 3*time.Millisecond, 3*time.Millisecond)}
	if e.linger >= 0 {
		opts = append(opts, tcp.WithLinger(e.linger))
	}
	var idle atomic.Int32
	ch, err := tcp.Embed(loop, s, countIdle{n: &idle}, opts...).Wait(t.Context())
	coretest.Must(t, err)
	synctest.Wait()
	switch e.how {
	case "Close":
		ch.Close()
	case "CloseGracefully":
		for _, d := range e.deadlines {
			var deadline time.Time
			if d < never {
				deadline = time.Now().Add(d)
			}
			ch.CloseGracefully(deadline)
		}
	case "ShutdownGracefully":
		coretest.MustShutdownGracefully(t, loop, 0, 10*never)
	}
	synctest.Wait()
	if e.how != "Close" {
		s.ended.Store(true)
		_ = s.d.Input()
	}
	if e.then < never {
		time.AfterFunc(e.then, func() { ch.Close() })
	}
	if e.again < never {
		time.AfterFunc(e.again, func() { ch.Close() })
	}
	if e.lingers() {
		time.AfterFunc(max(0, e.then%never)+1, func() {
			if !s.closed.Load() && s.isWatched() {
				s.watched.Store(true)
			}
		})
	}
	var timers atomic.Int64
	time.AfterFunc(1, func() { timers.Store(loop.Stats().Timers) })
	<-ch.CloseFuture().Done()
	want := e.spec()
	got := ackOutcome{took: time.Since(s.begin), cause: ch.CloseCause(), graceful: coretest.AwaitErr(t, "it", ch.CloseGracefully(time.Time{}))}
	synctest.Wait()
	if len(s.closes) != 1 {
		return fmt.Sprintf("%d calls of Close of the socket, want 1", len(s.closes))
	}
	got.reset, got.checks = s.closes[0], s.checks
	if got.drained = want.drained; e.how == "ShutdownGracefully" {
		got.drained = coretest.AwaitDone(t, loop).ChannelsDrained == 1
	}
	same := func(a, b error) bool { return a == b || b != nil && errors.Is(a, b) }
	if got.took != want.took || !same(got.cause, want.cause) || !same(got.graceful, want.graceful) || got.reset != want.reset || got.drained != want.drained || !slices.Equal(got.checks, want.checks) {
		return fmt.Sprintf("got %+v, want %+v", got, want)
	}
	if s.watched.Load() {
		return "the poller watches the socket of a channel that lingers, or a socket that closes"
	}
	if n := max(timers.Load(), loop.Stats().Timers); n > 0 {
		return fmt.Sprintf("%d idle timers are left on the loop, want none: each would count as activity of a shutdown", n)
	}
	if n := idle.Load(); n > 0 {
		return fmt.Sprintf("Idle was called %d times, want none after the end has begun", n)
	}
	return ""
}

// countIdle is a handler that counts the calls of Idle.
type countIdle struct {
	tcp.HandlerBase
	n *atomic.Int32
}

func (h countIdle) Idle(*tcp.Channel, tcp.IdleKind) { h.n.Add(1) }
