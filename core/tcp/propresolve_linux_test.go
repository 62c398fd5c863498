package tcp

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// TestPropResolve: an address of an IP and a port, which may be the name of a service or nothing, resolves to that IP and the
// number of the port, without the network. The IP of an empty host is invalid: a listener takes it as every local address, a
// dialler as this machine. An address without a port, or with an unknown one, is an error.
func TestPropResolve(t *testing.T) {
	services := map[string]uint16{"http": 80, "https": 443, "smtp": 25, "": 0}
	check(t, func(r *rapid.T) {
		host := rapid.SampledFrom([]string{"", "", "127.0.0.1", "::1", "::ffff:1.2.3.4", "fe80::1%7"}).Draw(r, "host")
		port := rapid.SampledFrom([]string{"http", "https", "smtp", "", "0", "80", "65535", "65536", "-1", "no such service"}).Draw(r, "port")
		addr := net.JoinHostPort(host, port)
		bare := rapid.SampledFrom([]bool{false, false, false, true}).Draw(r, "without a port")
		if bare {
			addr = host
		}
		got, err := resolve(t.Context(), addr)
		n, known := services[port]
		if number, err := strconv.ParseUint(port, 10, 16); err == nil {
			n, known = uint16(number), true
		}
		if !known || bare {
			if err == nil {
				r.Fatalf("%q resolves to %v, want an error", addr, got)
			}
			return
		}
		ip := netip.Addr{}
		if host != "" {
			ip = netip.MustParseAddr(host).Unmap()
		}
		if want := []netip.AddrPort{netip.AddrPortFrom(ip, n)}; err != nil || !slices.Equal(got, want) {
			r.Fatalf("%q resolves to %v, %v, want %v", addr, got, err, want)
		}
	})
}
