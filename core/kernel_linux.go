package core

import (
	"math"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// kernel is the system calls of the epoll pollers: a seam for the tests that
// inject what a kernel refuses once in a year.
type kernel struct {
	create      func() (int, error)
	control     func(epfd, op, fd int, ev *unix.EpollEvent) error
	poll        func(epfd int, events []unix.EpollEvent) (int, error) // does not block
	wait        func(epfd int, events []unix.EpollEvent) (int, error) // blocks
	createTimer func() (int, error)
	setTimer    func(fd int, d time.Duration) error
	createEvent func() (int, error)
}

// systemKernel retries what a signal has interrupted. Calls that cannot block do
// not tell the scheduler: that would cost more than they do.
var systemKernel = kernel{
	create:  func() (int, error) { return unix.EpollCreate1(unix.EPOLL_CLOEXEC) },
	control: epollControl,
	poll:    epollPoll,
	wait:    epollWait,
	createTimer: func() (int, error) {
		return unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	},
	setTimer:    setTimer,
	createEvent: func() (int, error) { return unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC) },
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

// epollWait has no timeout: timers are descriptors in the set, so that there is
// none to be recomputed after a signal (netty #14368).
func epollWait(epfd int, events []unix.EpollEvent) (int, error) {
	for {
		n, err := unix.EpollWait(epfd, events, -1)
		if err != unix.EINTR {
			return max(n, 0), err
		}
	}
}

// setTimer sets a timerfd to go off once, d from now. Zero would disarm it, and
// the kernel refuses more seconds than time_t has (netty #8350).
func setTimer(fd int, d time.Duration) error {
	d = min(max(d, 1), math.MaxInt64/2)
	return unix.TimerfdSettime(fd, 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}, nil)
}
