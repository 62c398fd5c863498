package tcp

import "syscall"

// operation is a system call that a test may make fail.
type operation uint8

const (
	opRead operation = iota
	opSend
	opAccept
	opShutdown
	opClose
	opConnect
)

// faults lets tests inject faults. ask is called before each system call; it returns how
// many bytes the call may transfer, or the errno with which the call fails. It does not get
// the buffer, which would force every buffer of a caller onto the heap.
type faults struct {
	ask  func(op operation, n int) (limit int, errno syscall.Errno)
	made func(fd int) error // called with each socket before it connects; may be nil
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
