//go:build !linux

package process

import (
	"context"
	"net"
	"time"
)

// stopArrivals returns when unread has returned false, or at the end of ctx. Only Linux can
// filter new connections. On other systems the kernel may reset connections in the accept
// queue when the listener closes. There is nothing to resume.
func stopArrivals(ctx context.Context, _ []net.Listener, unread func() bool) (resume func()) {
	ticks := time.NewTicker(5 * time.Millisecond)
	for unread() {
		select {
		case <-ctx.Done():
			return func() {}
		case <-ticks.C:
		}
	}
	return func() {}
}

// inherit does nothing: no listener is filtered.
func inherit(net.Listener) {}

// received returns -1: how much has arrived on a connection is not known.
func received(net.Conn) int64 { return -1 }

// writtenTo returns -1, -1: how much of a connection its peer has acknowledged is not known.
func writtenTo(net.Conn) (acked, unacked int64) { return -1, -1 }

// untilClosed returns false: Accept is never stopped.
func untilClosed(net.Listener) bool { return false }
