//go:build linux

package exits

import (
	"bufio"
	"fmt"
	"io"
	stdnet "net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"eventide/props/lanes/sockets/kernel"
)

// peer is the client's end of a connection.
type peer struct {
	*kernel.Peer
	s      *server
	client int
}

func (p peer) Read(b []byte) (int, error) {
	n, errno := p.Receive(b)
	p.s.mu.Lock()
	p.s.read[p.client] += int64(n)
	p.s.mu.Unlock()
	switch {
	case errno != 0:
		return n, errno
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

func (p peer) Write(b []byte) (int, error) {
	n, errno := p.Send(b)
	if errno != 0 {
		return n, errno
	}
	return n, nil
}

func (p peer) Close() error {
	p.Peer.Close(false)
	return nil
}

// dial connects a client, or returns nil if the connection is refused.
func (s *server) dial(client int) io.ReadWriteCloser {
	if s.pipes != nil {
		ours, theirs := stdnet.Pipe()
		select {
		case s.pipes.conns <- theirs:
			return ours
		case <-s.pipes.closed:
			return nil
		}
	}
	p := s.r.k.NewPeer(0, 0)
	at, err := netip.ParseAddrPort(s.below.Addr().String())
	if errno := p.Connect(at); errno != 0 || err != nil {
		if errno != syscall.ECONNREFUSED {
			s.r.violate("step %d: a connection fails with %v and %v", s.i, errno, err)
		}
		p.Close(false)
		return nil
	}
	return peer{p, s, client}
}

// client makes the requests of a client.
func (s *server) client(n int) {
	c := &s.spec.Clients[n]
	s.r.until(s.r.want.clientAt(s.i, n))
	conn := s.dial(n)
	if conn == nil {
		s.answered(n, 0, "refused")
		return
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	if c.First < 0 {
		_, err := in.ReadByte()
		s.answered(n, 0, map[bool]string{true: "closed", false: "bytes"}[err != nil])
		return
	}
	text := fmt.Sprintf("GET /%d/0 HTTP/1.1\r\nHost: x\r\n\r\n", n)
	time.Sleep(c.first())
	_, _ = io.WriteString(conn, text[:10])
	time.Sleep(c.rest())
	if c.Leaves {
		s.answered(n, 0, "left")
		return
	}
	_, _ = io.WriteString(conn, text[10:])
	keeps := s.answer(n, 0, in)
	if keeps && c.Again >= 0 {
		time.Sleep(c.again())
		_, _ = io.WriteString(conn, strings.Replace(text, "/0 ", "/1 ", 1))
		keeps = s.answer(n, 1, in)
	}
	if keeps {
		_, _ = in.ReadByte() // until the server closes
	}
}

// answer reads the answer to a request, and reports whether it keeps the connection.
func (s *server) answer(n, nth int, in *bufio.Reader) (keeps bool) {
	want := fmt.Sprintf("answer %d/%d", n, nth)
	if s.spec.Clients[n].Hijacks {
		got := make([]byte, len(want))
		if _, err := io.ReadFull(in, got); err != nil || string(got) != want {
			s.answered(n, nth, "cut")
		} else {
			s.answered(n, nth, "hijacked")
		}
		return false
	}
	answer, err := http.ReadResponse(in, nil)
	if err != nil {
		s.answered(n, nth, "cut")
		return false
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil || string(body) != want || answer.StatusCode != http.StatusOK {
		s.answered(n, nth, fmt.Sprintf("status %d, %q, %v", answer.StatusCode, body, err))
		return false
	}
	s.answered(n, nth, map[bool]string{true: "answered, and closes", false: "answered"}[answer.Close])
	return !answer.Close
}

func (s *server) answered(n, nth int, what string) {
	s.r.record(stepName(s.i), "request %d/%d: %s", n, nth, what)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got[fmt.Sprintf("%d/%d", n, nth)] = answered{what, time.Since(s.r.began)}
}
