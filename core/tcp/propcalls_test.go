package tcp_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"
	"eventide/core/tcp"

	"pgregory.net/rapid"
)

// TestPropG22CallsOfASocket makes calls of a channel on its loop, on another goroutine and in its handler, in any order, while
// its peer acts. The socket gets no call after its close, no bytes that were not flushed, no bytes after the end of its output, and
// one Close, one end of the output and one read of the end of the stream at most. A reset by the peer closes the channel, also if
// its input is paused. Error is called once if the socket refuses bytes and nobody calls Close, and else at most once. Each future
// completes, and its error says whether the kernel has taken the bytes and the end of the output; behind a graceful end
// CloseOutput has none. A write that a shutdown of the loop refuses is counted, unless the user had ended the channel or its
// output before (G23).
func TestPropG22CallsOfASocket(t *testing.T) {
	checkInBubbles(t, func(r *rapid.T) func(t *testing.T) string {
		p := &callProgram{
			linger: rapid.SampledFrom([]time.Duration{-1, -1, 0, 50 * time.Millisecond}).Draw(r, "linger"),
			half:   rapid.Bool().Draw(r, "half closure"),
		}
		for range rapid.IntRange(1, 4).Draw(r, "bodies") {
			b := callBody{pause: rapid.SampledFrom([]time.Duration{0, time.Nanosecond, 2 * time.Millisecond, time.Second}).Draw(r, "pause")}
			for range rapid.IntRange(1, 4).Draw(r, "calls") {
				b.steps = append(b.steps, drawCallStep(r))
			}
			p.bodies = append(p.bodies, b)
		}
		var first []callBody
		begin := rapid.SampledFrom([]string{"", "", "held in its close", "closed while a check for acknowledgements is due", "closed in front of a reset", "reset while it is paused"}).Draw(r, "begin")
		switch begin {
		case "held in its close":
			first = bodies([]string{"Hold", "CloseGracefully"})
		case "closed while a check for acknowledgements is due":
			first = bodies([]string{"unacknowledged", "CloseGracefully", "the peer ends"}, []string{"2 ms pass", "Close"})
		case "closed in front of a reset":
			first, p.closes = bodies([]string{"the peer sends and resets"}), true
		case "reset while it is paused":
			first = bodies([]string{"pause", "the peer resets"})
		}
		p.bodies = append(first, p.bodies...)
		for range rapid.IntRange(0, 3).Draw(r, "calls of the handler") {
			p.handler = append(p.handler, drawCallStep(r))
		}
		handler := fmt.Sprintf("%+v, Close in ReadComplete: %v", p.handler, p.closes)
		return func(t *testing.T) string {
			if wrong := p.run(t); len(wrong) > 0 {
				return fmt.Sprintf("G22: %q: linger %v, half closure %v, bodies %+v, the handler calls %s", wrong, p.linger, p.half, p.bodies, handler)
			}
			return ""
		}
	})
}

// callProgram is a program and its run. While the loop lives, only the loop and goroutines for which it waits use what may change.
type callProgram struct {
	linger  time.Duration // of WithLinger; negative: none
	half    bool
	bodies  []callBody
	closes  bool       // the handler calls Close in its first ReadComplete
	handler []callStep // one for each call of the handler, while there are some

	s          *strictSocket
	next       int // the next element of handler
	ch         *tcp.Channel
	calls      coretest.Journal
	writes     []acceptedWrite
	written    int // bytes that were accepted
	futures    map[string][]*core.Future[struct{}]
	releases   []func()
	outputEnds bool  // by CloseOutput
	closed     bool  // Close was called, perhaps before the channel had handled an error
	userEnded  bool  // by Close, CloseGracefully or CloseOutput
	peerActed  bool  // ended or reset the connection
	refused    int64 // writes that the shutdown has refused
	wrong      []string
}

// acceptedWrite is a write that ends at an offset of the stream.
type acceptedWrite struct {
	to int
	tcp.WriteFuture
}

func (p *callProgram) fails(format string, args ...any) {
	p.wrong = append(p.wrong, fmt.Sprintf(format, args...))
}

// do makes a step. Loop only.
func (p *callProgram) do(s callStep) {
	if !s.elsewhere {
		p.call(s.what)
		return
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		p.call(s.what)
	}()
	<-over
}

