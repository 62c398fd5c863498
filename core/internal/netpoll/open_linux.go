package netpoll

import (
	"fmt"
	"math"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// poller is the state of the network poller of Go's runtime. The runtime opens it with
// the first timer, socket or pollable os.File, and ends the process if the kernel
// refuses.
var poller struct {
	mu   sync.Mutex
	open bool // certainly open; false means unknown
}

// Open makes sure that Go's network poller is open, or returns the error for which it
// cannot be opened. It makes the two descriptors that the runtime needs, an epoll set and
// an eventfd, closes them, and then makes the runtime open its poller. A goroutine that
// takes the last descriptors of the process in between can still end the process, as with
// the first timer of any Go program. The runtime does not say whether its poller is open
// already, so the first call needs two free descriptors in any case. Any goroutine may
// call it.
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

// reserve returns an error if the kernel has no descriptors for the runtime's poller.
func reserve() error {
	set, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return fmt.Errorf("epoll_create1: cannot make an epoll set: %w", err)
	}
	defer unix.Close(set)
	event, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return fmt.Errorf("eventfd: cannot make an eventfd: %w", err)
	}
	return unix.Close(event)
}
