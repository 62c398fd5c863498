//go:build linux

// Package net declares the part of the real package net that core/tcp uses for addresses. Names
// are those of the current kernel.
package net

import (
	"context"
	"net"
	"net/netip"
	"strconv"

	"eventide/props/lanes/sockets/kernel"
)

// Addr is net.Addr.
type Addr = net.Addr

// Functions of package net that make no system call for the addresses of the model.
var (
	SplitHostPort       = net.SplitHostPort
	TCPAddrFromAddrPort = net.TCPAddrFromAddrPort
	InterfaceByName     = net.InterfaceByName
	InterfaceByIndex    = net.InterfaceByIndex
)

// Resolver has the methods of a net.Resolver that core uses.
type Resolver struct{}

// DefaultResolver is net.DefaultResolver.
var DefaultResolver = &Resolver{}

// LookupPort is net.Resolver's, of ports that are numbers.
func (*Resolver) LookupPort(_ context.Context, network, service string) (int, error) {
	port, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		return 0, &net.DNSError{Err: "unknown port", Name: network + "/" + service, IsNotFound: true}
	}
	return int(port), nil
}

// LookupNetIP is net.Resolver's.
func (*Resolver) LookupNetIP(ctx context.Context, _, host string) ([]netip.Addr, error) {
	ips, found := kernel.Current().Lookup(ctx.Done(), host)
	switch {
	case found:
		return ips, nil
	case ctx.Err() != nil: // package net does not say why
		return nil, &net.DNSError{Err: "operation was canceled", Name: host}
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}
