package core

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// runtimePoller is Go's own network poller. The runtime opens it with the first timer,
// socket or os.File that can be polled, and ends the process if the kernel refuses.
var runtimePoller struct {
	mu   sync.Mutex
	open bool // known to be
}

// openRuntimePoller makes sure that Go's network poller is open, or returns the error for
// which it cannot be opened. It makes the two descriptors that the runtime needs, an epoll
// set and an eventfd, closes them, and has the runtime open its poller in their place. A
// goroutine that takes the last descriptors of the process in this moment can still end
// the process, as it can at the first timer of any Go program.
func openRuntimePoller() error {
	runtimePoller.mu.Lock()
	defer runtimePoller.mu.Unlock()
	if runtimePoller.open {
		return nil
	}
	if err := reserveRuntimePoller(); err != nil {
		return fmt.Errorf("no descriptors for the network poller of Go's runtime, want 2: %w", err)
	}
	time.AfterFunc(math.MaxInt64, func() {}).Stop() // the first timer opens it
	runtimePoller.open = true
	return nil
}

// reserveRuntimePoller reports whether the kernel has what the runtime's poller takes.
func reserveRuntimePoller() error {
	set, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return callError("epoll_create1", "make an epoll set", err)
	}
	event, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return errors.Join(callError("eventfd", "make an eventfd", err), closeNumber(set))
	}
	return errors.Join(closeNumber(event), closeNumber(set))
}

func closeNumber(fd int) error {
	return callError("close", fmt.Sprintf("close descriptor %d", fd), unix.Close(fd))
}
