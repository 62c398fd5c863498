package tcp_test

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"

	"pgregory.net/rapid"
)

// TestPropG22FirstError: an error in a body of the loop is the cause of the close, whatever calls the rest of the body or
// another goroutine makes after it. Error is called once, and not for a handler that has panicked. The futures
// fail with the error, which matches ErrChannelClosing only if a graceful close was requested.
func TestPropG22FirstError(t *testing.T) {
	coretest.CheckLeaks(t)
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		t.Fatal(err)
	}
	g := coretest.NewGroup(t, 1)
	rapid.Check(t, func(r *rapid.T) {
		f := newFirstError(t, r, g)
		defer f.p.peer.Close()
		coretest.OnLoop(t, f.p.ch.EventLoop(), func() {
			f.fail()
			for _, c := range f.calls {
				f.call(c)
			}
		})
		f.p.Await(t, 1, "Unregistered")
		f.judge(t, r)
		for _, release := range f.releases {
			release()
		}
	})
}

// errorCall is a call after the error.
type errorCall struct {
	name    string
	outside bool // on another goroutine
}

// firstError is a channel with an error, and the calls after the error.
type firstError struct {
	p        *pair
	panics   bool // the error is a panic of the handler; otherwise a send fails
	failing  atomic.Bool
	calls    []errorCall
	releases []func()
	writes   []tcp.WriteFuture // accepted writes

	graceful, output *core.Future[struct{}]
	closing          bool // a graceful close was requested
}

// newFirstError makes a channel in one of the states in which an error can occur.
func newFirstError(t *testing.T, r *rapid.T, g *core.Group) *firstError {
	f := &firstError{panics: rapid.Bool().Draw(r, "the handler panics")}
	opts := []tcp.Option{tcp.WithWriteBufferWaterMarks(1, 2), tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
		if op == "send" && f.failing.Load() {
			return n, syscall.EPIPE
		}
		return n, 0
	})}
	switch rapid.SampledFrom([]string{"", "0", "long"}).Draw(r, "linger") {
	case "0":
		opts = append(opts, tcp.WithLinger(0))
	case "long":
		opts = append(opts, tcp.WithLinger(coretest.HangGuard))
	}
	names := []string{"Close", "CloseGracefully", "CloseOutput", "Flush", "Write", "WriteAndFlush", "release", "release", "SetAutoRead", "FireGraceTimer"}
	for range rapid.IntRange(1, 5).Draw(r, "calls") {
		c := errorCall{rapid.SampledFrom(names).Draw(r, "call"), rapid.Bool().Draw(r, "outside")}
		c.outside = c.outside && c.name != "FireGraceTimer"
		f.calls = append(f.calls, c)
	}
	holds := rapid.IntRange(0, 2).Draw(r, "holds")
	state := rapid.SampledFrom([]string{"open", "the peer has ended", "graceful"}).Draw(r, "state")
	f.p = newPairOn(t, g, func(at string, _ *tcp.Channel, _ []byte) {
		if at == "WritabilityChanged" && f.panics {
			panic("a handler of the test")
		}
	}, opts...)
	for range holds {
		release, err := f.p.ch.Hold()
		coretest.Must(t, err)
		f.releases = append(f.releases, release)
	}
	if holds == 0 { // without a hold, the other states close the channel
		return f
	}
	switch state {
	case "the peer has ended":
		coretest.Must(t, f.p.peer.CloseWrite())
		coretest.Until(t, "the end of the stream to be seen", func() (ended bool) {
			coretest.OnLoop(t, f.p.ch.EventLoop(), func() { ended = f.p.ch.InputEnded() })
			return ended
		})
	case "graceful":
		f.graceful, f.closing = f.p.ch.CloseGracefully(time.Now().Add(time.Hour)), true
		coretest.OnLoop(t, g, func() {})
	}
	return f
}

// fail makes the error. Loop only.
func (f *firstError) fail() {
	f.failing.Store(!f.panics)
	defer func() { _ = recover() }()
	f.writes = append(f.writes, f.p.ch.Write([]byte("x")))
	if f.panics {
		f.writes = append(f.writes, f.p.ch.Write([]byte("many"))) // more than the high mark: the channel calls WritabilityChanged
		return
	}
	f.writes = append(f.writes, f.p.ch.WriteAndFlush([]byte("y")))
}

// call makes one call. Loop only.
func (f *firstError) call(c errorCall) {
	ch := f.p.ch
	do := map[string]func(){
		"Close": func() { ch.Close() },
		"CloseGracefully": func() {
			f.graceful, f.closing = ch.CloseGracefully(time.Now().Add(-time.Hour)), true
		},
		"CloseOutput":    func() { f.output = ch.CloseOutput() },
		"Flush":          func() { f.accept(ch.Flush()) },
		"Write":          func() { f.accept(ch.Write([]byte("z"))) },
		"WriteAndFlush":  func() { f.accept(ch.WriteAndFlush([]byte("z"))) },
		"FireGraceTimer": ch.FireGraceTimer,
		"SetAutoRead":    func() { ch.SetAutoRead(false); ch.SetAutoRead(true) },
		"release": func() {
			if len(f.releases) > 0 {
				f.releases[0]()
				f.releases = f.releases[1:]
			}
		},
	}[c.name]
	if !c.outside {
		do()
		return
	}
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	<-done
}

func (f *firstError) accept(w tcp.WriteFuture) {
	if w.Err() == nil {
		f.writes = append(f.writes, w)
	}
}

func (f *firstError) String() string {
	return fmt.Sprintf("the handler panics: %v; the calls: %v", f.panics, f.calls)
}

// judge checks the end of the channel.
func (f *firstError) judge(t *testing.T, r *rapid.T) {
	cause, errs := error(syscall.EPIPE), 1
	if f.panics {
		cause, errs = tcp.ErrHandlerFailed, 0
	}
	if got := f.p.ch.CloseCause(); !errors.Is(got, cause) {
		r.Fatalf("G22: the cause is %v, want %v: %v", got, cause, f)
	}
	called := 0
	for _, at := range f.p.All() {
		if at == "Error" {
			called++
		}
	}
	if called != errs {
		r.Fatalf("G22: %d calls of Error, want %d: %v", called, errs, f)
	}
	for i, w := range f.writes {
		err := awaitWrite(t, w)
		if !errors.Is(err, tcp.ErrChannelClosed) || !errors.Is(err, cause) || errors.Is(err, tcp.ErrChannelClosing) != f.closing {
			r.Fatalf("G22: write %d fails with %v, want the cause, and ErrChannelClosing: %v; %v", i, err, f.closing, f)
		}
	}
	if f.graceful != nil {
		if err := coretest.AwaitErr(t, "CloseGracefully", f.graceful); !errors.Is(err, cause) {
			r.Fatalf("G22: CloseGracefully fails with %v, want %v: %v", err, cause, f)
		}
	}
	if f.output != nil {
		if err := coretest.AwaitErr(t, "CloseOutput", f.output); !errors.Is(err, tcp.ErrChannelClosed) || !errors.Is(err, cause) {
			r.Fatalf("G22: CloseOutput fails with %v, want %v: %v", err, cause, f)
		}
	}
	if got, err := io.ReadAll(f.p.peer); len(got) > 0 {
		r.Fatalf("G22: the peer got %q, %v, want nothing after the error: %v", got, err, f)
	}
}
