package faults

import (
	"sync"
	"syscall"
	"unsafe"

	"github.com/petermattis/goid"
	"golang.org/x/sys/unix"
)

// Owner receives the faults of its event loops that change the permitted behaviour of a loop. None of its
// loops ends by a fault: one poll of each may fail, so that the loop rebuilds its poller, and
// the rebuild does not fail.
type Owner struct {
	Polled func() // called on the goroutine of the loop before a poll fails; may be nil
	Refuse bool   // the constructors of its loops may fail
}

// set is the state of an epoll set.
type set struct {
	owner *Owner
	fresh bool // no poll of it has worked yet
	again bool // it is the set of a rebuild
}

// watch is where a descriptor is watched, and how.
type watch struct {
	set   int
	event unix.EpollEvent
}

var (
	mu         sync.Mutex
	sets       = map[int]*set{}     // by descriptor; overwritten when a number is used again
	watched    = map[int]watch{}    // likewise, the last set of each descriptor
	makers     = map[int64]*Owner{} // by goroutine: makes the loop of an owner
	rebuilders = map[int64]*Owner{} // by goroutine: a loop that rebuilds its poller
)

// Own calls f, which makes event loops on this goroutine. The loops then have this owner.
func Own(o *Owner, f func()) {
	g := goid.Get()
	mu.Lock()
	makers[g] = o
	mu.Unlock()
	defer func() {
		mu.Lock()
		defer mu.Unlock()
		delete(makers, g)
	}()
	f()
}

// EpollCreate1 is unix.EpollCreate1.
func EpollCreate1(flags int) (int, error) {
	if errno := making(CreateEMFILE); errno != 0 {
		return -1, errno
	}
	fd, err := unix.EpollCreate1(flags)
	if err != nil {
		return fd, err
	}
	g := goid.Get()
	mu.Lock()
	defer mu.Unlock()
	owner := makers[g]
	if owner == nil {
		owner = rebuilders[g]
	}
	sets[fd] = &set{owner: owner, fresh: true, again: rebuilders[g] != nil}
	return fd, nil
}

// making returns the error with which the constructor of a poller fails, or its rebuild.
func making(k Kind) syscall.Errno {
	if _, ok := draw(k); !ok {
		return 0
	}
	g := goid.Get()
	mu.Lock()
	maker, rebuilds := makers[g], rebuilders[g] != nil
	mu.Unlock()
	if rebuilds || maker != nil && !maker.Refuse {
		return 0
	}
	return hit(k)
}

// polling returns the error with which a poll of the set fails. A loop whose poller fails again
// before it has found an event ends, so a set with an owner fails only if it is no set of a rebuild.
func polling(epfd int) syscall.Errno {
	k, ok := draw(PollEINTR, PollENOMEM)
	if !ok {
		return 0
	}
	if table[k].errno == syscall.EINTR {
		return hit(k)
	}
	mu.Lock()
	s := sets[epfd]
	if s == nil || s.owner != nil && (s.fresh || s.again) {
		mu.Unlock()
		return 0
	}
	owner := s.owner
	if owner != nil {
		rebuilders[goid.Get()] = owner
	}
	mu.Unlock()
	if owner != nil && owner.Polled != nil {
		owner.Polled()
	}
	return hit(k)
}

// polled records the result of a poll of the kernel. A rebuild is over when one has worked.
func polled(epfd int, errno syscall.Errno) {
	if errno != 0 {
		return
	}
	mu.Lock()
	defer mu.Unlock()
	s := sets[epfd]
	if s == nil || !s.fresh {
		return
	}
	s.fresh = false
	if s.again {
		delete(rebuilders, goid.Get())
	}
}

// EpollWait is unix.EpollWait.
func EpollWait(epfd int, events []unix.EpollEvent, timeout int) (int, error) {
	if errno := polling(epfd); errno != 0 {
		return -1, errno
	}
	n, err := unix.EpollWait(epfd, events, timeout)
	errno, _ := err.(syscall.Errno)
	polled(epfd, errno)
	return n, err
}

// control is epoll_ctl(2). The call is made with mu held, so that edge does not restore an interest
// that was changed meanwhile.
func control(epfd, op, fd int, event *unix.EpollEvent) syscall.Errno {
	mu.Lock()
	defer mu.Unlock()
	if k, ok := draw(AddENOMEM); ok && op == unix.EPOLL_CTL_ADD && mayRefuse(epfd) {
		return hit(k)
	}
	errno := rawControl(epfd, op, fd, event)
	if errno == 0 && op != unix.EPOLL_CTL_DEL {
		watched[fd] = watch{epfd, *event}
	}
	return errno
}

// mayRefuse reports whether a set may refuse a descriptor: not if it has an owner and is made, unless
// the owner allows that, or is rebuilt. Requires mu.
func mayRefuse(epfd int) bool {
	s := sets[epfd]
	if s == nil || s.owner == nil || !s.fresh {
		return true
	}
	maker := makers[goid.Get()]
	return !s.again && (maker == nil || maker.Refuse)
}

func rawControl(epfd, op, fd int, event *unix.EpollEvent) syscall.Errno {
	_, _, errno := syscall.RawSyscall6(syscall.SYS_EPOLL_CTL, uintptr(epfd), uintptr(op), uintptr(fd), uintptr(unsafe.Pointer(event)), 0, 0)
	return errno
}

// edge makes the kernel report the descriptor once more if it is ready, and returns false if
// it is not watched.
func edge(fd int) bool {
	mu.Lock()
	defer mu.Unlock()
	w, ok := watched[fd]
	return ok && rawControl(w.set, unix.EPOLL_CTL_MOD, fd, &w.event) == 0
}
