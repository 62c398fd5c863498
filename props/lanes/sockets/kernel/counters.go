//go:build linux

package kernel

import (
	"encoding/binary"
	"math"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// eventFile is an eventfd. It never blocks.
type eventFile struct {
	node
	count uint64
}

func (e *eventFile) closed() {}

func (e *eventFile) poll() (events uint32) {
	if e.count > 0 {
		events |= unix.EPOLLIN
	}
	if e.count < math.MaxUint64-1 {
		events |= unix.EPOLLOUT
	}
	return events
}

// Eventfd is eventfd(2), non-blocking.
func (k *Kernel) Eventfd() (int, syscall.Errno) {
	return k.create(OpEvent, &eventFile{})
}

// Write is write(2) of eight bytes to an eventfd.
func (k *Kernel) Write(fd int, p []byte) (int, syscall.Errno) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f, errno := k.lookup("write", fd)
	if errno != 0 {
		return -1, errno
	}
	e, ok := f.(*eventFile)
	if !ok || len(p) < 8 {
		return -1, syscall.EINVAL
	}
	add := binary.NativeEndian.Uint64(p)
	if add > math.MaxUint64-1-e.count {
		return -1, syscall.EAGAIN
	}
	e.count += add
	e.wake(unix.EPOLLIN)
	return 8, 0
}

// read is read(2) of an eventfd. Requires mu.
func (e *eventFile) read(p []byte) (int, syscall.Errno) {
	switch {
	case len(p) < 8:
		return -1, syscall.EINVAL
	case e.count == 0:
		return -1, syscall.EAGAIN
	}
	binary.NativeEndian.PutUint64(p, e.count)
	e.count = 0
	e.wake(unix.EPOLLOUT)
	return 8, 0
}

// timerFile is a timerfd.
type timerFile struct {
	node
	timer   *time.Timer
	setting int // how often it was set: an expiry of an older setting does not count
	expired bool
}

func (t *timerFile) closed() {
	t.setting++
	if t.timer != nil {
		t.timer.Stop()
	}
}

func (t *timerFile) poll() uint32 {
	if t.expired {
		return unix.EPOLLIN
	}
	return 0
}

// Timerfd is timerfd_create(2), non-blocking, of the monotonic clock.
func (k *Kernel) Timerfd() (int, syscall.Errno) {
	return k.create(OpTimer, &timerFile{})
}

// SetTimer is timerfd_settime(2) for one expiry d from now.
func (k *Kernel) SetTimer(fd int, d time.Duration) syscall.Errno {
	k.mu.Lock()
	defer k.mu.Unlock()
	f, errno := k.lookup("timerfd_settime", fd)
	if errno != 0 {
		return errno
	}
	t, ok := f.(*timerFile)
	if !ok || d <= 0 {
		return syscall.EINVAL
	}
	t.closed() // stops it
	t.expired = false
	setting := t.setting
	t.timer = time.AfterFunc(d, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if t.setting == setting {
			t.expired = true
			t.wake(unix.EPOLLIN)
		}
	})
	return 0
}
