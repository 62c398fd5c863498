package tcp_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"

	"golang.org/x/sys/unix"
)

// TestDescriptorsOfAServer: a child process inherits no descriptor of a loop, a listener or a channel, with each of the pollers, and
// no call on a socket or on the eventfd of a loop can block.
func TestDescriptorsOfAServer(t *testing.T) {
	for name, opts := range map[string][]core.Option{
		"netpoll": nil, "a spin": {core.WithSpin(time.Microsecond)}, "blocking epoll": {core.WithBlockingEpoll()},
	} {
		t.Run(name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			before := coretest.Descriptors(t)
			g := coretest.NewGroup(t, 2, opts...)
			l, err := tcp.Listen(g, g, "127.0.0.1:0", newEcho)
			coretest.Must(t, err)
			mustEcho(t, mustDial(t, l.Addr()))
			newPairOn(t, g, nil)
			_, err = tcp.DialAsync(context.Background(), g, l.Addr().String(), &recorder{}).Wait(t.Context())
			coretest.Must(t, err)
			kinds := map[string]int{}
			for _, open := range coretest.Descriptors(t) {
				if !slices.Contains(before, open) {
					kinds[checkFlags(t, open)]++
				}
			}
			// Of two loops, a listener, and both ends of three connections; the second end of the last one may not be accepted yet.
			if kinds["socket"] < 6 || kinds["anon_inode:[eventpoll]"] != 2 || kinds["anon_inode:[timerfd]"] != 2 {
				t.Errorf("the descriptors are %v, want 6 or 7 sockets, 2 epoll sets and 2 timers", kinds)
			}
		})
	}
}

// checkFlags returns the kind of a descriptor of coretest.Descriptors.
func checkFlags(t *testing.T, open string) (kind string) {
	t.Helper()
	number, kind, _ := strings.Cut(open, " ")
	if strings.HasPrefix(kind, "socket:") {
		kind = "socket"
	}
	fd, err := strconv.Atoi(number)
	coretest.Must(t, err)
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	coretest.Must(t, err)
	status, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	coretest.Must(t, err)
	if flags&unix.FD_CLOEXEC == 0 {
		t.Errorf("a child process inherits descriptor %s", open)
	}
	if status&unix.O_NONBLOCK == 0 && (kind == "socket" || kind == "anon_inode:[eventfd]") {
		t.Errorf("descriptor %s blocks", open)
	}
	return kind
}