func (p *callProgram) call(what string) {
	switch what {
	case "Write", "WriteAndFlush":
		p.write(what == "WriteAndFlush")
	case "Flush":
		p.s.flushed = max(p.s.flushed, p.written)
		p.ch.Flush()
	case "CloseOutput":
		p.userEnded, p.outputEnds, p.s.flushed = true, true, math.MaxInt
		p.futures[what] = append(p.futures[what], p.ch.CloseOutput())
	case "Close":
		p.userEnded, p.closed = true, true
		p.futures[what] = append(p.futures[what], p.ch.Close())
		if p.ch.IsOpen() || p.ch.IsWritable() {
			p.fails("the channel is open %v, writable %v after Close", p.ch.IsOpen(), p.ch.IsWritable())
		}
	case "CloseGracefully":
		p.userEnded, p.s.flushed = true, math.MaxInt
		p.futures[what] = append(p.futures[what], p.ch.CloseGracefully(time.Time{}))
		if p.ch.IsOpen() {
			p.fails("the channel is open after CloseGracefully")
		}
	case "ShutdownGracefully":
		p.s.flushed = math.MaxInt
		_, _ = p.ch.EventLoop().ShutdownGracefully(time.Minute, time.Hour) // the loop still runs the other bodies
	case "Hold":
		release, _ := p.ch.Hold()
		p.releases = append(p.releases, release)
	case "release":
		if len(p.releases) > 0 {
			p.releases[0]()
			p.releases = p.releases[1:]
		}
	case "2 ms pass":
		time.Sleep(2 * time.Millisecond)
	case "pause", "resume":
		p.ch.SetAutoRead(what == "resume")
	default:
		p.peer(what)
	}
}

// peer does what the peer or the kernel does.
func (p *callProgram) peer(what string) {
	switch s := p.s; what {
	case "the peer sends":
		if !s.ended {
			s.input += 3
			_ = s.d.Input()
		}
	case "the peer ends":
		p.peerActed, s.ended, s.flushed = true, true, math.MaxInt
		_ = s.d.Input()
		_ = s.d.HangUp()
	case "the peer resets", "the peer sends and resets":
		if what == "the peer sends and resets" && !s.ended {
			s.input += 3
		}
		p.peerActed, s.broken = true, true
		_ = s.d.Input()
		_ = s.d.HangUp()
		_ = s.d.Fault()
		_ = s.d.Room()
	case "full":
		s.full = true
	case "room":
		s.full = false
		_ = s.d.Room()
	default:
		s.unack = what == "unacknowledged"
	}
}

func (p *callProgram) write(flush bool) {
	b := []byte{byte(p.written), byte(p.written + 1), byte(p.written + 2)}
	write := p.ch.Write
	if flush {
		write = p.ch.WriteAndFlush
	}
	p.written += len(b) // before the call: WritabilityChanged may be called inside it, and write
	to, ended, outputEnds := p.written, p.userEnded, p.outputEnds
	if flush {
		p.s.flushed = max(p.s.flushed, to)
	}
	f := write(b)
	shutdown := p.ch.EventLoop().State() >= core.StateShuttingDown
	if accepted := f.Err() == nil; accepted && outputEnds || !accepted && !p.userEnded && !p.peerActed && !shutdown {
		p.fails("a write has the error %v, CloseOutput was called: %v, another end: %v", f.Err(), outputEnds, p.userEnded || p.peerActed || shutdown)
	}
	if f.Err() == nil {
		p.writes = append(p.writes, acceptedWrite{to, f})
		return
	}
	p.written -= len(b)
	if shutdown && !ended {
		p.refused++
	}
}

// event is a call of the handler.
func (p *callProgram) event(name string) {
	if p.calls.Add(name); name == "Error" && p.s.closes > 0 {
		p.fails("Error is called, and the socket is closed")
	}
	if name == "ReadComplete" && p.closes {
		p.closes = false
		p.call("Close")
	}
	if p.next < len(p.handler) {
		p.next++
		p.do(p.handler[p.next-1])
	}
}

func (p *callProgram) Active(*tcp.Channel)             {}
func (p *callProgram) Read(*tcp.Channel, []byte)       { p.event("Read") }
func (p *callProgram) ReadComplete(*tcp.Channel)       { p.event("ReadComplete") }
func (p *callProgram) WritabilityChanged(*tcp.Channel) { p.event("WritabilityChanged") }
func (p *callProgram) InputShutdown(*tcp.Channel)      { p.event("InputShutdown") }
func (p *callProgram) Error(*tcp.Channel, error)       { p.event("Error") }
func (p *callProgram) Inactive(*tcp.Channel)           { p.event("Inactive") }
func (p *callProgram) Unregistered(*tcp.Channel)       { p.event("Unregistered") }

// outcome reports whether f is complete, and returns its error.
func outcome(f *core.Future[struct{}]) (done bool, err error) {
	select {
	case <-f.Done():
		_, err = f.Wait(context.Background())
		return true, err
	default:
		return false, nil
	}
}

