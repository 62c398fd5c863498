package process

import (
	"crypto/tls"
	"flag"
	"slices"
	"testing"

	"eventide/core/internal/coretest"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// TestPropFilterOfArrivals attaches the filter of dropSYN to a datagram socket, and sends generated TCP headers with
// data to it. The kernel drops those with SYN and without ACK, whatever the other bits are, and delivers all others whole.
func TestPropFilterOfArrivals(t *testing.T) {
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		t.Fatal(err)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	coretest.Must(t, err)
	sender, receiver := pair[0], pair[1]
	defer func() { _, _ = unix.Close(sender), unix.Close(receiver) }()
	program := unix.SockFprog{Len: uint16(len(onlyBegun)), Filter: &onlyBegun[0]}
	coretest.Must(t, unix.SetsockoptSockFprog(receiver, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &program))
	const syn, ack = 0x02, 0x10
	rapid.Check(t, func(r *rapid.T) {
		size := rapid.SampledFrom([]int{20, 21, 60, 1500, 16 << 10}).Draw(r, "size")
		segment := make([]byte, size)
		copy(segment, rapid.SliceOfN(rapid.Byte(), 20, 60).Draw(r, "header"))
		flags := &segment[13]
		if rapid.Bool().Draw(r, "SYN and ACK alone") {
			*flags &= syn | ack
		}
		coretest.Must(t, unix.Send(sender, segment, 0))
		got := make([]byte, size+1)
		n, err := unix.Read(receiver, got)
		dropped := err == unix.EAGAIN
		if want := *flags&(syn|ack) == syn; dropped != want || !dropped && (err != nil || !slices.Equal(got[:n], segment)) {
			r.Fatalf("a segment of %d bytes with the flags %#x: dropped %v, %d bytes arrived, %v; want dropped %v", size, *flags, dropped, n, err, want)
		}
	})
}

// TestReceivedLooksBelowTLS: a TLS connection has sent nothing until a byte of its client has arrived.
func TestReceivedLooksBelowTLS(t *testing.T) {
	client, server := connected(t)
	secure := tls.Server(server, &tls.Config{})
	coretest.Want(t, "bytes before the first one", received(secure), int64(0))
	_, err := client.Write([]byte{22})
	coretest.Must(t, err)
	coretest.Until(t, "the byte to arrive", func() bool { return received(secure) == 1 })
}
