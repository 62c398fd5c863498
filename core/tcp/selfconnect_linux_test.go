package tcp_test

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"syscall"
	"testing"

	"eventide/core/internal/coretest"
	"eventide/core/tcp"

	"golang.org/x/sys/unix"
)

// deadPort returns a local port without a listener.
func deadPort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// TestG22DialNeverConnectsToItself: the kernel gives a dialling socket the very address that
// it dials, and the handshake with itself succeeds. The dial closes it and tries again, with
// another port; a dial that gets that address each time is refused, like one without a listener.
func TestG22DialNeverConnectsToItself(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "0.0.0.0", ""} {
		for _, times := range []int{1, 2, 3, 100} {
			t.Run(fmt.Sprintf("%q, %d times", host, times), func(t *testing.T) {
				coretest.CheckLeaks(t)
				port := deadPort(t)
				var sockets atomic.Int32
				bindFirst := tcp.WithSocketHook(func(fd int) error {
					if int(sockets.Add(1)) > times {
						return nil
					}
					return unix.Bind(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
				})
				ch, err := tcp.Dial(context.Background(), coretest.NewGroup(t, 1), fmt.Sprintf("%s:%d", host, port), tcp.HandlerBase{}, bindFirst)
				coretest.WantErr(t, "G22: a dial of an address that nobody listens on", err, syscall.ECONNREFUSED)
				if ch != nil {
					t.Errorf("G22: connected %v to %v", ch.LocalAddr(), ch.RemoteAddr())
				}
				if n := int(sockets.Load()); n != min(times+1, 3) {
					t.Errorf("G22: %d sockets, want %d: as many attempts as package net makes", n, min(times+1, 3))
				}
			})
		}
	}
}

// TestG22DialsOfADeadPort dials again and again, with few local ports to choose from if the
// kernel supports that (Linux 6.3): one of them is the dialled port.
func TestG22DialsOfADeadPort(t *testing.T) {
	coretest.CheckLeaks(t)
	port := deadPort(t)
	const few, optionPortRange = 4, 51 // IP_LOCAL_PORT_RANGE
	least := max(1024, port-few/2)
	narrow := tcp.WithSocketHook(func(fd int) error {
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_IP, optionPortRange, min(least+few, 65535)<<16|least)
		return nil
	})
	g := coretest.NewGroup(t, 1)
	for i := range 200 {
		ch, err := tcp.Dial(context.Background(), g, fmt.Sprintf("127.0.0.1:%d", port), tcp.HandlerBase{}, narrow)
		if err == nil {
			t.Fatalf("G22: dial %d connected %v to %v", i, ch.LocalAddr(), ch.RemoteAddr())
		}
	}
}
