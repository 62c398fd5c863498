package process

import (
	"context"
	"flag"
	"net"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core/internal/coretest"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// TestPropStopArrivals compares how long stopArrivals waits with a specification, in virtual time. It returns at the end of
// its context, or when the queues are empty and nothing is unread: throughout 100 ms if a listener turns connections
// away, else in one poll. Only an open TCP listener turns connections away, until resume. A closed listener, or one of another kind, delays nothing.
func TestPropStopArrivals(t *testing.T) {
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		t.Fatal(err)
	}
	dir := shortDir(t)
	rapid.Check(t, func(r *rapid.T) {
		a := &arrivals{unread: map[int]bool{}, ends: 1000}
		defer a.close()
		for range rapid.IntRange(0, 3).Draw(r, "listeners") {
			a.listen(t, dir, rapid.SampledFrom([]string{"tcp", "tcp with a connection", "closed tcp", "unix", "closed unix", "pipes"}).Draw(r, "listener"),
				rapid.IntRange(0, 30).Draw(r, "polls until the connection is accepted"))
		}
		for range rapid.IntRange(0, 3).Draw(r, "polls with something unread") {
			a.unread[rapid.IntRange(0, 40).Draw(r, "poll")] = true
		}
		if rapid.Bool().Draw(r, "the context ends") {
			a.ends = rapid.IntRange(0, 50).Draw(r, "poll before the end")
		}
		var took time.Duration
		synctest.Test(t, func(t *testing.T) { took = a.run(t) })
		if want := a.want(); took != want {
			r.Fatalf("stopArrivals returned after %v, want %v: %d listeners, %d open TCP sockets, queues empty at poll %d, unread at %v, the context ends behind poll %d",
				took, want, len(a.listeners), len(a.open), a.empty, a.unread, a.ends)
		}
		for _, l := range a.open {
			if !turnsAway(t, l) {
				r.Fatalf("%v does not turn connections away", l.Addr())
			}
		}
		a.resume()
		for _, l := range a.open {
			if turnsAway(t, l) || descriptorsOf(t, l) != 1 {
				r.Fatalf("%v turns connections away after resume, or has %d descriptors, want 1", l.Addr(), descriptorsOf(t, l))
			}
		}
	})
}

// The polls, and how many of them in a row must find nothing.
const (
	pollEvery = 5 * time.Millisecond
	mostPolls = 20
)

// arrivals are listeners, and the polls at which something happens.
type arrivals struct {
	listeners []net.Listener
	open      []*net.TCPListener // of these
	accepts   []func(t *testing.T)
	empty     int // the first poll that finds all queues empty
	unread    map[int]bool
	ends      int // the context ends between this poll and the next
	resume    func()
	clients   []net.Conn
}

func (a *arrivals) close() {
	for _, l := range a.listeners {
		_ = l.Close()
	}
	for _, c := range a.clients {
		_ = c.Close()
	}
}

// listen adds a listener. If kind has a connection, it is accepted between the given poll and the one before.
func (a *arrivals) listen(t *testing.T, dir, kind string, poll int) {
	t.Helper()
	var l net.Listener
	switch kind {
	case "pipes":
		l = newPipes()
	case "unix", "closed unix":
		var err error
		l, err = net.Listen("unix", dir+"/"+strconv.Itoa(len(a.listeners)))
		coretest.Must(t, err)
	default:
		l = listen(t, false)
	}
	a.listeners = append(a.listeners, l)
	switch kind {
	case "closed tcp", "closed unix":
		coretest.Must(t, l.Close())
	case "tcp", "tcp with a connection":
		a.open = append(a.open, l.(*net.TCPListener))
	}
	if kind != "tcp with a connection" || poll == 0 {
		return
	}
	c, err := net.Dial("tcp", l.Addr().String())
	coretest.Must(t, err)
	a.clients = append(a.clients, c)
	raw, _ := rawOf(l)
	coretest.Until(t, "the connection to be in the queue", func() (queued bool) {
		_ = raw.Control(func(fd uintptr) {
			n, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
			queued = n == 1
		})
		return queued
	})
	a.empty = max(a.empty, poll)
	a.accepts = append(a.accepts, func(t *testing.T) {
		time.AfterFunc(time.Duration(poll)*pollEvery-time.Millisecond, func() {
			server, err := l.Accept()
			coretest.Must(t, err)
			coretest.Must(t, server.Close())
		})
	})
}

// run calls stopArrivals, and returns how long it took.
func (a *arrivals) run(t *testing.T) time.Duration {
	for _, accept := range a.accepts {
		accept(t)
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(a.ends)*pollEvery+pollEvery/2)
	defer cancel()
	a.resume = stopArrivals(ctx, a.listeners, func() bool { return a.unread[int(time.Since(began)/pollEvery)] })
	took := time.Since(began)
	time.Sleep(time.Hour) // until the remaining connections are accepted
	return took
}

// want returns how long stopArrivals must take.
func (a *arrivals) want() time.Duration {
	polls := 0
	if len(a.open) > 0 {
		polls = mostPolls
	}
	for poll, quiet := 0, 0; ; poll, quiet = poll+1, quiet+1 {
		if poll > a.ends {
			return time.Duration(a.ends)*pollEvery + pollEvery/2
		}
		if poll < a.empty || a.unread[poll] {
			quiet = -1
		}
		if quiet == polls {
			return time.Duration(poll) * pollEvery
		}
	}
}

// turnsAway reports whether a client gets no answer to its SYN.
func turnsAway(t *testing.T, l *net.TCPListener) bool {
	client, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	coretest.Must(t, err)
	defer unix.Close(client)
	address := l.Addr().(*net.TCPAddr)
	if err := unix.Connect(client, &unix.SockaddrInet4{Port: address.Port, Addr: [4]byte(address.IP.To4())}); err != unix.EINPROGRESS {
		t.Fatalf("connect: got %v, want EINPROGRESS", err)
	}
	info, err := unix.GetsockoptTCPInfo(client, unix.IPPROTO_TCP, unix.TCP_INFO)
	coretest.Must(t, err)
	return info.State == unix.BPF_TCP_SYN_SENT
}
