package faults

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// RawSyscall is syscall.RawSyscall, for the calls that core/tcp makes so.
//
//go:uintptrescapes
func RawSyscall(trap, a1, a2, a3 uintptr) (r1, r2 uintptr, errno syscall.Errno) {
	switch trap {
	case syscall.SYS_READ:
		if errno := transfer(int(a1), ReadEINTR, ReadEAGAIN, ReadReset); errno != 0 {
			return 0, 0, errno
		}
		return syscall.RawSyscall(trap, a1, a2, a3)
	case syscall.SYS_SENDMSG:
		if errno := sending(int(a1)); errno != 0 {
			return 0, 0, errno
		}
		msg := *(**unix.Msghdr)(unsafe.Pointer(&a2))
		if k, ok := draw(SendShort); ok {
			if short := truncated(msg, fraction()); short != nil {
				hit(k)
				return taken(syscall.RawSyscall(trap, a1, uintptr(unsafe.Pointer(short)), a3))
			}
		}
		return taken(syscall.RawSyscall(trap, a1, a2, a3))
	}
	panic(fmt.Sprintf("faults: system call %d, which core did not make before", trap))
}

// RawSyscall6 is syscall.RawSyscall6, for the calls that core makes so.
//
//go:uintptrescapes
func RawSyscall6(trap, a1, a2, a3, a4, a5, a6 uintptr) (r1, r2 uintptr, errno syscall.Errno) {
	switch trap {
	case syscall.SYS_SENDTO:
		if errno := sending(int(a1)); errno != 0 {
			return 0, 0, errno
		}
		if k, ok := draw(SendShort); ok && a3 > 1 {
			hit(k)
			a3 = 1 + uintptr(fraction()*float64(a3-1))
		}
		return taken(syscall.RawSyscall6(trap, a1, a2, a3, a4, a5, a6))
	case syscall.SYS_EPOLL_CTL:
		return 0, 0, control(int(a1), int(a2), int(a3), *(**unix.EpollEvent)(unsafe.Pointer(&a4)))
	case syscall.SYS_EPOLL_PWAIT:
		if errno := polling(int(a1)); errno != 0 {
			return 0, 0, errno
		}
		r1, r2, errno = syscall.RawSyscall6(trap, a1, a2, a3, a4, a5, a6)
		polled(int(a1), errno)
		return r1, r2, errno
	}
	panic(fmt.Sprintf("faults: system call %d, which core did not make before", trap))
}

// fraction returns a number from 0 up to 1.
func fraction() float64 { return float64(mix(1, draws.Add(1))>>11) / (1 << 53) }

// sending returns the error with which a send of the socket fails.
func sending(fd int) syscall.Errno {
	return transfer(fd, SendEINTR, SendEAGAIN, SendEPIPE, SendReset, SendENOMEM)
}

// transfer returns the error with which a transfer of the socket fails. EAGAIN is only for a
// socket that gets an edge after it.
func transfer(fd int, of ...Kind) syscall.Errno {
	k, ok := draw(of...)
	if !ok || table[k].errno == syscall.EAGAIN && !edge(fd) {
		return 0
	}
	return hit(k)
}

// taken counts the bytes that a send transferred.
func taken(r1, r2 uintptr, errno syscall.Errno) (uintptr, uintptr, syscall.Errno) {
	if errno == 0 {
		sent.Add(int64(r1))
	}
	return r1, r2, errno
}

// truncated returns a copy of the message with a part of its bytes, at least one; nil: it has
// not two.
func truncated(msg *unix.Msghdr, part float64) *unix.Msghdr {
	total := 0
	all := unsafe.Slice(msg.Iov, int(msg.Iovlen))
	for i := range all {
		total += int(all[i].Len)
	}
	if total < 2 {
		return nil
	}
	left := 1 + int(part*float64(total-1))
	var some []unix.Iovec
	for _, v := range all {
		size := min(int(v.Len), left)
		if left -= size; size > 0 {
			v.SetLen(size)
			some = append(some, v)
		}
	}
	short := *msg
	short.Iov = &some[0]
	short.SetIovlen(len(some))
	return &short
}

// Accept4 is unix.Accept4. A fault leaves the connection in the backlog. The listener is
// level-triggered, so no edge is lost.
func Accept4(fd, flags int) (int, unix.Sockaddr, error) {
	if errno := fails(AcceptEINTR, AcceptEAGAIN, AcceptAborted, AcceptEMFILE, AcceptENOMEM); errno != 0 {
		return -1, nil, errno
	}
	return unix.Accept4(fd, flags)
}

// Connect is unix.Connect. An interrupted connect continues.
func Connect(fd int, sa unix.Sockaddr) error {
	err := unix.Connect(fd, sa)
	if err == unix.EINPROGRESS {
		if errno := fails(ConnectEINTR); errno != 0 {
			return errno
		}
	}
	return err
}

// Socket is unix.Socket.
func Socket(domain, typ, proto int) (int, error) {
	if errno := fails(SocketEMFILE, SocketENOMEM); errno != 0 {
		return -1, errno
	}
	return unix.Socket(domain, typ, proto)
}

// TimerfdCreate is unix.TimerfdCreate.
func TimerfdCreate(clock, flags int) (int, error) {
	if errno := making(TimerEMFILE); errno != 0 {
		return -1, errno
	}
	return unix.TimerfdCreate(clock, flags)
}

// Eventfd is unix.Eventfd.
func Eventfd(value uint, flags int) (int, error) {
	if errno := making(EventEMFILE); errno != 0 {
		return -1, errno
	}
	return unix.Eventfd(value, flags)
}

// Write is unix.Write to an eventfd.
func Write(fd int, p []byte) (int, error) {
	if errno := fails(WakeEINTR, WakeEAGAIN); errno != 0 {
		return -1, errno
	}
	return unix.Write(fd, p)
}
