package network

import (
	"net"
	"os"
	"syscall"
	"testing"
)

// A connection's own descriptor.
func TestFile(t *testing.T) {
	s := begin(t)
	c, _ := s.pair("tcp")
	l := must(net.Listen("tcp", "127.0.0.1:0"))(s)
	defer l.Close()
	u, _ := s.pair("unix")
	for _, v := range []interface{ File() (*os.File, error) }{c.(*net.TCPConn), l.(*net.TCPListener), u.(*net.UnixConn)} {
		f, err := v.File()
		s.say("%s: %v", kinds(v)[0], err)
		if err == nil {
			f.Close()
		}
	}
}

// A descriptor that is sent to another process.
func TestRights(t *testing.T) {
	s := begin(t)
	c, _ := s.pair("unix")
	_, _, err := c.(*net.UnixConn).WriteMsgUnix([]byte("x"), syscall.UnixRights(0), nil)
	s.say("%v", err)
}
