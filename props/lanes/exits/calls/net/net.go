// Package net has what systemd.go of core/process uses of the package of this name: datagrams to a
// service manager, which are recorded, and listeners that the process was started with.
package net

import (
	"errors"
	"net"
	"sync"
	"syscall"
	"time"

	"eventide/props/lanes/exits/calls/os"
)

// Types of package net.
type (
	Listener = net.Listener
	UnixAddr = net.UnixAddr
)

// Datagram is what a service manager has got.
type Datagram struct {
	To   string
	Text string
	At   time.Time
}

var (
	mu    sync.Mutex
	sent  []Datagram
	fails bool
	unset bool
	heard func(Datagram)
	open  int

	listeners int // that FileListener has returned and nobody has closed
)

// Use begins a program, and returns a function that returns the datagrams so far. Each of them is
// passed to hear, when it is sent. If broken is set, no manager listens, or, with noDeadlines, a socket
// has no deadlines.
func Use(broken, noDeadlines bool, hear func(Datagram)) (got func() []Datagram) {
	mu.Lock()
	defer mu.Unlock()
	sent, fails, unset, heard, open, listeners = nil, broken, noDeadlines, hear, 0, 0
	return func() []Datagram {
		mu.Lock()
		defer mu.Unlock()
		return append([]Datagram(nil), sent...)
	}
}

// Open returns how many sockets are open.
func Open() int {
	mu.Lock()
	defer mu.Unlock()
	return open
}

// UnixConn is a socket for datagrams.
type UnixConn struct {
	to       string
	deadline time.Time
}

var errNobody = errors.New("connection refused")

// DialUnix is net.DialUnix of a unixgram socket.
func DialUnix(network string, _, to *UnixAddr) (*UnixConn, error) {
	mu.Lock()
	defer mu.Unlock()
	if fails && !unset || network != "unixgram" || to.Net != "unixgram" {
		return nil, errNobody
	}
	open++
	return &UnixConn{to: to.Name}, nil
}

// SetWriteDeadline is net.UnixConn's.
func (c *UnixConn) SetWriteDeadline(at time.Time) error {
	mu.Lock()
	defer mu.Unlock()
	if fails && unset {
		return errNobody
	}
	c.deadline = at
	return nil
}

// Write is net.UnixConn's. Without a deadline in the future it fails: the caller could wait for ever.
func (c *UnixConn) Write(p []byte) (int, error) {
	mu.Lock()
	defer mu.Unlock()
	if !c.deadline.After(time.Now()) {
		return 0, errors.New("a write without a deadline in the future")
	}
	d := Datagram{c.to, string(p), time.Now()}
	sent = append(sent, d)
	heard(d)
	return len(p), nil
}

// Close is net.UnixConn's.
func (c *UnixConn) Close() error {
	mu.Lock()
	defer mu.Unlock()
	open--
	return nil
}

// FileListener is net.FileListener.
func FileListener(f *os.File) (Listener, error) {
	if !f.Open {
		return nil, syscall.EBADF
	}
	if !f.Listens {
		return nil, errors.New("not a listening socket")
	}
	mu.Lock()
	defer mu.Unlock()
	listeners++
	return &Inherited{FD: f.FD}, nil
}

// OpenListeners returns how many listeners that FileListener has returned are open.
func OpenListeners() int {
	mu.Lock()
	defer mu.Unlock()
	return listeners
}

// Inherited is a listener that the process was started with.
type Inherited struct {
	net.Listener
	FD int
}

// Close is net.Listener's.
func (l *Inherited) Close() error {
	mu.Lock()
	defer mu.Unlock()
	listeners--
	return nil
}
