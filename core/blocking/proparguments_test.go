package blocking_test

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"net"
	"strings"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/blocking"

	"pgregory.net/rapid"
)

func init() {
	// A mechanical mutant must not be found by what another one has left behind.
	for name, value := range map[string]string{"rapid.nofailfile": "true", "rapid.shrinktime": "3s", "rapid.checks": "300"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
}

// drawnOptions are options, and the error of the first bad one: "" if there is none.
type drawnOptions struct {
	opts    []blocking.Option
	wantErr string
	buffer  int // the read buffer of the last WithReadBuffer
}

func (d *drawnOptions) add(opt blocking.Option, good bool, wantErr string) {
	d.opts = append(d.opts, opt)
	if !good && d.wantErr == "" {
		d.wantErr = "blocking: " + wantErr
	}
}

// drawOptions draws options with values at and beside their documented bounds. Sizes are at most
// largest, or too large.
func drawOptions(t *rapid.T, largest int) *drawnOptions {
	d := &drawnOptions{buffer: blocking.DefaultReadBuffer}
	times := rapid.SampledFrom([]time.Duration{-1, 0, 1, time.Hour, math.MinInt64, math.MaxInt64})
	for range rapid.IntRange(0, 3).Draw(t, "options") {
		switch rapid.SampledFrom([]string{"nil", "buffer", "buffer", "handshake", "close", "half", "logger"}).Draw(t, "option") {
		case "nil":
			d.add(nil, true, "")
		case "buffer":
			n := rapid.SampledFrom([]int{-1, 0, 1, 2, largest - 1, largest, 1<<30 + 1, math.MinInt, math.MaxInt}).Draw(t, "size")
			d.add(blocking.WithReadBuffer(n), 1 <= n && n <= 1<<30, fmt.Sprintf("WithReadBuffer: size is %d, want 1 to 1073741824", n))
			d.buffer = n
		case "handshake":
			v := times.Draw(t, "d")
			d.add(blocking.WithHandshakeTimeout(v), v > 0, fmt.Sprintf("WithHandshakeTimeout: d is %v, want more than 0", v))
		case "close":
			v := times.Draw(t, "d")
			d.add(blocking.WithCloseTimeout(v), v >= 0, fmt.Sprintf("WithCloseTimeout: d is %v, want 0 or more", v))
		case "half":
			d.add(blocking.WithHalfClosure(rapid.Bool().Draw(t, "on")), true, "")
		case "logger":
			d.add(blocking.WithLogger(nil), true, "")
		}
	}
	return d
}

// wantArgument compares the error of a call. It reports whether the call was to fail.
func wantArgument(t *rapid.T, call string, err error, want string) (fails bool) {
	got := ""
	if err != nil {
		got = err.Error()
	}
	if got != want || errors.Is(err, core.ErrRejected) {
		t.Fatalf("%s: got %q, want %q, which is no refusal", call, got, want)
	}
	return want != ""
}

// drawGroup returns a group that NewGroup has made of good arguments, or nil after bad ones.
func drawGroup(t *rapid.T) *blocking.Group {
	most := rapid.SampledFrom([]int{0, 1, 2, math.MaxInt, -1, math.MinInt}).Draw(t, "maxChannels")
	option := rapid.SampledFrom([]struct {
		opt  core.Option
		name string // of a bad one
	}{{nil, ""}, {core.WithName("a"), ""}, {core.WithName(""), "WithName"}, {core.WithPoller(core.NewParkPoller(nil)), "WithPoller"}}).Draw(t, "option")
	g, err := blocking.NewGroup(most, option.opt)
	switch {
	case most < 0:
		wantArgument(t, "NewGroup", err, fmt.Sprintf("blocking: NewGroup: maxChannels is %d, want 0 or more", most))
	case option.name != "":
		if err == nil || !strings.HasPrefix(err.Error(), "blocking: NewGroup: ") || !strings.Contains(err.Error(), option.name) {
			t.Fatalf("NewGroup: %v, want an error that names %s", err, option.name)
		}
	default:
		wantArgument(t, "NewGroup", err, "")
		return g
	}
	if g != nil {
		t.Fatalf("NewGroup: got a group and the error %v", err)
	}
	return nil
}

// brokenListener is a listener whose Accept fails.
type brokenListener struct {
	net.Listener
	closed bool
}

var errAccept = errors.New("accept of a test")

func (b *brokenListener) Accept() (net.Conn, error) { return nil, errAccept }
func (b *brokenListener) Close() error              { b.closed = true; return nil }

// serves calls Serve. A listener that is given with bad arguments stays open.
func serves(t *rapid.T, g *blocking.Group) {
	d, l := drawOptions(t, 1<<30), &brokenListener{}
	ln, newHandler, want := net.Listener(l), newEcho, d.wantErr
	if rapid.Bool().Draw(t, "without a function") {
		newHandler, want = nil, "blocking: Serve: newHandler is nil, want a function"
	}
	if rapid.IntRange(0, 3).Draw(t, "without a listener") == 0 {
		ln, want = nil, "blocking: Serve: ln is nil, want a listener"
	}
	err := g.Serve(ln, newHandler, d.opts...)
	if want == "" {
		want = errAccept.Error()
	}
	wantArgument(t, "Serve", err, want)
	if l.closed != (err == errAccept) {
		t.Fatalf("Serve: %v, and the listener is closed: %v", err, l.closed)
	}
}

// registers calls Register. A connection that is given with bad arguments stays open; a good one is
// read with the buffer of the options.
func registers(t *rapid.T, g *blocking.Group) {
	const sent = "12345678"
	d := drawOptions(t, len(sent))
	ours, theirs := net.Pipe()
	defer func() { _, _ = ours.Close(), theirs.Close() }()
	conn, want, read := ours, d.wantErr, make(chan int, len(sent))
	h := blocking.Handler(&handler{read: func(_ *blocking.Channel, p []byte) { read <- len(p) }})
	if rapid.IntRange(0, 3).Draw(t, "without a handler") == 0 {
		h, want = nil, "blocking: Register: h is nil, want a Handler"
	}
	if rapid.IntRange(0, 3).Draw(t, "without a connection") == 0 {
		conn, want = nil, "blocking: Register: conn is nil, want a connection"
	}
	ch, err := g.Register(conn, h, d.opts...)
	if wantArgument(t, "Register", err, want) {
		if s := g.Stats(); ch != nil || s.Channels != 0 || s.Executors != 0 || ours.SetDeadline(time.Time{}) != nil {
			t.Fatalf("Register: %v, the channel %v, %+v; want an open connection and nothing else", err, ch, s)
		}
		return
	}
	if _, err := theirs.Write([]byte(sent)); err != nil {
		t.Fatal(err)
	}
	if n := <-read; n != min(d.buffer, len(sent)) {
		t.Fatalf("the first Read of a buffer of %d bytes got %d of %d", d.buffer, n, len(sent))
	}
}

// shuts calls ShutdownGracefully of a group, which is open after bad arguments.
func shuts(t *rapid.T, g *blocking.Group) {
	values := rapid.SampledFrom([]time.Duration{-1, 0, 1, 2, math.MinInt64, math.MaxInt64})
	quiet, timeout, before := values.Draw(t, "quiet"), values.Draw(t, "timeout"), g.State()
	want := ""
	switch {
	case quiet < 0:
		want = fmt.Sprintf("blocking: ShutdownGracefully: quiet is %v, want 0 or more", quiet)
	case timeout < quiet:
		want = fmt.Sprintf("blocking: ShutdownGracefully: timeout is %v, want at least quiet, which is %v", timeout, quiet)
	}
	term, err := g.ShutdownGracefully(quiet, timeout)
	if fails := wantArgument(t, "G16: ShutdownGracefully", err, want); fails != (term == nil) || fails && g.State() != before {
		t.Fatalf("G16: ShutdownGracefully: %v, %v, state %v, before %v", term, err, g.State(), before)
	}
}

// TestPropArguments: each call fails exactly for the values that its doc comment excludes, with an
// error that names the first bad argument, its value and what is expected, and then has no effect.
func TestPropArguments(t *testing.T) {
	for name, call := range map[string]func(*rapid.T, *blocking.Group){"Serve": serves, "Register": registers, "ShutdownGracefully": shuts} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				if g := drawGroup(t); g != nil {
					defer func() { <-g.Shutdown().Done() }()
					call(t, g)
				}
			})
		})
	}
}
