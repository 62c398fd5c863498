package tcp

import "syscall"

// operation is a system call that a test may let go wrong.
type operation uint8

const (
	opRead operation = iota
	opSend
	opAccept
	opShutdown
	opClose
	opConnect
)

// faults is the seam for tests: it is asked before each system call how many of
// its bytes are to be attempted, or with which error it is to fail. It never sees
// the buffer: if it did, every buffer of a caller would have to be on the heap.
type faults struct {
	ask  func(op operation, n int) (limit int, errno syscall.Errno)
	made func(fd int) error // a socket that is about to connect; nil: nobody wants to know
}

func (f *faults) socketMade(fd int) error {
	if f == nil || f.made == nil {
		return nil
	}
	return f.made(fd)
}

func (f *faults) before(op operation, n int) (int, syscall.Errno) {
	if f == nil {
		return n, 0
	}
	return f.ask(op, n)
}
