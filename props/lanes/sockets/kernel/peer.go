//go:build linux

package kernel

import (
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"
)

// Peer is a socket of another process on the same machine. Its methods wait, as those of
// package net do, until Close is called.
type Peer struct {
	k *Kernel
	s *socket

	// Guarded by k.mu.
	over bool // Close was called
}

// NewPeer returns a socket that is not connected. A buffer size of 0 is the kernel's default.
func (k *Kernel) NewPeer(sendBuffer, recvBuffer int) *Peer {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.newSocket(unix.AF_INET, false)
	if sendBuffer > 0 {
		s.sendBuffer = sendBuffer
	}
	if recvBuffer > 0 {
		s.recvBuffer = recvBuffer
	}
	return &Peer{k: k, s: s}
}

// Local returns the address of the peer's end.
func (p *Peer) Local() netip.AddrPort {
	p.k.mu.Lock()
	defer p.k.mu.Unlock()
	return p.s.local
}

// until calls try with mu held until it returns true, after each wake-up of the socket.
func (p *Peer) until(try func() bool) syscall.Errno {
	for {
		p.k.mu.Lock()
		if p.over {
			p.k.mu.Unlock()
			return syscall.EBADF
		}
		if try() {
			p.k.mu.Unlock()
			return 0
		}
		wait := p.s.wait()
		p.k.mu.Unlock()
		<-wait
	}
}

// Connect connects to an address, and waits for the end of the handshake.
func (p *Peer) Connect(to netip.AddrPort) (errno syscall.Errno) {
	begun := false
	over := p.until(func() bool {
		if !begun {
			begun = true
			if errno = p.s.connect(to); errno != syscall.EINPROGRESS {
				return true
			}
			errno = 0
		}
		if p.s.state == synSent {
			return false
		}
		errno = p.s.takeError()
		return true
	})
	if over != 0 {
		return over
	}
	return errno
}

// Listen makes the peer a listener.
func (p *Peer) Listen(at netip.AddrPort, backlog int) syscall.Errno {
	p.k.mu.Lock()
	defer p.k.mu.Unlock()
	if errno := p.s.bind(at); errno != 0 {
		return errno
	}
	return p.s.listen(backlog)
}

// Accept waits for a connection.
func (p *Peer) Accept() (conn *Peer, errno syscall.Errno) {
	over := p.until(func() bool {
		var s *socket
		s, errno = p.s.accept()
		conn = &Peer{k: p.k, s: s}
		return errno != syscall.EAGAIN
	})
	if over != 0 {
		return nil, over
	}
	return conn, errno
}

// Send sends b, and waits until all of it is in the send buffer. It returns how many bytes
// are.
func (p *Peer) Send(b []byte) (n int, errno syscall.Errno) {
	if len(b) == 0 {
		return 0, 0
	}
	over := p.until(func() bool {
		var sent int
		sent, errno = p.s.send(b[n:], 0)
		n += sent
		return n == len(b) || errno != 0 && errno != syscall.EAGAIN
	})
	if over != 0 {
		return n, over
	}
	return n, errno
}

// Receive waits for bytes, the end of the stream (0 and 0) or an error.
func (p *Peer) Receive(b []byte) (n int, errno syscall.Errno) {
	over := p.until(func() bool {
		n, errno = p.s.receive(b)
		return errno != syscall.EAGAIN
	})
	if over != 0 {
		return 0, over
	}
	return n, errno
}

// ShutdownOutput ends the peer's side of the stream.
func (p *Peer) ShutdownOutput() syscall.Errno {
	p.k.mu.Lock()
	defer p.k.mu.Unlock()
	if p.over {
		return syscall.EBADF
	}
	return p.s.shutdownOutput()
}

// Close closes the socket: with reset as SO_LINGER of 0 does. Calls that wait return EBADF.
func (p *Peer) Close(reset bool) {
	p.k.mu.Lock()
	defer p.k.mu.Unlock()
	if p.over {
		return
	}
	p.over = true
	p.s.resets = p.s.resets || reset
	p.s.closed()
	p.s.wake(0)
}
