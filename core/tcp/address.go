package tcp

import (
	"context"
	"net"
	"net/netip"
	"strconv"
)

// literal parses an address that needs no look-up. For an empty host the IP is invalid:
// a listener takes it as every local address, a dialler as this machine.
func literal(addr string) (netip.AddrPort, bool) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return netip.AddrPort{}, false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return netip.AddrPort{}, false
	}
	var ip netip.Addr
	if host != "" {
		if ip, err = netip.ParseAddr(host); err != nil {
			return netip.AddrPort{}, false
		}
	}
	return netip.AddrPortFrom(ip.Unmap(), uint16(n)), true
}

// resolve returns the addresses that addr names, at least one. It may wait for the
// network.
func resolve(ctx context.Context, addr string) ([]netip.AddrPort, error) {
	if a, ok := literal(addr); ok {
		return []netip.AddrPort{a}, nil
	}
	host, service, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	port, err := net.DefaultResolver.LookupPort(ctx, "tcp", service)
	if err != nil {
		return nil, err
	}
	if ip, err := netip.ParseAddr(host); err == nil || host == "" { // LookupNetIP would lose the zone
		return []netip.AddrPort{netip.AddrPortFrom(ip.Unmap(), uint16(port))}, nil
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host) // at least one, or an error
	if err != nil {
		return nil, err
	}
	addrs := make([]netip.AddrPort, len(ips))
	for i, ip := range ips {
		addrs[i] = netip.AddrPortFrom(ip.Unmap(), uint16(port))
	}
	return addrs, nil
}

// firstIPv4 returns the address to listen on: like package net, the first IPv4 address,
// or the first address if none is IPv4.
func firstIPv4(addrs []netip.AddrPort) netip.AddrPort {
	for _, a := range addrs {
		if a.Addr().Is4() {
			return a
		}
	}
	return addrs[0]
}

// zoneID returns the interface index of the zone of a link-local IPv6 address; 0 for no zone.
func zoneID(zone string) uint32 {
	if ifi, err := net.InterfaceByName(zone); err == nil {
		return uint32(ifi.Index)
	}
	n, _ := strconv.ParseUint(zone, 10, 32)
	return uint32(n)
}

// zoneName is the inverse of zoneID.
func zoneName(id uint32) string {
	if ifi, err := net.InterfaceByIndex(int(id)); err == nil {
		return ifi.Name
	}
	return strconv.FormatUint(uint64(id), 10)
}

// netAddr converts a to a net.Addr; nil if a is not valid.
func netAddr(a netip.AddrPort) net.Addr {
	if !a.IsValid() {
		return nil
	}
	return net.TCPAddrFromAddrPort(a)
}
