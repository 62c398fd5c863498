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

// faults lets tests inject faults. Any function may be nil.
type faults struct {
	// transfer is called before each read and send of n bytes. It returns how many bytes the
	// call may transfer, or the errno with which the call fails. It does not get the buffer,
	// which would force every buffer of a caller onto the heap.
	transfer func(op operation, n int) (limit int, errno syscall.Errno)

	// fail is called before each other call, and returns the errno with which it fails.
	fail func(op operation) syscall.Errno

	// made is called with each socket that is to connect or to listen.
	made func(fd int) error
}

func (f *faults) socketMade(fd int) error {
	if f == nil || f.made == nil {
		return nil
	}
	return f.made(fd)
}

func (f *faults) before(op operation, n int) (int, syscall.Errno) {
	if f == nil || f.transfer == nil {
		return n, 0
	}
	return f.transfer(op, n)
}

func (f *faults) failing(op operation) syscall.Errno {
	if f == nil || f.fail == nil {
		return 0
	}
	return f.fail(op)
}
