package blocking_test

import (
	"errors"
	"net"
	"runtime"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// goexits is a connection whose first Close closes it and ends its goroutine.
type goexits struct {
	net.Conn
	closes int
}

func (g *goexits) Close() error {
	g.closes++
	first := g.closes == 1 // read before the close, which lets the executor call Close too
	err := g.Conn.Close()
	if first {
		runtime.Goexit()
	}
	return err
}

// G14: a Close of the connection that ends its goroutine, where the channel is cut while the
// executor is blocked in a write, does not keep the channel from its end.
func TestG14CutEndsItsGoroutine(t *testing.T) {
	for name, end := range map[string]struct {
		begin func(*blocking.Group, *blocking.Channel)
		want  error
	}{
		"Close":           {func(_ *blocking.Group, ch *blocking.Channel) { ch.Close() }, blocking.ErrCloseDeadline},
		"CloseGracefully": {func(_ *blocking.Group, ch *blocking.Channel) { ch.CloseGracefully(time.Unix(1, 0)) }, blocking.ErrCloseDeadline},
		"Shutdown":        {func(g *blocking.Group, _ *blocking.Channel) { g.Shutdown() }, core.ErrShutdown},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(t, 0)
			ours, theirs := net.Pipe()
			closeAtEnd(t, theirs)
			ch := mustRegister(t, g, &goexits{Conn: ours}, &handler{}, blocking.WithCloseTimeout(0))
			w := ch.WriteAndFlush([]byte("two"))
			if _, err := theirs.Read(make([]byte, 1)); err != nil { // the write has begun, and does not end
				t.Fatal(err)
			}
			end.begin(g, ch)
			coretest.Await(t, "G14: the write", w.Done())
			if cause := ch.CloseCause(); !errors.Is(cause, end.want) {
				t.Errorf("the cause is %v, want %v", cause, end.want)
			}
		})
	}
}
