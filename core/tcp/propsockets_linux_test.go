package tcp_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// TestPropListenWithoutIPv6: on a system that has no IPv6, a listener on every address listens on all of IPv4, unless the caller
// wants IPv6. Any other error of the IPv6 socket is that of Listen. An address of IPv4 needs no IPv6. No socket is left open.
func TestPropListenWithoutIPv6(t *testing.T) {
	coretest.CheckLeaks(t)
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		t.Fatal(err)
	}
	g, port := coretest.NewGroup(t, 1), sharedPort(t)
	rapid.Check(t, func(r *rapid.T) {
		host := rapid.SampledFrom([]string{"", "0.0.0.0", "[::]", "127.0.0.1", "[::1]"}).Draw(r, "host")
		errno := rapid.SampledFrom([]syscall.Errno{unix.EAFNOSUPPORT, unix.EPROTONOSUPPORT, unix.EADDRNOTAVAIL, unix.EADDRINUSE, unix.EACCES}).Draw(r, "error of an IPv6 socket")
		failing4 := rapid.IntRange(0, 3).Draw(r, "an IPv4 socket fails") == 0
		var families []int
		l, err := tcp.Listen(g, g, fmt.Sprint(host, ":", port), newEcho, tcp.WithReusePort(true), tcp.WithSocketHook(func(fd int) error {
			family := option(t, fd, unix.SO_DOMAIN)
			families = append(families, family)
			switch {
			case family == unix.AF_INET6:
				return errno
			case failing4:
				return unix.ENOBUFS
			}
			return nil
		}))
		only4 := host == "127.0.0.1"
		none := errno == unix.EAFNOSUPPORT || errno == unix.EPROTONOSUPPORT || errno == unix.EADDRNOTAVAIL
		then4 := (host == "" || host == "0.0.0.0") && none
		var want []int
		wantErr := error(errno)
		if !only4 {
			want = append(want, unix.AF_INET6)
		}
		if only4 || then4 {
			want = append(want, unix.AF_INET)
			if wantErr = nil; failing4 {
				wantErr = unix.ENOBUFS
			}
		}
		if fmt.Sprint(families) != fmt.Sprint(want) || !errors.Is(err, wantErr) {
			r.Fatalf("Listen on %q made sockets of the families %v, %v; want %v, %v", host, families, err, want, wantErr)
		}
		if err != nil {
			return
		}
		if addr := l.Addr().(*net.TCPAddr); addr.IP.IsUnspecified() == only4 || addr.Port != port {
			r.Fatalf("Listen on %q listens on %v, want port %d", host, addr, port)
		}
		coretest.Must(t, coretest.AwaitErr(t, "the close", l.Close()))
	})
}

// sharedPort returns a port of IPv4 that a socket of the test keeps from all sockets without SO_REUSEPORT.
func sharedPort(t *testing.T) int {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	coretest.Must(t, err)
	t.Cleanup(func() { _ = unix.Close(fd) })
	coretest.Must(t, unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1))
	coretest.Must(t, unix.Bind(fd, &unix.SockaddrInet4{}))
	addr, err := unix.Getsockname(fd)
	coretest.Must(t, err)
	return addr.(*unix.SockaddrInet4).Port
}

// TestCloseThatASignalInterrupts is complete: Linux has closed the descriptor.
func TestCloseThatASignalInterrupts(t *testing.T) {
	coretest.CheckLeaks(t)
	interrupted := tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
		if op == "close" {
			return n, syscall.EINTR
		}
		return n, 0
	})
	p := newPair(t, nil, interrupted)
	coretest.WantErr(t, "Close of a channel", coretest.AwaitErr(t, "it", p.ch.Close()), nil)
	l, err := tcp.Listen(p.group, p.group, "127.0.0.1:0", newEcho, interrupted)
	coretest.Must(t, err)
	coretest.WantErr(t, "Close of a listener", coretest.AwaitErr(t, "it", l.Close()), nil)
}

// TestErrorOfWhatIsNoSocket is that of the kernel, and not none: a dial would take none as an established connection.
func TestErrorOfWhatIsNoSocket(t *testing.T) {
	r, w, err := os.Pipe()
	coretest.Must(t, err)
	defer r.Close()
	defer w.Close()
	coretest.Want(t, "the error of a pipe", tcp.SocketError(int(r.Fd())), syscall.ENOTSOCK)
	coretest.Want(t, "the error of what is not open", tcp.SocketError(1<<20), syscall.EBADF)
}

// TestPropZones: each number of an interface has a name, which stands for that number: the name of the interface, or the digits if
// there is none. A name of no interface is 0.
func TestPropZones(t *testing.T) {
	all, err := net.Interfaces()
	coretest.Must(t, err)
	names := map[uint32]string{}
	for _, i := range all {
		names[uint32(i.Index)] = i.Name
	}
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(r *rapid.T) {
		id := rapid.OneOf(rapid.Uint32Range(1, 4), rapid.Uint32()).Draw(r, "number")
		want, known := names[id]
		if !known {
			want = fmt.Sprint(id)
		}
		if got := tcp.ZoneName(id); got != want || tcp.ZoneID(got) != id {
			r.Fatalf("the name of %d is %q, want %q; its number is %d", id, got, want, tcp.ZoneID(got))
		}
		other := rapid.SampledFrom([]string{"", "no such interface", "-1", "4294967296", "1x"}).Draw(r, "another name")
		if got := tcp.ZoneID(other); got != 0 && other != "4294967296" {
			r.Fatalf("the number of %q is %d, want 0", other, got)
		}
	})
}

func init() { children["no socket"] = childWithoutSockets }

// TestNoDescriptorForASocket: Dial and Listen return the error of socket(2), and take nothing; they succeed when there are
// descriptors again.
func TestNoDescriptorForASocket(t *testing.T) {
	runChild(t, "no socket")
}

func childWithoutSockets() {
	g, err := core.NewGroup(1)
	fails := func(what string, err error) {
		fmt.Println(what, err)
		os.Exit(1)
	}
	if err != nil {
		fails("NewGroup:", err)
	}
	l, err := tcp.Listen(g, g, "127.0.0.1:0", newEcho)
	if err != nil {
		fails("Listen:", err)
	}
	dial := func(h tcp.Handler) (*tcp.Channel, error) {
		return tcp.DialEach(context.Background(), g, h, []netip.AddrPort{netip.MustParseAddrPort(l.Addr().String())})
	}
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		fails("Getrlimit:", err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 1, Max: before.Max}); err != nil {
		fails("Setrlimit:", err)
	}
	_, dialErr := dial(tcp.HandlerBase{})
	_, listenErr := tcp.Listen(g, g, "127.0.0.1:0", newEcho)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		fails("Setrlimit:", err)
	}
	const text = "socket: too many open files"
	if !errors.Is(dialErr, unix.EMFILE) || !strings.HasSuffix(dialErr.Error(), "tcp: Dial name: "+text) {
		fails("Dial:", dialErr)
	}
	if !errors.Is(listenErr, unix.EMFILE) || listenErr.Error() != "tcp: Listen 127.0.0.1:0: "+text {
		fails("Listen:", listenErr)
	}
	if _, err := dial(tcp.HandlerBase{}); err != nil {
		fails("Dial:", err)
	}
	if err := g.Close(); err != nil {
		fails("Close:", err)
	}
	fmt.Println("ok")
}
