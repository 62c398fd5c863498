//go:build linux

// Package syscall declares the part of the real package syscall that core uses. Its calls
// are those of the current kernel (package kernel); a call that is not modelled panics.
package syscall

import (
	"fmt"
	"syscall"
	"unsafe"

	"eventide/props/lanes/sockets/kernel"

	"golang.org/x/sys/unix"
)

// Types and errors of package syscall.
type (
	Errno   = syscall.Errno
	RawConn = syscall.RawConn
)

// Errors and numbers of package syscall.
const (
	EAGAIN = syscall.EAGAIN
	EINTR  = syscall.EINTR

	SYS_READ        = syscall.SYS_READ
	SYS_SENDTO      = syscall.SYS_SENDTO
	SYS_SENDMSG     = syscall.SYS_SENDMSG
	SYS_EPOLL_CTL   = syscall.SYS_EPOLL_CTL
	SYS_EPOLL_PWAIT = syscall.SYS_EPOLL_PWAIT
)

// RawSyscall is syscall.RawSyscall on the current kernel.
//
//go:uintptrescapes
func RawSyscall(trap, a1, a2, a3 uintptr) (r1, r2 uintptr, errno Errno) {
	k := kernel.Current()
	switch trap {
	case SYS_READ:
		return result(k.Read(int(a1), unsafe.Slice((*byte)(pointer(&a2)), a3)))
	case SYS_SENDMSG:
		return result(k.Send(int(a1), gathered((*unix.Msghdr)(pointer(&a2)))))
	}
	panic(fmt.Sprintf("kernel: system call %d, which the model does not have", trap))
}

// RawSyscall6 is syscall.RawSyscall6 on the current kernel.
//
//go:uintptrescapes
func RawSyscall6(trap, a1, a2, a3, a4, a5, a6 uintptr) (r1, r2 uintptr, errno Errno) {
	k := kernel.Current()
	switch trap {
	case SYS_SENDTO:
		return result(k.Send(int(a1), unsafe.Slice((*byte)(pointer(&a2)), a3)))
	case SYS_EPOLL_CTL:
		return 0, 0, k.EpollControl(int(a1), int(a2), int(a3), (*unix.EpollEvent)(pointer(&a4)))
	case SYS_EPOLL_PWAIT:
		return result(k.EpollWait(int(a1), unsafe.Slice((*unix.EpollEvent)(pointer(&a2)), a3), false))
	}
	panic(fmt.Sprintf("kernel: system call %d, which the model does not have", trap))
}

func result(n int, errno Errno) (r1, r2 uintptr, _ Errno) { return uintptr(max(n, 0)), 0, errno }

// pointer is the pointer that a caller has converted to a number. go:uintptrescapes keeps its
// object alive and in place.
func pointer(a *uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(a)) }

// gathered returns the bytes of a message.
func gathered(m *unix.Msghdr) (p []byte) {
	for _, v := range unsafe.Slice(m.Iov, m.Iovlen) {
		p = append(p, unsafe.Slice(v.Base, v.Len)...)
	}
	return p
}
