//go:build linux

package kernel

import (
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// epollSet is an epoll instance. Its ready list is as in Linux: a wake-up of a watched file
// puts the watch on the list, and epoll_wait asks the file what it is ready for. A watch
// for levels stays on the list while the file is ready.
type epollSet struct {
	node
	items    map[int]*watch
	nonblock bool
	ready    []*watch
}

// watch is a file in a set.
type watch struct {
	set      *epollSet
	fd       int
	of       file
	interest uint32
	data     [2]int32 // Fd and Pad of the EpollEvent
	queued   bool     // it is on the ready list
	disabled bool     // by EPOLLONESHOT
}

func (w *watch) becomesReady() {
	if !w.queued {
		w.queued = true
		w.set.ready = append(w.set.ready, w)
	}
	w.set.wake(unix.EPOLLIN)
}

// now is what the watch reports.
func (w *watch) now() uint32 {
	if w.disabled {
		return 0
	}
	return w.of.poll() & (w.interest | always)
}

// remove takes the watch out of its set.
func (w *watch) remove() {
	b := w.of.base()
	b.watches = slices.DeleteFunc(b.watches, func(other *watch) bool { return other == w })
	w.set.ready = slices.DeleteFunc(w.set.ready, func(other *watch) bool { return other == w })
	delete(w.set.items, w.fd)
}

func (s *epollSet) poll() uint32 {
	for _, w := range s.ready {
		if w.now() != 0 {
			return unix.EPOLLIN | unix.EPOLLRDNORM
		}
	}
	return 0
}

func (s *epollSet) closed() {
	for _, w := range s.items {
		w.remove()
	}
}

// EpollCreate is epoll_create1(2).
func (k *Kernel) EpollCreate() (int, syscall.Errno) {
	return k.create(OpCreate, &epollSet{items: map[int]*watch{}})
}

// faultyControls are the operations of epoll_ctl(2) that can have a fault.
var faultyControls = map[int]Op{unix.EPOLL_CTL_ADD: OpAdd, unix.EPOLL_CTL_MOD: OpModify}

// EpollControl is epoll_ctl(2).
func (k *Kernel) EpollControl(epfd, op, fd int, ev *unix.EpollEvent) syscall.Errno {
	k.mu.Lock()
	defer k.mu.Unlock()
	if faulty, ok := faultyControls[op]; ok {
		if _, errno := k.fault(faulty); errno != 0 {
			return errno
		}
	}
	ep, errno := k.lookup("epoll_ctl", epfd)
	if errno != 0 {
		return errno
	}
	f, errno := k.lookup("epoll_ctl", fd)
	if errno != 0 {
		return errno
	}
	s, ok := ep.(*epollSet)
	if !ok || fd == epfd {
		return syscall.EINVAL
	}
	w := s.items[fd]
	switch {
	case op == unix.EPOLL_CTL_ADD && w != nil:
		return syscall.EEXIST
	case op == unix.EPOLL_CTL_ADD:
		w = &watch{set: s, fd: fd, of: f}
		s.items[fd] = w
		f.base().watches = append(f.base().watches, w)
	case w == nil:
		return syscall.ENOENT
	case op == unix.EPOLL_CTL_DEL:
		w.remove()
		return 0
	}
	w.interest, w.data, w.disabled = ev.Events, [2]int32{ev.Fd, ev.Pad}, false
	if w.now() != 0 {
		w.becomesReady()
	}
	return 0
}

// collect is epoll_wait(2) without the wait. Requires mu.
func (s *epollSet) collect(events []unix.EpollEvent) (n int) {
	list := s.ready
	s.ready = nil
	var again []*watch
	for len(list) > 0 && n < len(events) {
		w := list[0]
		list = list[1:]
		w.queued = false
		now := w.now()
		if now == 0 {
			continue
		}
		if s, ok := w.of.(*socket); ok {
			s.drained = s.drained && now&unix.EPOLLIN == 0
			s.toEAGAIN = s.toEAGAIN || now&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR|unix.EPOLLPRI) != 0
		}
		events[n] = unix.EpollEvent{Events: now, Fd: w.data[0], Pad: w.data[1]}
		n++
		switch {
		case w.interest&unix.EPOLLONESHOT != 0:
			w.disabled = true
		case w.interest&unix.EPOLLET == 0:
			w.queued = true
			again = append(again, w)
		}
	}
	s.ready = slices.Concat(list, s.ready, again)
	return n
}

// EpollWait is epoll_wait(2). If no event is there, it blocks if block is set, and otherwise
// returns 0.
func (k *Kernel) EpollWait(epfd int, events []unix.EpollEvent, block bool) (int, syscall.Errno) {
	for {
		k.mu.Lock()
		n, errno, wait := k.tryWait(epfd, events)
		k.mu.Unlock()
		if n > 0 || errno != 0 || !block {
			return n, errno
		}
		<-wait
	}
}

func (k *Kernel) tryWait(epfd int, events []unix.EpollEvent) (int, syscall.Errno, <-chan struct{}) {
	if _, errno := k.fault(OpWait); errno != 0 {
		return 0, errno, nil
	}
	f, errno := k.lookup("epoll_wait", epfd)
	if errno != 0 {
		return 0, errno, nil
	}
	s, ok := f.(*epollSet)
	if !ok {
		return 0, syscall.EINVAL, nil
	}
	if n := s.collect(events); n > 0 {
		return n, 0, nil
	}
	return 0, 0, s.wait()
}
