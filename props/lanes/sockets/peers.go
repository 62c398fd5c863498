//go:build linux

package sockets

import (
	"net/netip"
	"time"

	"eventide/props/lanes/sockets/kernel"
)

// keep closes p at the end of the run, or at once if the run has ended.
func (r *run) keep(p *kernel.Peer) *kernel.Peer {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		p.Close(false)
	}
	r.peers = append(r.peers, p)
	return p
}

// closePeers closes the sockets of all peers.
func (r *run) closePeers() {
	r.mu.Lock()
	r.over = true
	peers := r.peers
	r.mu.Unlock()
	for _, p := range peers {
		p.Close(false)
	}
}

// connect makes the connection, and plays the peer.
func (c *conn) connect() {
	c.r.sleepUntil(c.spec.At)
	var peer *kernel.Peer
	switch {
	case c.r.group != nil && (c.spec.Embedded || c.spec.Dialled):
		peer = c.register()
	case c.spec.Embedded:
		peer = c.embed()
	case c.spec.Dialled:
		peer = c.coreDials()
	default:
		peer = c.peerDials()
	}
	if peer == nil {
		return
	}
	c.r.actors.Go(func() { c.playReader(peer) })
	c.playWriter(peer)
}

// peerDials connects the peer to the listener.
func (c *conn) peerDials() *kernel.Peer {
	if c.r.addr == nil {
		return nil
	}
	peer := c.r.keep(c.r.k.NewPeer(c.spec.Send, c.spec.Recv))
	c.setPeer(peer)
	at, err := netip.ParseAddrPort(c.r.addr.String())
	if err != nil {
		c.r.violate("the address of the listener: %v", err)
		return nil
	}
	if at.Addr().IsUnspecified() {
		at = netip.AddrPortFrom(loopbackOf(c.spec.IPv6 && at.Addr().Is6()), at.Port())
	}
	if peer.Connect(at) != 0 {
		return nil
	}
	return peer
}

// listen returns a socket of the peer that listens on this machine, or nil.
func (c *conn) listen() *kernel.Peer {
	l := c.r.keep(c.r.k.NewPeer(c.spec.Send, c.spec.Recv))
	if errno := l.Listen(netip.AddrPortFrom(loopbackOf(c.spec.IPv6 && !c.spec.Embedded), 0), 8); errno != 0 {
		c.r.violate("a peer cannot listen: %v", errno)
		return nil
	}
	return l
}

func loopbackOf(ipv6 bool) netip.Addr {
	if ipv6 {
		return netip.IPv6Loopback()
	}
	return netip.AddrFrom4([4]byte{127, 0, 0, 1})
}

// playWriter performs the steps of the peer's writer.
func (c *conn) playWriter(peer *kernel.Peer) {
	sent := 0
	for _, step := range c.spec.Writer {
		time.Sleep(milliseconds(step.Wait))
		switch step.Kind {
		case "send":
			b := make([]byte, step.N)
			for i := range b {
				b[i] = inputByte(sent + i)
			}
			n, errno := peer.Send(b)
			sent += n
			if errno != 0 {
				return
			}
		case "end":
			peer.ShutdownOutput()
		case "close", "reset":
			peer.Close(step.Kind == "reset")
			return
		}
	}
}

// playReader performs the steps of the peer's reader.
func (c *conn) playReader(peer *kernel.Peer) {
	for _, step := range c.spec.Reader {
		time.Sleep(milliseconds(step.Wait))
		for left := step.N; step.Kind == "drain" || left > 0; {
			size := 4096
			if step.Kind != "drain" {
				size = left
			}
			n, errno := peer.Receive(make([]byte, size))
			if errno != 0 {
				return
			}
			if n == 0 {
				if c.spec.CloseOnEnd {
					peer.Close(false)
				}
				return
			}
			left -= n
		}
	}
}

// inputByte is the byte that a peer sends at an offset.
func inputByte(at int) byte { return byte(at*7 + at>>8) }
