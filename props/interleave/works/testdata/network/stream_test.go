package network

import (
	"bytes"
	"hash/crc32"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestEcho(t *testing.T) {
	for _, network := range []string{"tcp", "tcp4", "tcp6", "unix"} {
		t.Run(network, func(t *testing.T) {
			s := begin(t)
			c, a := s.pair(network)
			s.say("%v", kinds(c, a, c.LocalAddr(), a.RemoteAddr()))
			s.say("client %s %s, server %s %s", c.LocalAddr(), c.RemoteAddr(), a.LocalAddr(), a.RemoteAddr())
			s.say("same %v %v", c.LocalAddr().String() == a.RemoteAddr().String(), c.RemoteAddr().String() == a.LocalAddr().String())
			s.write("client", c, "hello")
			s.read("server", a, 3)
			s.read("server", a, 100)
			s.write("server", a, "world")
			s.say("half close %v", c.(interface{ CloseWrite() error }).CloseWrite())
			s.read("server", a, 10)
			s.read("client", c, 10)
			s.write("client", c, "more")
			s.write("server", a, "late")
			s.read("client", c, 10)
			s.say("close %v", a.Close())
			s.read("client", c, 10)
			s.read("client", c, 0)
			s.say("close %v", c.Close())
			s.say("close %v", c.Close())
			s.read("client", c, 10)
			s.write("client", c, "x")
			s.say("deadline %v", c.SetDeadline(time.Now()))
			s.say("half close %v", c.(interface{ CloseRead() error }).CloseRead())
		})
	}
}

func TestClosedByPeer(t *testing.T) {
	networks(t, func(s *script, network string) {
		c, a := s.pair(network)
		s.write("server", a, "bye")
		a.Close()
		s.write("client", c, "first")
		s.write("client", c, "second")
		s.read("client", c, 10)
		s.read("client", c, 10)
	})
}

func TestUnreadData(t *testing.T) {
	networks(t, func(s *script, network string) {
		c, a := s.pair(network)
		s.write("client", c, "unread")
		s.write("server", a, "bye")
		a.Close()
		s.read("client", c, 10)
		s.read("client", c, 10)
		s.read("client", c, 10)
		s.write("client", c, "x")
	})
}

func TestResetBeforeWrite(t *testing.T) {
	networks(t, func(s *script, network string) {
		c, a := s.pair(network)
		s.write("client", c, "unread")
		a.Close()
		s.write("client", c, "x")
		s.write("client", c, "y")
		s.read("client", c, 10)
	})
}

func TestLinger(t *testing.T) {
	s := begin(t)
	c, a := s.pair("tcp")
	s.write("server", a, "bye")
	s.say("%v", a.(*net.TCPConn).SetLinger(0))
	a.Close()
	s.read("client", c, 10)
	s.read("client", c, 10)
	s.write("client", c, "x")
}

func TestCloseRead(t *testing.T) {
	networks(t, func(s *script, network string) {
		c, a := s.pair(network)
		s.write("client", c, "before")
		s.say("%v", a.(interface{ CloseRead() error }).CloseRead())
		s.read("server", a, 10)
		s.read("server", a, 10)
		s.write("server", a, "answer")
		s.read("client", c, 10)
	})
}

// Everything that waits is woken by Close.
func TestCloseWakes(t *testing.T) {
	networks(t, func(s *script, network string) {
		c, a := s.pair(network)
		var wg sync.WaitGroup
		results := make([]error, 3)
		wg.Go(func() { _, results[0] = c.Read(make([]byte, 1)) })
		wg.Go(func() {
			for results[1] == nil {
				_, results[1] = c.Write(make([]byte, 1<<16))
			}
		})
		l := must(net.Listen("tcp", "127.0.0.1:0"))(s)
		wg.Go(func() { _, results[2] = l.Accept() })
		blocked()
		c.Close()
		l.Close()
		wg.Wait()
		for _, err := range results {
			s.say("%v", err)
		}
		_, err := l.Accept()
		s.say("%v, close %v", err, l.Close())
		n, err := drain(a)
		s.say("%v %v", n > 1<<16, err)
	})
}

func TestDeadlines(t *testing.T) {
	networks(t, func(s *script, network string) {
		c, a := s.pair(network)
		s.say("%v", c.SetReadDeadline(time.Now().Add(20*time.Millisecond)))
		s.read("client", c, 1)
		s.read("client", c, 1)
		s.write("server", a, "x")
		s.read("client", c, 1)
		c.SetReadDeadline(time.Time{})
		s.read("client", c, 1)
		s.say("%v", c.SetDeadline(time.Now().Add(-time.Second)))
		s.write("client", c, "y")
		s.read("client", c, 1)
		c.SetDeadline(time.Time{})
		s.write("client", c, "y")
		// A reader that waits, and a deadline that moves.
		done := make(chan error)
		go func() { _, err := c.Read(make([]byte, 1)); done <- err }()
		blocked()
		c.SetReadDeadline(time.Now().Add(time.Hour))
		c.SetReadDeadline(time.Now())
		s.say("%v", <-done)
		c.SetWriteDeadline(time.Now().Add(50 * time.Millisecond))
		var err error
		for err == nil {
			_, err = c.Write(make([]byte, 1<<18))
		}
		s.say("%v", err)
		l := s.listen("tcp")
		l.(*net.TCPListener).SetDeadline(time.Now().Add(10 * time.Millisecond))
		_, err = l.Accept()
		s.say("%v", err)
	})
}

// Much more than what the buffers hold goes through, in order, in both ways.
func TestMuch(t *testing.T) {
	networks(t, func(s *script, network string) {
		c, a := s.pair(network)
		data := bytes.Repeat([]byte("0123456789abcdef!"), 1<<16)
		var wg sync.WaitGroup
		sums := make([]uint32, 2)
		for i, end := range []net.Conn{c, a} {
			wg.Go(func() {
				n, err := end.Write(data)
				if n != len(data) || err != nil {
					s.Errorf("%d, %v", n, err)
				}
				end.(interface{ CloseWrite() error }).CloseWrite()
			})
			wg.Go(func() {
				b, err := io.ReadAll(end)
				if len(b) != len(data) || err != nil {
					s.Errorf("%d, %v", len(b), err)
				}
				sums[i] = crc32.ChecksumIEEE(b)
			})
		}
		wg.Wait()
		s.say("%x %v", sums, sums[0] == crc32.ChecksumIEEE(data))
	})
}

// The ways of io.Copy, and vectors.
func TestCopy(t *testing.T) {
	networks(t, func(s *script, network string) {
		c, a := s.pair(network)
		name := filepath.Join(s.dir, "file")
		os.WriteFile(name, bytes.Repeat([]byte("x"), 100000), 0o600)
		var wg sync.WaitGroup
		wg.Go(func() {
			f := must(os.Open(name))(s)
			n, err := io.Copy(c, f)
			f.Close()
			s.say("from the file %d %v", n, err)
			v := net.Buffers{[]byte("one"), nil, []byte("two"), []byte("three")}
			n, err = v.WriteTo(c)
			s.say("vectors %d %v", n, err)
			c.Close()
		})
		b, err := io.ReadAll(a)
		wg.Wait()
		s.say("%d %q %v", len(b), b[len(b)-11:], err)
		// From a connection to another, and to a file.
		l := must(net.Listen("tcp", "127.0.0.1:0"))(s)
		defer l.Close()
		from := must(net.Dial("tcp", l.Addr().String()))(s)
		via := must(l.Accept())(s)
		to := must(net.Dial("tcp", l.Addr().String()))(s)
		last := must(l.Accept())(s)
		from.Write([]byte("through"))
		from.Close()
		n, err := io.Copy(to, via)
		s.say("%d %v", n, err)
		to.Close()
		f := must(os.Create(name))(s)
		n, err = io.Copy(f, last)
		s.say("%d %v", n, err)
		f.Close()
		via.Close()
		last.Close()
	})
}

func TestOptions(t *testing.T) {
	s := begin(t)
	c, _ := s.pair("tcp")
	tcp := c.(*net.TCPConn)
	s.say("%v %v %v", tcp.SetNoDelay(false), tcp.SetKeepAlive(true), tcp.SetKeepAlivePeriod(time.Minute))
	s.say("%v %v %v", tcp.SetReadBuffer(8192), tcp.SetWriteBuffer(8192), tcp.SetLinger(5))
	raw := must(tcp.SyscallConn())(s)
	s.say("%v", raw.Control(func(fd uintptr) {
		n, err := syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_TYPE)
		s.say("type %d %v", n, err)
		n, err = syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_NODELAY)
		s.say("no delay %v %v", n != 0, err)
		n, err = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_ERROR)
		s.say("error %v %v", n, err)
		n, err = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TYPE)
		s.say("type %d %v", n, err)
		n, _, err = syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK)
		s.say("peek %d %v", n, err)
	}))
	many, err := tcp.MultipathTCP()
	s.say("%v %v", many, err)
}
