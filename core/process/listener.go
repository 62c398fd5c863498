package process

import (
	"errors"
	"fmt"
	"net"
	"syscall"
)

// Listener is a listener that the service manager passed to the process. Name is its
// FileDescriptorName= in the unit. A program that was started without a service manager may
// wrap a listener of its own. HTTP treats each like the net.Listener in it.
type Listener struct {
	Name string
	net.Listener
}

// Accept implements net.Listener. Once the step HTTP has begun to end the server of a listener
// that the service manager passed, Accept accepts nothing and returns when the listener is
// closed: the next process accepts the connections that arrive now.
func (l Listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil && untilClosed(l) {
		return l.Listener.Accept()
	}
	return c, err
}

// SyscallConn implements syscall.Conn, so that HTTP finds the socket. It returns the raw connection of
// the net.Listener, or an error that wraps errors.ErrUnsupported if that has none.
func (l Listener) SyscallConn() (syscall.RawConn, error) {
	c, ok := l.Listener.(syscall.Conn)
	if !ok {
		return nil, fmt.Errorf("process: Listener %q: a %T has no SyscallConn: %w", l.Name, l.Listener, errors.ErrUnsupported)
	}
	return c.SyscallConn()
}
