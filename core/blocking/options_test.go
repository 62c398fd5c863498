package blocking_test

import (
	"fmt"
	"io"
	"math"
	"net"
	"testing"

	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// TestOptionsBeyondBounds: for a bad value the call returns an error that names the call and the
// expected value, and leaves the connection or the listener open.
func TestOptionsBeyondBounds(t *testing.T) {
	for _, row := range []struct {
		name string
		opt  blocking.Option
		want string
	}{
		{"read buffer 0", blocking.WithReadBuffer(0), "WithReadBuffer: size is 0, want 1 to 1073741824"},
		{"read buffer + 1", blocking.WithReadBuffer(blocking.MaxReadBuffer + 1), "WithReadBuffer: size is 1073741825, want 1 to 1073741824"},
		{"read buffer of no slice", blocking.WithReadBuffer(math.MaxInt), fmt.Sprintf("WithReadBuffer: size is %d, want 1 to 1073741824", math.MaxInt)},
		{"handshake timeout 0", blocking.WithHandshakeTimeout(0), "WithHandshakeTimeout: d is 0s, want more than 0"},
		{"close timeout negative", blocking.WithCloseTimeout(-1), "WithCloseTimeout: d is -1ns, want 0 or more"},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := newGroup(t, 1)
			ours, theirs := tcpPair(t)
			defer func() { _ = ours.Close() }()
			ch, err := g.Register(ours, echo(), row.opt)
			coretest.WantText(t, "Register", err, "blocking: "+row.want)
			coretest.Want(t, "Register", ch, nil)
			_, err = theirs.Write([]byte("x"))
			coretest.Must(t, err)
			_, err = io.ReadFull(ours, make([]byte, 1))
			coretest.WantErr(t, "the connection, which was to be left alone", err, nil)

			ln, err := net.Listen("tcp", "127.0.0.1:0")
			coretest.Must(t, err)
			err = g.Serve(ln, func() blocking.Handler { return echo() }, row.opt)
			coretest.WantText(t, "Serve", err, "blocking: "+row.want)
			coretest.WantErr(t, "the listener, which was to be left open", ln.Close(), nil)
			coretest.Want(t, "channels", g.Stats().Channels, 0)
		})
	}
}

// TestHugeOptions: the greatest times are as good as any, in a handshake and in a close
// that waits for a peer.
func TestHugeOptions(t *testing.T) {
	for _, tr := range transports {
		t.Run(tr.name, func(t *testing.T) {
			g := newGroup(t, 1)
			ours, theirs := tr.pair(t)
			ch := mustRegister(t, g, ours, echo(),
				blocking.WithHandshakeTimeout(math.MaxInt64), blocking.WithCloseTimeout(math.MaxInt64))
			_, err := theirs.Write([]byte("hello"))
			coretest.Must(t, err)
			got := make([]byte, 5)
			_, err = io.ReadFull(theirs, got)
			coretest.Must(t, err)
			coretest.Want(t, "echo", string(got), "hello")

			sent := make([]byte, 8<<20)
			write := ch.WriteAndFlush(sent)
			end := ch.Close()
			n, err := io.Copy(io.Discard, theirs)
			coretest.Must(t, err)
			coretest.Want(t, "bytes received", n, int64(len(sent)))
			coretest.Await(t, "the close", end.Done())
			coretest.Await(t, "the write", write.Done())
			coretest.Must(t, write.Err())
		})
	}
}
