package process

import (
	"net"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// inherited are the sockets that Listeners has returned, and whether stopAccepting was called.
var inherited struct {
	sync.Mutex
	stopped map[socketID]bool
}

// socketID is the same for all descriptors of a socket.
type socketID struct{ device, inode uint64 }

// inherit records that the socket of l came from a service manager, which has it too.
func inherit(l net.Listener) {
	id, ok := identify(l)
	if !ok {
		return
	}
	inherited.Lock()
	defer inherited.Unlock()
	if inherited.stopped == nil {
		inherited.stopped = map[socketID]bool{}
	}
	inherited.stopped[id] = false
}

// isInherited reports whether the socket of l came from a service manager, and whether
// stopAccepting was called. It looks at the socket, because a program may serve another listener
// that has it.
func isInherited(l net.Listener) (is, stopped bool) {
	inherited.Lock()
	defer inherited.Unlock()
	if len(inherited.stopped) == 0 {
		return false, false
	}
	id, ok := identify(l)
	if !ok {
		return false, false
	}
	stopped, is = inherited.stopped[id]
	return is, stopped
}

// identify returns the identity of the socket of l. It returns false if l does not expose an open
// socket.
func identify(l net.Listener) (id socketID, ok bool) {
	raw, ok := rawOf(l)
	if !ok {
		return id, false
	}
	var about unix.Stat_t
	if err := control(raw, func(fd int) error { return unix.Fstat(fd, &about) }); err != nil {
		return id, false
	}
	return socketID{uint64(about.Dev), about.Ino}, true
}

// stopAccepting makes each call of Accept fail from now on, and that of a Listener wait for the
// close. After a failure a server of package net/http tries again later, and logs that.
func stopAccepting(l net.Listener) error {
	if id, ok := identify(l); ok {
		inherited.Lock()
		inherited.stopped[id] = true
		inherited.Unlock()
	}
	if given, ok := l.(Listener); ok {
		l = given.Listener
	}
	d, ok := l.(interface{ SetDeadline(t time.Time) error })
	if !ok {
		return unix.EOPNOTSUPP
	}
	return d.SetDeadline(time.Unix(1, 0))
}

// untilClosed returns true when l is closed, or false at once if stopAccepting was not called for l.
func untilClosed(l net.Listener) bool {
	if _, stopped := isInherited(l); !stopped {
		return false
	}
	ticks := time.NewTicker(settleTime / settlePolls)
	defer ticks.Stop()
	for ; ; <-ticks.C {
		if _, open := identify(l); !open {
			return true
		}
	}
}
