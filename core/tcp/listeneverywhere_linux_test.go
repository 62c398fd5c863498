package tcp_test

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"

	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// TestListenEverywhere: every way to name all local addresses means the same as in package
// net, which listens on both families where there are two, and refuses an IPv6 address where
// there is no IPv6.
func TestListenEverywhere(t *testing.T) {
	for _, host := range []string{"", "0.0.0.0", "[::]", "[::ffff:0.0.0.0]", "[::%lo]"} {
		t.Run(host, func(t *testing.T) {
			coretest.CheckLeaks(t)
			model, want := net.Listen("tcp", host+":0")
			g := coretest.NewGroup(t, 1)
			l, err := tcp.Listen(g, g, host+":0", newEcho)
			if (err == nil) != (want == nil) {
				t.Fatalf("Listen: %v, and %v with package net", err, want)
			}
			if err != nil {
				return
			}
			defer model.Close()
			for _, peer := range []string{"127.0.0.1", "::1"} {
				want, got := reaches(model.Addr(), peer), reaches(l.Addr(), peer)
				if got != want {
					t.Errorf("%s reaches a listener on %q: %v, and %v with package net", peer, host, got, want)
				}
			}
		})
	}
}

// reaches reports whether a dial to the listener's port at host succeeds.
func reaches(a net.Addr, host string) bool {
	c, err := net.Dial("tcp", net.JoinHostPort(host, fmt.Sprint(a.(*net.TCPAddr).Port)))
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

// TestListenEverywhereButOnATakenPort: a port that is taken for one of the two families
// is an error. Listening on the other family alone would be wrong.
func TestListenEverywhereButOnATakenPort(t *testing.T) {
	coretest.CheckLeaks(t)
	g := coretest.NewGroup(t, 1)
	for family, hosts := range map[string][]string{"tcp4": {"", "0.0.0.0"}, "tcp6": {"", "0.0.0.0", "[::]"}} {
		taken, err := net.Listen(family, ":0")
		switch {
		case err == nil:
			defer taken.Close()
		case family == "tcp4":
			t.Fatal(err)
		default: // a machine without IPv6 has no such port to be taken
			continue
		}
		for _, host := range hosts {
			addr := fmt.Sprintf("%s:%d", host, taken.Addr().(*net.TCPAddr).Port)
			l, err := tcp.Listen(g, g, addr, newEcho)
			if !errors.Is(err, syscall.EADDRINUSE) {
				t.Errorf("%s port taken: Listen on %s: got error %v, want %v", family, addr, err, syscall.EADDRINUSE)
			}
			if err == nil {
				t.Errorf("it listens on %v", l.Addr())
			}
		}
	}
}

// TestListenWithoutIPv6 checks which errors of an IPv6 socket mean that there is no IPv6, so
// that the listener uses IPv4 alone.
func TestListenWithoutIPv6(t *testing.T) {
	for errno, want := range map[syscall.Errno]bool{
		syscall.EAFNOSUPPORT: true, syscall.EPROTONOSUPPORT: true, syscall.EADDRNOTAVAIL: true,
		syscall.EADDRINUSE: false, syscall.EACCES: false, syscall.EPERM: false, syscall.EMFILE: false,
		syscall.ENFILE: false, syscall.ENOBUFS: false, syscall.ENOMEM: false, syscall.EINVAL: false,
	} {
		for _, call := range []string{"socket", "bind", "listen"} {
			if got := tcp.NoIPv6(os.NewSyscallError(call, errno)); got != want {
				t.Errorf("%s: %v means that there is no IPv6: got %v, want %v", call, errno, got, want)
			}
		}
	}
	if tcp.NoIPv6(nil) {
		t.Error("no error means that there is no IPv6")
	}
}

// TestListenOnAName is which address of a name it takes: the one that package net would.
func TestListenOnAName(t *testing.T) {
	for name, c := range map[string]struct {
		addrs []string
		want  string
	}{
		"one":            {[]string{"[::1]:7"}, "[::1]:7"},
		"IPv4 first":     {[]string{"127.0.0.1:7", "127.0.0.2:7", "[::1]:7"}, "127.0.0.1:7"},
		"IPv4 last":      {[]string{"[::1]:7", "[::2]:7", "127.0.0.1:7"}, "127.0.0.1:7"},
		"IPv6 only":      {[]string{"[::1]:7", "[::2]:7"}, "[::1]:7"},
		"the empty host": {[]string{""}, "invalid AddrPort"},
	} {
		var addrs []netip.AddrPort
		for _, a := range c.addrs {
			addr, _ := netip.ParseAddrPort(a)
			addrs = append(addrs, addr)
		}
		if got := tcp.FirstIPv4(addrs); got.String() != c.want {
			t.Errorf("%s: of %v it takes %v, want %v", name, addrs, got, c.want)
		}
	}
}

// TestG22ListenWithoutAnAddress listens on a free port of every address, as package net does
// with "tcp" and "".
func TestG22ListenWithoutAnAddress(t *testing.T) {
	coretest.CheckLeaks(t)
	theirs, err := net.Listen("tcp", "")
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	g := coretest.NewGroup(t, 1)
	ours, err := tcp.Listen(g, g, "", newEcho)
	if err != nil {
		t.Fatalf("G22: Listen(%q): %v; package net listens", "", err)
	}
	got, want := ours.Addr().(*net.TCPAddr), theirs.Addr().(*net.TCPAddr)
	if got.Port == 0 || !got.IP.Equal(want.IP) {
		t.Errorf("G22: Listen(%q) listens on %v, package net on %v", "", got, want)
	}
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", got.Port))
	if err != nil {
		t.Fatal(err)
	}
	mustEcho(t, conn)
	_ = conn.Close()
	coretest.AwaitErr(t, "the close", ours.Close())
	if _, err := tcp.Dial(t.Context(), g, "", tcp.HandlerBase{}); err == nil {
		t.Error("G22: Dial of an empty address: got no error, want one as in package net")
	}
}
