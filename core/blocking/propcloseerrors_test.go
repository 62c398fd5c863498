package blocking_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"pgregory.net/rapid"
)

// closeFails is a connection whose Close closes it, and returns an error.
type closeFails struct {
	net.Conn
	err error
}

func (c closeFails) Close() error {
	_ = c.Conn.Close()
	return c.err
}

// A close fails with the error of the connection (R213), unless the error says that the
// connection was closed already, or the close has a cause of its own. The channel is closed
// nevertheless.
func TestPropErrorsOfAClose(t *testing.T) {
	failed := errors.New("planted")
	g := newGroup(t, 0)
	rapid.Check(t, func(t *rapid.T) {
		err := rapid.SampledFrom([]error{nil, failed, net.ErrClosed, io.ErrClosedPipe}).Draw(t, "the error of Close")
		want := err
		if err == net.ErrClosed || err == io.ErrClosedPipe {
			want = nil
		}
		if err != nil && rapid.Bool().Draw(t, "wrapped") {
			err = fmt.Errorf("close: %w", err)
			if want != nil {
				want = err
			}
		}
		ours, theirs := net.Pipe()
		ch, wrong := g.Register(closeFails{ours, err}, &handler{})
		if wrong != nil {
			t.Fatal(wrong)
		}
		if rapid.Bool().Draw(t, "the peer closes first") {
			_ = theirs.Close()
			<-ch.CloseFuture().Done()
			want = nil // the cause is the end
		}
		_, got := ch.Close().Wait(context.Background())
		if got != want {
			t.Errorf("R213: Close of a connection whose Close returns %v: %v, want %v", err, got, want)
		}
		if _, err := ours.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("the connection is open after Close: %v", err)
		}
		_ = theirs.Close()
	})
}
