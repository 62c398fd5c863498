//go:build linux

package kernel

import (
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// File is an os.File whose descriptor the Go runtime polls: a goroutine parks in
// RawConn.Read until an edge of the descriptor, a deadline in the past, or Close. Its rules
// are those of the runtime: a Read forgets older edges when it begins and remembers later
// ones, and returns at once if the deadline has passed.
type File struct {
	descriptor
	of     file
	polled bool // by the runtime

	// Guarded by k.mu.
	expired bool // the read deadline has passed
	edge    bool
	waiting []chan struct{}
}

// errFileClosing is the error of a RawConn after Close.
var errFileClosing = errors.New("use of closed file")

// NewFile returns a file for a descriptor of k, or nil if the descriptor is not open. As in
// package os, the runtime polls it only if it is non-blocking, and if its own poller takes it.
func (k *Kernel) NewFile(fd int) *File {
	k.mu.Lock()
	defer k.mu.Unlock()
	of, errno := k.lookup("os.NewFile", fd)
	if errno != 0 {
		return nil
	}
	f := &File{descriptor: descriptor{k: k, fd: fd}, of: of, polled: k.nonblocking(of)}
	if _, isSet := of.(*epollSet); isSet {
		_, fault := k.fault(OpPolled)
		f.polled = f.polled && fault == 0
	}
	of.base().edges = append(of.base().edges, f.notice)
	return f
}

// nonblocking reports whether reads of a file return at once.
func (k *Kernel) nonblocking(f file) bool {
	s, isSet := f.(*epollSet)
	return !isSet || s.nonblock
}

// notice is called with mu held at each wake-up of the descriptor.
func (f *File) notice() {
	if f.of.poll()&unix.EPOLLIN != 0 {
		f.edge = true
		f.unpark()
	}
}

func (f *File) unpark() {
	for _, ch := range f.waiting {
		close(ch)
	}
	f.waiting = nil
}

// SyscallConn is os.File's. After Close it still returns a conn, whose calls fail.
func (f *File) SyscallConn() (syscall.RawConn, error) { return rawConn{f}, nil }

// begin is a time before every program. Deadlines that core computes at its initialisation are
// compared with begin, because the clock of a bubble is decades behind.
var begin = time.Now()

// SetReadDeadline is os.File's, for the zero time and times before any program.
func (f *File) SetReadDeadline(t time.Time) error {
	f.k.mu.Lock()
	defer f.k.mu.Unlock()
	switch {
	case f.closed:
		return os.ErrClosed
	case !f.polled:
		return os.ErrNoDeadline
	case !t.IsZero() && t.After(begin):
		panic("kernel: a read deadline that is not before the program, which the model does not have")
	}
	f.expired = !t.IsZero()
	if f.expired {
		f.unpark()
	}
	return nil
}

// Close is os.File's: it returns when no call uses the descriptor.
func (f *File) Close() error {
	if !f.closeUnused(func() {
		f.of.base().edges = nil
		f.unpark()
	}) {
		return os.ErrClosed
	}
	return nil
}

type rawConn struct{ f *File }

// Control is syscall.RawConn's.
func (c rawConn) Control(do func(fd uintptr)) error { return c.f.control(do) }

// Read is syscall.RawConn's.
func (c rawConn) Read(try func(fd uintptr) bool) error {
	f := c.f
	if err := f.use(); err != nil {
		return err
	}
	defer f.release()
	f.k.mu.Lock()
	err := f.ended()
	f.edge = false
	f.k.mu.Unlock()
	for err == nil {
		if try(uintptr(f.fd)) {
			return nil
		}
		err = f.park()
	}
	return err
}

// ended returns the error of a call after Close or after the read deadline. Requires mu.
func (f *File) ended() error {
	switch {
	case f.closed:
		return errFileClosing
	case f.expired:
		return os.ErrDeadlineExceeded
	}
	return nil
}

// park waits for an edge, the deadline or Close.
func (f *File) park() error {
	for {
		f.k.mu.Lock()
		err := f.ended()
		if err != nil || f.edge {
			f.edge = false
			f.k.mu.Unlock()
			return err
		}
		ch := make(chan struct{})
		f.waiting = append(f.waiting, ch)
		f.k.mu.Unlock()
		<-ch
	}
}

// Write is syscall.RawConn's, and is not modelled.
func (rawConn) Write(func(uintptr) bool) error {
	panic("kernel: RawConn.Write, which the model does not have")
}

// SetNonblock is fcntl(2) with O_NONBLOCK.
func (k *Kernel) SetNonblock(fd int, on bool) syscall.Errno {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, fault := k.fault(OpNonblock)
	f, errno := k.lookup("fcntl", fd)
	if errno == 0 {
		errno = fault
	}
	if errno != 0 {
		return errno
	}
	if s, ok := f.(*epollSet); ok {
		s.nonblock = on
	}
	return errno
}
