package tcp_test

import (
	"context"
	"flag"
	"fmt"
	"net"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"

	"pgregory.net/rapid"
)

// TestPropDialsWithAnEndedContext: a dial whose context has ended before connects to nobody, and its error or its future has the
// cause: the future of DialAsync too, or a caller would wait for ever (G9).
func TestPropDialsWithAnEndedContext(t *testing.T) {
	coretest.CheckLeaks(t)
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		t.Fatal(err)
	}
	g := coretest.NewGroup(t, 1)
	l, err := listenForPeers()
	coretest.Must(t, err)
	defer l.Close()
	rapid.Check(t, func(r *rapid.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errEnough)
		addr, h, sockets := l.Addr().String(), &recorder{}, 0
		hook := tcp.WithSocketHook(func(int) error { sockets++; return nil })
		call := rapid.SampledFrom([]string{"Dial", "DialOn", "DialAsync"}).Draw(r, "call")
		if rapid.Bool().Draw(r, "a name") {
			addr = fmt.Sprintf("localhost:%d", l.Addr().(*net.TCPAddr).Port)
		}
		var ch *tcp.Channel
		var err error
		switch call {
		case "Dial":
			ch, err = tcp.Dial(ctx, g, addr, h, hook)
		case "DialOn":
			ch, err = tcp.DialOn(ctx, g.Next().(*core.EventLoop), addr, h, hook)
		default:
			f := tcp.DialAsync(ctx, g, addr, h, hook)
			err = coretest.AwaitErr(t, "the future of DialAsync", f)
		}
		coretest.WantErr(t, call+" of "+addr, err, errEnough)
		if ch != nil || sockets != 0 || h.String() != "" {
			r.Fatalf("%s of %s: channel %v, %d sockets, calls of the handler %q, want none", call, addr, ch, sockets, h.String())
		}
	})
}
