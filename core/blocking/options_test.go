package blocking_test

import (
	"fmt"
	"io"
	"math"
	"net"
	"testing"

	"eventide/core/blocking"

	"github.com/stretchr/testify/require"
)

// TestOptionsBeyondBounds: a bad value is an error of the call, which names it and what
// was expected, and leaves the connection or the listener open.
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
			require.EqualError(t, err, "blocking: "+row.want, "Register")
			require.Nil(t, ch)
			_, err = theirs.Write([]byte("x"))
			require.NoError(t, err)
			_, err = io.ReadFull(ours, make([]byte, 1))
			require.NoError(t, err, "the connection was not left alone")

			ln, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			err = g.Serve(ln, func() blocking.Handler { return echo() }, row.opt)
			require.EqualError(t, err, "blocking: "+row.want, "Serve")
			require.NoError(t, ln.Close(), "the listener was not left open")
			require.Zero(t, g.Stats().Channels)
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
			require.NoError(t, err)
			got := make([]byte, 5)
			_, err = io.ReadFull(theirs, got)
			require.NoError(t, err)
			require.Equal(t, "hello", string(got))

			sent := make([]byte, 8<<20)
			write := ch.WriteAndFlush(sent)
			end := ch.Close()
			n, err := io.Copy(io.Discard, theirs)
			require.NoError(t, err)
			require.EqualValues(t, len(sent), n)
			await(t, "the close", end.Done())
			await(t, "the write", write.Done())
			require.NoError(t, write.Err())
		})
	}
}
