package epoll_test

import (
	"testing"

	"eventide/core/internal/epoll"

	"golang.org/x/sys/unix"
)

// TestDescriptorsOfTheKernel: no child process inherits a descriptor that a poller makes, and neither the timerfd nor the
// eventfd blocks: a write to an eventfd whose counter other code has filled would block the caller of Wake (netty #9192).
func TestDescriptorsOfTheKernel(t *testing.T) {
	calls := epoll.System()
	for name, create := range map[string]func() (int, error){"epoll set": calls.Create, "timerfd": calls.CreateTimer, "eventfd": calls.CreateEvent} {
		fd, err := create()
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err != nil || flags&unix.FD_CLOEXEC == 0 {
			t.Errorf("a child process inherits the %s (flags %#x, error %v), want none to", name, flags, err)
		}
		status, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if err != nil || name != "epoll set" && status&unix.O_NONBLOCK == 0 {
			t.Errorf("the %s blocks (status %#x, error %v), want a call that cannot go on to return EAGAIN", name, status, err)
		}
	}
}
