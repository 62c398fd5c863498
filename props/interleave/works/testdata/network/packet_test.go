package network

import (
	"net"
	"testing"
	"time"
)

func TestPackets(t *testing.T) {
	s := begin(t)
	a := must(net.ListenPacket("udp", "127.0.0.1:0"))(s)
	defer a.Close()
	c := must(net.Dial("udp", a.LocalAddr().String()))(s)
	s.say("%v %s %s", kinds(a, c), c.LocalAddr(), c.RemoteAddr())
	s.write("client", c, "one")
	s.write("client", c, "second")
	s.write("client", c, "")
	b := make([]byte, 3)
	for range 3 {
		n, from, err := a.ReadFrom(b)
		s.say("%d %q %v %v", n, b[:n], from.String() == c.LocalAddr().String(), err)
	}
	n, err := a.WriteTo([]byte("answer"), c.LocalAddr())
	s.say("%d %v", n, err)
	m, oobn, flags, from, err := c.(*net.UDPConn).ReadMsgUDP(b, nil)
	s.say("%d %q %d %#x %v %v", m, b, oobn, flags, from != nil && from.String() == a.LocalAddr().String(), err)
	n, err = c.Write(make([]byte, 70000))
	s.say("%d %v", n, err)
	a.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	_, _, err = a.ReadFrom(b)
	s.say("%v", err)
	_, err = net.ListenPacket("udp", a.LocalAddr().String())
	s.say("%v", err)
	done := make(chan error)
	go func() { _, err := c.Read(b); done <- err }()
	blocked()
	c.Close()
	s.say("%v", <-done)
}

func TestPacketsRefused(t *testing.T) {
	s := begin(t)
	a := must(net.ListenPacket("udp", "127.0.0.1:0"))(s)
	c := must(net.Dial("udp", a.LocalAddr().String()))(s)
	defer c.Close()
	a.Close()
	s.write("client", c, "nobody")
	s.read("client", c, 1)
	s.write("client", c, "nobody")
	s.write("client", c, "nobody")
	free := must(net.ListenPacket("udp", ":0"))(s)
	n, err := free.WriteTo([]byte("x"), a.LocalAddr())
	s.say("%d %v", n, err)
	s.say("%s, close %v", free.LocalAddr(), free.Close())
	_, err = free.WriteTo([]byte("x"), a.LocalAddr())
	s.say("%v", err)
}
