package tcp_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// dialled is an address of a generated name, and what happens when it is dialled.
type dialled struct {
	addr  netip.AddrPort
	what  string // "listens", "refuses", "itself", "no socket" or "the context ends"
	times int    // if what is "itself": how many sockets get the very address that they dial
	errno syscall.Errno
}

// sockets is how many sockets a dial of the address makes.
func (d dialled) sockets() int {
	if d.what == "itself" {
		return min(d.times+1, 3)
	}
	return 1
}

// ownHost is an address of this machine that no other test uses.
var ownHost = [4]byte{127, 9, 8, 7}

// boundAddr returns an address on which nobody listens, and which the kernel gives to no other socket.
func boundAddr(t *testing.T) netip.AddrPort {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	coretest.Must(t, err)
	t.Cleanup(func() { _ = unix.Close(fd) })
	coretest.Must(t, unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	sa, err := unix.Getsockname(fd)
	coretest.Must(t, err)
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(sa.(*unix.SockaddrInet4).Port))
}

var errEnough = errors.New("enough")

// TestPropDialOfEachAddress: a dial tries the addresses of a name in turn until one answers. It never connects to itself
// (G22). Its error has one line for each address that it has tried, and then the cause of the context, if that has ended. A
// dial that fails calls no handler, and leaves no descriptor (G24).
func TestPropDialOfEachAddress(t *testing.T) {
	coretest.CheckLeaks(t)
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		t.Fatal(err)
	}
	g := coretest.NewGroup(t, 1)
	l, err := listenForPeers()
	coretest.Must(t, err)
	defer l.Close()
	open, closed := netip.MustParseAddrPort(l.Addr().String()), boundAddr(t)
	coretest.OnLoop(t, g, func() {})
	rapid.Check(t, func(r *rapid.T) {
		var all []dialled
		for range rapid.IntRange(1, 4).Draw(r, "addresses") {
			d := dialled{addr: closed, what: rapid.SampledFrom([]string{"refuses", "listens", "itself", "no socket", "the context ends"}).Draw(r, "address")}
			switch d.what {
			case "listens":
				d.addr = open
			case "itself":
				d.addr = netip.AddrPortFrom(netip.AddrFrom4(ownHost), uint16(deadPort(t)))
				d.times = rapid.SampledFrom([]int{1, 2, 3, 100}).Draw(r, "times")
			case "no socket", "the context ends":
				d.errno = rapid.SampledFrom([]syscall.Errno{syscall.EADDRNOTAVAIL, syscall.ENOBUFS}).Draw(r, "errno")
			}
			all = append(all, d)
		}
		checkDial(t, r, g, l, all, rapid.SampledFrom([]bool{false, false, false, true}).Draw(r, "the context has ended before"))
	})
}

func checkDial(t *testing.T, r *rapid.T, g *core.Group, l net.Listener, all []dialled, ended bool) {
	var wantLines []string
	var wantSockets int
	var wantAddr netip.AddrPort
	line := func(err error) { wantLines = append(wantLines, fmt.Sprintf("tcp: Dial name: %v", err)) }
	if ended {
		line(errEnough)
	}
	for _, d := range all {
		if ended || wantAddr.IsValid() {
			break
		}
		wantSockets += d.sockets()
		switch d.what {
		case "listens":
			wantAddr = d.addr
		case "the context ends":
			ended = true
			line(errEnough)
		case "no socket":
			line(d.errno)
		default:
			line(fmt.Errorf("connect: %w", syscall.ECONNREFUSED))
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	if wantSockets == 0 {
		cancel(errEnough)
	}
	sockets := 0
	hook := tcp.WithSocketHook(func(fd int) error {
		nth, i := sockets, 0 // the nth socket of address i
		sockets++
		for ; i < len(all)-1 && nth >= all[i].sockets(); i++ {
			nth -= all[i].sockets()
		}
		switch d := all[i]; {
		case d.what == "itself" && nth < d.times:
			return unix.Bind(fd, &unix.SockaddrInet4{Port: int(d.addr.Port()), Addr: ownHost})
		case d.what == "itself":
			return unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
		case d.what == "the context ends":
			cancel(errEnough)
			return d.errno
		case d.what == "no socket":
			return d.errno
		}
		return nil
	})
	var addrs []netip.AddrPort
	for _, d := range all {
		addrs = append(addrs, d.addr)
	}
	before, h := coretest.Descriptors(t), &recorder{}
	ch, err := tcp.DialEach(ctx, g, h, addrs, hook)
	if ch != nil {
		if ch.RemoteAddr().String() == l.Addr().String() {
			peer, err := l.Accept() // or the queue of l is full after many dials
			coretest.Must(t, err)
			_ = peer.Close()
		}
		coretest.AwaitErr(t, "the close", ch.Close())
	}
	if sockets != wantSockets {
		r.Fatalf("G22: %d sockets, want %d", sockets, wantSockets)
	}
	if wantAddr.IsValid() {
		if err != nil || ch.RemoteAddr().String() != wantAddr.String() || ch.LocalAddr().String() == wantAddr.String() {
			r.Fatalf("Dial returned the channel %v and the error %v, want a channel to %v", ch, err, wantAddr)
		}
	} else if want := strings.Join(wantLines, "\n"); ch != nil || err == nil || err.Error() != want {
		r.Fatalf("Dial returned the channel %v and the error %v, want %q", ch, err, want)
	}
	coretest.Until(t, "the end of all registrations", func() bool { return g.Stats().Registrations == 0 })
	if called := h.String() != ""; called != wantAddr.IsValid() {
		r.Fatalf("the handler was called with %q", h.String())
	}
	if after := coretest.Descriptors(t); !slices.Equal(before, after) {
		r.Fatalf("G24: descriptors %q, before %q", after, before)
	}
}
