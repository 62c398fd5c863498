package epoll

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// callError returns the error of a system call that failed with err. The text names the
// call, what it was to do, what the errno means, and what was expected. errors.Is finds
// the errno.
func callError(call, doing string, err error) error {
	if errno, ok := err.(unix.Errno); ok {
		if meaning := meanings[call][errno]; meaning != "" {
			return os.NewSyscallError(call, fmt.Errorf("%s: %s: %w", doing, meaning, err))
		}
	}
	return os.NewSyscallError(call, fmt.Errorf("%s: %w", doing, err))
}

// controlError returns the error of epoll_ctl on descriptor fd, which failed with err.
func controlError(op, fd int, err error) error {
	doing := map[int]string{unix.EPOLL_CTL_ADD: "add", unix.EPOLL_CTL_MOD: "modify", unix.EPOLL_CTL_DEL: "remove"}[op]
	return callError("epoll_ctl", fmt.Sprintf("%s descriptor %d", doing, fd), err)
}

// What the errors of the kernel mean, and what was expected.
var (
	noNumber = "the process has as many open descriptors as RLIMIT_NOFILE allows, want room for one more"
	noFile   = "the system has as many open files as fs.file-max allows, want room for one more"
	noMemory = "the kernel has no memory for it"

	noRoom = map[unix.Errno]string{unix.EMFILE: noNumber, unix.ENFILE: noFile, unix.ENOMEM: noMemory}

	meanings = map[string]map[unix.Errno]string{
		"epoll_create1":  noRoom,
		"eventfd":        noRoom,
		"timerfd_create": noRoom,
		"epoll_ctl": {
			unix.EBADF:  "it is not open, want an open descriptor",
			unix.EEXIST: "this loop watches it already, want one registration at a time (Modify changes its interest, Close ends it)",
			unix.ENOENT: "the loop's epoll set does not have it, want one that was not closed while it was registered",
			unix.EPERM:  "it cannot be polled, want a socket, a pipe or the like, and no regular file or directory",
			unix.EINVAL: "it is the epoll set of the loop itself, or takes no such interest, want another descriptor",
			unix.ELOOP:  "it is an epoll set that watches this one, or one nested too deep, want no circle and fewer levels",
			unix.ENOSPC: "the user watches as many descriptors as fs.epoll.max_user_watches allows, want room for one more",
			unix.ENOMEM: noMemory,
		},
		"epoll_wait": {
			unix.EBADF:  "the loop's epoll set is not open, want one that nothing else in the process has closed",
			unix.EINVAL: "the descriptor is not an epoll set any more, want one that nothing else in the process has closed",
		},
		"fcntl": {unix.EBADF: "it is not open, want one that nothing else in the process has closed"},
		"close": {unix.EBADF: "it is not open, want one that nothing else in the process has closed"},
	}
)
