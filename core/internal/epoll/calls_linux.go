package epoll

import (
	"math"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Calls is the table of system calls that the pollers make. Tests replace entries to
// inject errors that a kernel returns rarely.
type Calls struct {
	Create      func() (int, error)
	Control     func(epfd, op, fd int, ev *unix.EpollEvent) error
	Poll        func(epfd int, events []unix.EpollEvent) (int, error) // does not block
	Wait        func(epfd int, events []unix.EpollEvent) (int, error) // blocks
	CreateTimer func() (int, error)
	SetTimer    func(fd int, d time.Duration) error
	CreateEvent func() (int, error)
}

// System returns the calls of the kernel. Control, Poll and SetTimer, which cannot block and are
// made often, do not notify the Go scheduler: that would cost more than the call itself. Poll and
// Wait are repeated when a signal interrupts them.
func System() Calls {
	return Calls{
		Create:  func() (int, error) { return unix.EpollCreate1(unix.EPOLL_CLOEXEC) },
		Control: epollControl,
		Poll:    epollPoll,
		Wait:    epollWait,
		CreateTimer: func() (int, error) {
			return unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
		},
		SetTimer:    setTimer,
		CreateEvent: func() (int, error) { return unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC) },
	}
}

func epollControl(epfd, op, fd int, ev *unix.EpollEvent) error {
	_, _, errno := syscall.RawSyscall6(syscall.SYS_EPOLL_CTL, uintptr(epfd), uintptr(op), uintptr(fd), uintptr(unsafe.Pointer(ev)), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

func epollPoll(epfd int, events []unix.EpollEvent) (int, error) {
	for {
		n, _, errno := syscall.RawSyscall6(syscall.SYS_EPOLL_PWAIT, uintptr(epfd), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), 0, 0, 0)
		switch errno {
		case 0:
			return int(n), nil
		case syscall.EINTR:
		default:
			return 0, errno
		}
	}
}

// epollWait has no timeout: deadlines are timerfds in the set, so no timeout has to be
// recomputed after a signal (netty #14368).
func epollWait(epfd int, events []unix.EpollEvent) (int, error) {
	for {
		n, err := unix.EpollWait(epfd, events, -1)
		if err != unix.EINTR {
			return max(n, 0), err
		}
	}
}

// setTimer sets a timerfd to expire once, d from now. A value of zero would disarm it,
// and the kernel refuses more seconds than time_t holds (netty #8350).
func setTimer(fd int, d time.Duration) error {
	d = min(max(d, 1), math.MaxInt64/2)
	return unix.TimerfdSettime(fd, 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}, nil)
}
