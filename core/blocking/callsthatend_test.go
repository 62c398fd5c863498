package blocking_test

import (
	"net"
	"runtime"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// exitingConn is a connection whose SetDeadline does not return.
type exitingConn struct {
	net.Conn
	end func()
}

func (c exitingConn) SetDeadline(time.Time) error {
	c.end()
	return nil
}

// TestARegisterThatDoesNotReturnIsNotCounted: a method of the connection panics or calls Goexit inside Register, or the spawner calls
// Goexit. The group has room for one channel, and takes the next connection, on the executor that did not start.
func TestARegisterThatDoesNotReturnIsNotCounted(t *testing.T) {
	panics := func() { panic("of a connection") }
	for name, ends := range map[string]struct{ conn, spawner func() }{
		"panic of the connection": {conn: panics}, "Goexit of the connection": {conn: runtime.Goexit}, "Goexit of the spawner": {spawner: runtime.Goexit},
	} {
		coretest.InNamedBubble(t, name, func(t *testing.T) {
			starts := 0
			g, err := blocking.NewGroup(1, core.WithSpawner(func(loop func()) error {
				if end := ends.spawner; end != nil {
					ends.spawner = nil
					end()
				}
				starts++
				go loop()
				return nil
			}))
			coretest.EndWithTest(t, g, err)
			ours, peer := net.Pipe()
			defer peer.Close()
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				defer func() { _ = recover() }()
				conn := net.Conn(ours)
				if ends.conn != nil {
					conn = exitingConn{ours, ends.conn}
				}
				_, _ = g.Register(conn, blocking.HandlerBase{})
			}()
			<-ended
			coretest.Want(t, "channels of the group after a Register that did not return", g.Stats().Channels, 0)
			mustRegister(t, g, ours, blocking.HandlerBase{})
			coretest.Want(t, "started executors", starts, 1)
			coretest.Want(t, "executors of the group", g.Stats().Executors, 1)
		})
	}
}
