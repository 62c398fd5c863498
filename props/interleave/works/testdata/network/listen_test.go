package network

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestRefused(t *testing.T) {
	s := begin(t)
	l := s.listen("tcp")
	l.Close()
	_, err := net.Dial("tcp", l.Addr().String())
	s.say("%v", err)
	_, err = net.Dial("unix", filepath.Join(s.dir, "none"))
	s.say("%v", err)
	_, err = net.Dial("unix", s.dir)
	s.say("%v", err)
}

func TestInUse(t *testing.T) {
	s := begin(t)
	l := s.listen("tcp")
	_, err := net.Listen("tcp", l.Addr().String())
	s.say("%v", err)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	_, err = net.Listen("tcp4", ":"+port)
	s.say("%v", err)
	_, err = net.Listen("tcp", ":"+port)
	s.say("%v", err)
	other, err := net.Listen("tcp", "127.0.0.2:"+port)
	s.say("another address %v", err)
	if err == nil {
		other.Close()
	}
	_, err = net.Listen("tcp", "127.0.0.1:99999")
	s.say("%v", err)
	c := must(net.Dial("tcp", l.Addr().String()))(s)
	a := must(l.Accept())(s)
	l.Close()
	again, err := net.Listen("tcp", l.Addr().String())
	s.say("while a connection lives %v", err)
	if err == nil {
		again.Close()
	}
	_, err = (&net.Dialer{LocalAddr: c.LocalAddr()}).Dial("tcp", l.Addr().String())
	s.say("%v", err)
	c.Close()
	a.Close()
}

func TestWildcard(t *testing.T) {
	s := begin(t)
	for _, network := range []string{"tcp", "tcp4", "tcp6"} {
		l := must(net.Listen(network, ":0"))(s)
		s.say("%s %s", network, l.Addr())
		_, port, _ := net.SplitHostPort(l.Addr().String())
		for _, host := range []string{"127.0.0.1", "127.0.0.9", "[::1]", "localhost", ""} {
			if network == "tcp6" && host == "localhost" {
				continue // depends on the host's table
			}
			c, err := net.Dial("tcp", host+":"+port)
			if err != nil {
				s.say("%q %v", host, err)
				continue
			}
			a := must(l.Accept())(s)
			s.say("%q client %s %s, server %s %s", host, c.LocalAddr(), c.RemoteAddr(), a.LocalAddr(), a.RemoteAddr())
			c.Close()
			a.Close()
		}
		l.Close()
	}
}

// Connections that nobody has accepted are reset when the listener is closed.
func TestNotAccepted(t *testing.T) {
	networks(t, func(s *script, network string) {
		l := s.listen(network)
		c := must(net.Dial(network, l.Addr().String()))(s)
		s.write("client", c, "hello")
		l.Close()
		s.read("client", c, 1)
		s.read("client", c, 1)
		s.write("client", c, "x")
		c.Close()
	})
}

func TestDialContext(t *testing.T) {
	networks(t, func(s *script, network string) {
		l := s.listen(network)
		ctx, cancel := context.WithCancel(context.Background())
		c, err := (&net.Dialer{}).DialContext(ctx, network, l.Addr().String())
		s.say("%v", err)
		cancel()
		s.write("client", c, "goes on")
		c.Close()
		_, err = (&net.Dialer{}).DialContext(ctx, network, l.Addr().String())
		s.say("%v", err)
		_, err = (&net.Dialer{Deadline: time.Now().Add(-time.Second)}).Dial(network, l.Addr().String())
		s.say("%v", err)
	})
}

// Names of the unix domain.
func TestNames(t *testing.T) {
	s := begin(t)
	name := filepath.Join(s.dir, "s")
	l := must(net.Listen("unix", name))(s)
	st, err := os.Stat(name)
	s.say("%v %v", st.Mode().Type(), err)
	_, err = net.Listen("unix", name)
	s.say("%v", err)
	l.Close()
	_, err = os.Stat(name)
	s.say("%v", os.IsNotExist(err))
	l = must(net.Listen("unix", name))(s)
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	_, err = net.Dial("unix", name)
	s.say("stale %v", err)
	_, err = net.Listen("unix", name)
	s.say("stale %v", err)
	os.Remove(name)
	_, err = net.Listen("unix", filepath.Join(s.dir, "no", "folder"))
	s.say("%v", err)
	_, err = net.Listen("unix", strings.Repeat("x", 200))
	s.say("%v", err)
	l = must(net.Listen("unix", "@interleave-"+filepath.Base(s.dir)))(s)
	_, err = net.Listen("unix", l.Addr().String())
	s.say("abstract in use %v", err != nil)
	c := must(net.Dial("unix", l.Addr().String()))(s)
	a := must(l.Accept())(s)
	s.say("%q %q", c.LocalAddr(), a.RemoteAddr())
	c.Close()
	a.Close()
	l.Close()
	_, err = net.Dial("unix", l.Addr().String())
	s.say("abstract gone %v", err != nil)
}

// The queue of a listener of the unix domain has an end.
func TestBacklog(t *testing.T) {
	s := begin(t)
	l := s.listen("unix")
	raw := must(l.(*net.UnixListener).SyscallConn())(s)
	raw.Control(func(fd uintptr) { s.say("%v", syscall.Listen(int(fd), 1)) })
	for range 3 {
		c, err := net.Dial("unix", l.Addr().String())
		s.say("%v", err)
		if err == nil {
			defer c.Close()
		}
	}
	must(l.Accept())(s).Close()
	c, err := net.Dial("unix", l.Addr().String())
	s.say("%v", err)
	c.Close()
}

// A dial waits while the queue of a listener is full.
func TestFullQueue(t *testing.T) {
	s := begin(t)
	l := s.listen("tcp")
	raw := must(l.(*net.TCPListener).SyscallConn())(s)
	raw.Control(func(fd uintptr) { s.say("%v", syscall.Listen(int(fd), 0)) })
	first := must(net.Dial("tcp", l.Addr().String()))(s)
	defer first.Close()
	_, err := net.DialTimeout("tcp", l.Addr().String(), 50*time.Millisecond)
	s.say("%s", err.Error()) // its type depends on whose timer is first: the context's or the connection's
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err = (&net.Dialer{}).DialContext(ctx, "tcp", l.Addr().String())
	s.say("%v", err)
	must(l.Accept())(s).Close()
	c, err := net.Dial("tcp", l.Addr().String())
	s.say("%v", err)
	defer c.Close()
	done := make(chan error)
	go func() { _, err := net.Dial("tcp", l.Addr().String()); done <- err }()
	blocked()
	l.Close()
	s.say("%v", <-done)
}

// A dial that waits is connected when the listener accepts another connection.
func TestRoom(t *testing.T) {
	s := begin(t)
	l := s.listen("tcp")
	raw := must(l.(*net.TCPListener).SyscallConn())(s)
	raw.Control(func(fd uintptr) { s.say("%v", syscall.Listen(int(fd), 0)) })
	first := must(net.Dial("tcp", l.Addr().String()))(s)
	defer first.Close()
	done := make(chan bool)
	go func() {
		c, err := net.Dial("tcp", l.Addr().String())
		s.say("%v", err)
		s.write("second", c, "hello")
		c.Close()
		close(done)
	}()
	blocked()
	must(l.Accept())(s).Close()
	a := must(l.Accept())(s)
	<-done
	s.read("server", a, 10)
	s.read("server", a, 10)
	a.Close()
}