// run runs the program, then closes the channel and the loop, and returns what is wrong.
func (p *callProgram) run(t *testing.T) []string {
	m := pollertest.NewModel(nil)
	loop, err := core.NewEventLoop(core.WithPoller(m))
	coretest.Must(t, err)
	p.s, p.futures = &strictSocket{d: m.Open()}, map[string][]*core.Future[struct{}]{}
	opts := []tcp.Option{tcp.WithHalfClosure(p.half), tcp.WithReadBuffer(2), tcp.WithWriteSpin(3), tcp.WithWriteBufferWaterMarks(2, 4)}
	if p.linger >= 0 {
		opts = append(opts, tcp.WithLinger(p.linger))
	}
	p.ch, err = tcp.Embed(loop, p.s, p, opts...).Wait(t.Context())
	coretest.Must(t, err)
	for _, b := range p.bodies {
		coretest.OnLoop(t, loop, func() {
			for _, s := range b.steps {
				p.do(s)
			}
		})
		time.Sleep(b.pause)
		synctest.Wait()
		coretest.OnLoop(t, loop, func() {
			for _, f := range p.futures["CloseOutput"] {
				if done, _ := outcome(f); !done && p.s.shuts > 0 && p.linger <= 0 {
					p.fails("CloseOutput is pending, and the output has ended")
				}
			}
		})
	}
	time.Sleep(time.Second) // of the bubble: the loop has handled what the peer did
	synctest.Wait()
	coretest.OnLoop(t, loop, func() {
		if p.s.broken && p.s.closes == 0 {
			p.fails("the peer has reset the connection, and the channel is open")
		}
	})
	p.helpGracefulClose(t, loop)
	coretest.OnLoop(t, loop, func() { p.userEnded = true })
	closed := p.ch.Close()
	time.Sleep(time.Second)
	synctest.Wait()
	loop.Shutdown()
	report := coretest.AwaitDone(t, loop)
	p.futures["Close"] = append(p.futures["Close"], closed)
	if got := report.WritesRefused; !p.peerActed && got != p.refused {
		p.fails("G23: %d refused writes, want %d", got, p.refused)
	}
	_, graceful := outcome(p.ch.CloseGracefully(time.Time{}))
	if done, err := outcome(p.ch.CloseOutput()); !done || graceful == nil && err != nil {
		p.fails("CloseOutput behind the end: complete %v, %v; and CloseGracefully: %v", done, err, graceful)
	}
	p.check()
	return append(p.wrong, p.s.wrong...)
}

// helpGracefulClose removes all that a requested graceful close may wait for, and expects its end.
func (p *callProgram) helpGracefulClose(t *testing.T, loop *core.EventLoop) {
	var graceful []*core.Future[struct{}]
	coretest.OnLoop(t, loop, func() {
		if graceful = p.futures["CloseGracefully"]; len(graceful) == 0 {
			return
		}
		p.next = len(p.handler)
		for _, release := range p.releases {
			release()
		}
		for _, what := range []string{"room", "acknowledged", "the peer ends"} {
			p.peer(what)
		}
	})
	if len(graceful) == 0 {
		return
	}
	time.Sleep(time.Second)
	synctest.Wait()
	coretest.OnLoop(t, loop, func() {
		if done, _ := outcome(graceful[0]); !done {
			p.fails("G23: CloseGracefully is pending, and nothing holds it up")
		}
	})
}

// check compares the futures and the calls of the handler with what the socket got.
func (p *callProgram) check() {
	if p.s.closes != 1 || p.s.shuts > 1 {
		p.fails("%d calls of Close, %d of ShutdownWrite", p.s.closes, p.s.shuts)
	}
	for _, w := range p.writes {
		select {
		case <-w.Done():
			if (w.Err() == nil) != (w.to <= p.s.sent) {
				p.fails("%d bytes are sent, and the write up to %d has the error %v", p.s.sent, w.to, w.Err())
			}
		default:
			p.fails("the write up to %d is pending", w.to)
		}
	}
	all := p.s.sent == p.written && p.s.endRead
	for what, futures := range p.futures {
		for _, f := range futures {
			var closed *tcp.ClosedError
			done, err := outcome(f)
			switch {
			case !done:
				p.fails("%s is pending", what)
			case what == "Close" && err != nil:
				p.fails("Close: %v", err)
			case what == "CloseGracefully" && err == nil && !all:
				p.fails("CloseGracefully: no error, %d of %d bytes are sent, the peer has ended: %v", p.s.sent, p.written, p.s.endRead)
			case what == "CloseOutput" && err == nil && p.s.shuts == 0 && !all:
				p.fails("CloseOutput: no error, and the output has no end")
			case what == "CloseOutput" && err != nil && (!errors.As(err, &closed) || p.linger <= 0 && p.s.shuts > 0):
				p.fails("CloseOutput: %v, and %d ends of the output", err, p.s.shuts)
			}
		}
	}
	calls := p.calls.All()
	errs := 0
	for _, c := range calls {
		if c == "Error" {
			errs++
		}
	}
	if errs > 1 || p.s.refused && errs == 0 && !p.closed {
		p.fails("%d calls of Error, and the socket has refused bytes: %v", errs, p.s.refused)
	}
	if n := len(calls); n < 2 || calls[n-2] != "Inactive" || slices.Index(calls, "Unregistered") != n-1 {
		p.fails("the handler got %q, want Inactive and Unregistered once, and last", calls)
	}
}
