package tcp

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
)

// literal parses an address that needs no look-up. An empty host gives an invalid
// IP: every local address to a listener, this machine to a dialler.
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

// resolve returns the addresses that addr names, at least one. It may ask the
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
	if host == "" {
		return []netip.AddrPort{netip.AddrPortFrom(netip.Addr{}, uint16(port))}, nil
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	if len(ips) == 0 {
		return nil, fmt.Errorf("%q has no address", host)
	}
	addrs := make([]netip.AddrPort, len(ips))
	for i, ip := range ips {
		addrs[i] = netip.AddrPortFrom(ip.Unmap(), uint16(port))
	}
	return addrs, nil
}

// firstIPv4 is where to listen for a name: as in package net the first IPv4 address, or
// else the first of all.
func firstIPv4(addrs []netip.AddrPort) netip.AddrPort {
	for _, a := range addrs {
		if a.Addr().Is4() {
			return a
		}
	}
	return addrs[0]
}

// zoneID and zoneName translate the zone of a link-local IPv6 address.
func zoneID(zone string) uint32 {
	if zone == "" {
		return 0
	}
	if ifi, err := net.InterfaceByName(zone); err == nil {
		return uint32(ifi.Index)
	}
	n, _ := strconv.ParseUint(zone, 10, 32)
	return uint32(n)
}

func zoneName(id uint32) string {
	if ifi, err := net.InterfaceByIndex(int(id)); err == nil {
		return ifi.Name
	}
	return strconv.FormatUint(uint64(id), 10)
}

// netAddr is a as package net has it; nil if it is not known.
func netAddr(a netip.AddrPort) net.Addr {
	if !a.IsValid() {
		return nil
	}
	return net.TCPAddrFromAddrPort(a)
}
