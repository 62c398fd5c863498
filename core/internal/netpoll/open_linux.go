package netpoll

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// poller is the network poller of Go's runtime. The runtime opens it with the first timer,
// socket or os.File that can be polled, and ends the process if the kernel refuses.
var poller struct {
	mu   sync.Mutex
	open bool // known to be
}

// Open makes sure that Go's network poller is open, or returns the error for which it
// cannot be opened. It makes the two descriptors that the runtime needs, an epoll set and
// an eventfd, closes them, and has the runtime open its poller in their place. A goroutine
// that takes the last descriptors of the process in this moment can still end the process,
// as it can at the first timer of any Go program. The runtime does not say whether its
// poller is open already, so the first call needs two free descriptors even then. Any
// goroutine may call it.
func Open() error {
	poller.mu.Lock()
	defer poller.mu.Unlock()
	if poller.open {
		return nil
	}
	if err := reserve(); err != nil {
		return fmt.Errorf("no descriptors for the network poller of Go's runtime, want 2: %w", err)
	}
	time.AfterFunc(math.MaxInt64, func() {}).Stop() // the first timer opens it
	poller.open = true
	return nil
}

// reserve reports whether the kernel has what the runtime's poller takes.
func reserve() error {
	set, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return fmt.Errorf("epoll_create1: cannot make an epoll set: %w", err)
	}
	event, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return errors.Join(fmt.Errorf("eventfd: cannot make an eventfd: %w", err), closeNumber(set))
	}
	return errors.Join(closeNumber(event), closeNumber(set))
}

func closeNumber(fd int) error {
	if err := unix.Close(fd); err != nil {
		return fmt.Errorf("close: cannot close descriptor %d: %w", fd, err)
	}
	return nil
}
