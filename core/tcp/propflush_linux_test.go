package tcp_test

import (
	"io"
	"testing"

	"eventide/core/internal/coretest"
	"eventide/core/tcp"

	"pgregory.net/rapid"
)

// TestPropFlush: a flush on the loop has sent each byte that was written before it when it returns, whatever other
// goroutines have flushed meanwhile. A flush of another goroutine sends after the body of the loop, and no byte that was
// written behind it.
func TestPropFlush(t *testing.T) {
	checkOnPair(t, func(r *rapid.T, p *pair) {
		f := &flushes{r: r, ch: p.ch}
		for range rapid.IntRange(1, 4).Draw(r, "bodies") {
			f.body(t)
		}
		coretest.OnLoop(t, p.ch.EventLoop(), func() { p.ch.Flush() })
		got := make([]byte, f.written)
		if _, err := io.ReadFull(p.peer, got); err != nil {
			r.Fatalf("the peer did not get the %d bytes that were written: %v", f.written, err)
		}
		for i, b := range got {
			if b != byte(i) {
				r.Fatalf("byte %d is that of number %d of 256, want %d: the order is another", i, b, byte(i))
			}
		}
	})
}

// flushes are calls of Write and Flush on the loop and on another goroutine, one after the other. They are of few bytes,
// for which the kernel has room.
type flushes struct {
	r  *rapid.T
	ch *tcp.Channel

	written int // bytes of all writes
	flushed int // bytes that a flush covers, sent or due
	sent    int // bytes that the kernel has taken while the loop is in a body
}

// body calls while the loop is in a body, and then awaits the flushes that are due.
func (f *flushes) body(t *testing.T) {
	due := tcp.WriteFuture{}
	var wrong string
	calls := rapid.SliceOfN(rapid.Custom(drawFlush), 1, 8).Draw(f.r, "calls")
	coretest.OnLoop(t, f.ch.EventLoop(), func() {
		for _, c := range calls {
			if last, ok := f.call(c); ok {
				due = last
			}
			if got, want := f.ch.PendingBytes(), int64(f.written-f.sent); got != want && wrong == "" {
				wrong = c.String()
				f.r.Errorf("%d bytes are pending after %v in %v, want %d", got, c, calls, want)
			}
		}
	})
	if wrong != "" {
		f.r.FailNow()
	}
	if f.sent < f.flushed {
		coretest.WantErr(t, "a flush of another goroutine", awaitWrite(t, due), nil)
		f.sent = f.flushed
	}
	if got, want := f.ch.PendingBytes(), int64(f.written-f.sent); got != want {
		f.r.Fatalf("%d bytes are pending after the flushes of %v, want %d", got, calls, want)
	}
}

// flushCall is a call of Write if it has bytes, of Flush if it flushes, of WriteAndFlush if both.
type flushCall struct {
	bytes   int
	flushes bool
	outside bool // on another goroutine
}

func drawFlush(t *rapid.T) flushCall {
	c := flushCall{bytes: rapid.IntRange(0, 3).Draw(t, "bytes"), outside: rapid.Bool().Draw(t, "outside")}
	c.flushes = c.bytes == 0 || rapid.Bool().Draw(t, "flushes")
	return c
}

func (c flushCall) String() string {
	name := map[bool]string{true: "WriteAndFlush", false: "Write"}[c.flushes]
	if c.bytes == 0 {
		name = "Flush"
	}
	if c.outside {
		name += " elsewhere"
	}
	return name
}

// call makes a call. It returns the future of a flush on another goroutine.
func (f *flushes) call(c flushCall) (due tcp.WriteFuture, ok bool) {
	p := make([]byte, c.bytes)
	for i := range p {
		p[i] = byte(f.written + i)
	}
	do := func() {
		switch {
		case c.bytes == 0:
			due = f.ch.Flush()
		case c.flushes:
			due = f.ch.WriteAndFlush(p)
		default:
			f.ch.Write(p)
		}
	}
	if f.written += c.bytes; c.flushes {
		f.flushed = f.written
	}
	if !c.outside {
		do()
		if c.flushes {
			f.sent = f.written
		}
		return due, false
	}
	done := make(chan struct{})
	go func() { do(); close(done) }()
	<-done
	return due, c.flushes
}
