package blocking_test

import (
	"errors"
	"net"
	"testing"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// cannotEnd is a connection whose CloseWrite panics.
type cannotEnd struct{ net.Conn }

func (cannotEnd) CloseWrite() error { panic("planted") }

// G14: a panic in the CloseWrite of a drain is an error of the connection: Handler.Error gets it, and the channel ends with it. It
// is no panic of the executor.
func TestG14CloseWritePanics(t *testing.T) {
	g := newGroup(t, 0)
	ours, theirs := net.Pipe()
	closeAtEnd(t, theirs)
	var got error
	ch := mustRegister(t, g, cannotEnd{ours}, &handler{failed: func(_ *blocking.Channel, err error) { got = err }})
	coretest.MustShutdownGracefully(t, g, 0, long)
	report := coretest.AwaitDone(t, g)
	var p *core.PanicError
	if cause := ch.CloseCause(); !errors.As(cause, &p) || p.Value != "planted" {
		t.Errorf("G14: the cause is %v, want the panic", cause)
	}
	if !errors.As(got, &p) {
		t.Errorf("G14: Handler.Error got %v, want the panic", got)
	}
	if report.Panicked != 0 || report.ChannelsAborted != 1 {
		t.Errorf("G14: report %+v, want 1 aborted and no panic of the executor", report)
	}
}
