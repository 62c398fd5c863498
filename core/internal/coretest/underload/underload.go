// Package underload runs an example as a process of its own, which is the test binary itself.
// Test ends an example server with SIGTERM while clients load it, and counts what they got.
package underload

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"eventide/core/frame"
)

const (
	clients = 20
	window  = 64 // the most requests of a client that wait for their answers
	guard   = 2 * time.Minute
)

// Protocol is how requests and answers are framed.
type Protocol struct {
	Append func(dst, message []byte) []byte
	Cutter func() frame.Cutter
}

// Lines has a message on each line.
func Lines() Protocol {
	return Protocol{frame.AppendLine, func() frame.Cutter { return &frame.Lines{} }}
}

// Lengths has a length of 4 bytes in front of each message.
func Lengths() Protocol {
	return Protocol{func(dst, message []byte) []byte {
		dst, err := new(frame.Lengths).Append(dst, message)
		if err != nil {
			panic(err)
		}
		return dst
	}, func() frame.Cutter { return &frame.Lengths{} }}
}

// Main is the TestMain of an example: it calls main in a process that Command starts, and runs
// the tests in any other. It does not return.
func Main(m *testing.M, main func()) {
	if os.Getenv("EVENTIDE_EXAMPLE") != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Command returns the command that runs the example, which is killed when ctx ends.
func Command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), "EVENTIDE_EXAMPLE=1")
	return cmd
}

// Server is a running example.
type Server struct {
	Addr string // which it printed

	t      *testing.T
	cmd    *exec.Cmd
	stdout *bufio.Reader
	stderr bytes.Buffer
}

// Start starts the example, and returns when it has printed "listening on ADDRESS". The server is
// killed if it is still running after two minutes or at the end of the test.
func Start(t *testing.T, args ...string) *Server {
	t.Helper()
	s := &Server{t: t, cmd: Command(t.Context(), args...)}
	s.cmd.Stderr = &s.stderr
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(guard, func() { _ = s.cmd.Process.Kill() })
	t.Cleanup(func() { kill.Stop() })
	s.stdout = bufio.NewReader(stdout)
	line, err := s.stdout.ReadString('\n')
	if err != nil {
		_ = s.cmd.Wait()
		t.Fatalf("the server does not listen: %v\n%s", err, s.stderr.String())
	}
	s.Addr = strings.TrimSpace(strings.TrimPrefix(line, "listening on "))
	return s
}

// Terminate sends SIGTERM.
func (s *Server) Terminate() {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Error(err)
	}
}

// WantEnd waits for the end of the server. Its exit code must be 0, and want the rest of what it
// prints.
func (s *Server) WantEnd(want string) {
	s.t.Helper()
	rest, _ := io.ReadAll(s.stdout)
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("the server ended with %v, want exit code 0\n%s", err, s.stderr.String())
	}
	if string(rest) != want {
		s.t.Errorf("the server says %q, want %q: what the clients got\n%s", rest, want, s.stderr.String())
	}
}

// Test starts the server, loads it, and sends SIGTERM. A request is a number, and its answer
// the SHA-256 of the request in hexadecimal digits. Each client must get the answers to its
// first requests, in order, and then the end of the stream without an error. The server
// first prints "listening on ADDRESS" and at the end "accepted N": N must be the number of
// answers that the clients counted. Its exit code must be 0.
func Test(t *testing.T, p Protocol, args ...string) {
	t.Helper()
	s := Start(t, args...)
	answered, unanswered := load(t, p, s.Addr, s.Terminate)
	s.WantEnd(fmt.Sprintf("accepted %d\n", answered))
	t.Logf("%d requests answered, %d not accepted", answered, unanswered)
}

// load runs the clients until the server ends their streams. It calls begun when each has
// filled its window several times.
func load(t *testing.T, p Protocol, addr string, begun func()) (answered, unanswered int64) {
	var got, sent atomic.Int64
	var flowing, over sync.WaitGroup
	flowing.Add(clients)
	for i := range clients {
		over.Go(func() {
			c := &client{protocol: p, flowing: sync.OnceFunc(flowing.Done), room: make(chan struct{}, window), ended: make(chan struct{})}
			if err := c.run(addr); err != nil {
				t.Errorf("client %d: after %d answers: %v", i, c.answered, err)
			}
			got.Add(c.answered)
			sent.Add(c.sent)
		})
	}
	flowing.Wait()
	begun()
	over.Wait()
	return got.Load(), sent.Load() - got.Load()
}

type client struct {
	protocol       Protocol
	flowing        func()
	room           chan struct{} // a value for each request without an answer
	ended          chan struct{}
	sent, answered int64
}

func (c *client) run(addr string) error {
	defer c.flowing()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	var writer sync.WaitGroup
	writer.Go(func() { c.write(conn) })
	defer writer.Wait()
	defer func() { close(c.ended); _ = conn.SetWriteDeadline(time.Unix(1, 0)) }()
	for answer, err := range frame.Messages(conn, c.protocol.Cutter()) {
		if err != nil {
			return err
		}
		if want := Answer(request(c.answered)); !bytes.Equal(answer, want) {
			return fmt.Errorf("got %q, want %q", answer, want)
		}
		<-c.room
		if c.answered++; c.answered == 5*window {
			c.flowing()
		}
	}
	if c.answered < 5*window {
		return errors.New("the server ended the stream before the load began")
	}
	return nil
}

// write sends requests until the stream ends.
func (c *client) write(conn net.Conn) {
	for ; ; c.sent++ {
		select {
		case c.room <- struct{}{}:
		case <-c.ended:
			return
		}
		if _, err := conn.Write(c.protocol.Append(nil, request(c.sent))); err != nil {
			return
		}
	}
}

func request(i int64) []byte { return fmt.Append(nil, i) }

// Answer is what the servers compute.
func Answer(request []byte) []byte {
	sum := sha256.Sum256(request)
	return hex.AppendEncode(nil, sum[:])
}
