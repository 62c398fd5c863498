package process

import (
	"net"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// inherited are the sockets that Listeners has returned.
var inherited struct {
	sync.Mutex
	sockets map[socketID]bool
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
	if inherited.sockets == nil {
		inherited.sockets = map[socketID]bool{}
	}
	inherited.sockets[id] = true
}

// isInherited reports whether the socket of l came from a service manager. It looks at the
// socket, because a program may serve another listener that has it.
func isInherited(l net.Listener) bool {
	inherited.Lock()
	defer inherited.Unlock()
	if len(inherited.sockets) == 0 {
		return false
	}
	id, ok := identify(l)
	return ok && inherited.sockets[id]
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

// stopAccepting makes each call of Accept fail from now on. A server of package net/http then
// tries again later, and logs that.
func stopAccepting(l net.Listener) error {
	if given, ok := l.(Listener); ok {
		l = given.Listener
	}
	d, ok := l.(interface{ SetDeadline(t time.Time) error })
	if !ok {
		return unix.EOPNOTSUPP
	}
	return d.SetDeadline(time.Unix(1, 0))
}
