package main

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"eventide/core/internal/coretest/underload"
)

func TestMain(m *testing.M) { underload.Main(m, main) }

// program is a running copy of this program.
type program struct {
	*exec.Cmd
	out *bufio.Reader
	err strings.Builder
}

func start(t *testing.T, args ...string) *program {
	t.Helper()
	p := &program{Cmd: underload.Command(t.Context(), args...)}
	p.Stderr = &p.err
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	guard := time.AfterFunc(time.Minute, func() { _ = p.Process.Kill() })
	t.Cleanup(func() { guard.Stop(); _ = p.Process.Kill() })
	return p
}

func startServer(t *testing.T) (*program, string) {
	t.Helper()
	p := start(t, "-role", "server")
	line, err := p.out.ReadString('\n')
	if err != nil {
		t.Fatalf("the server said nothing: %v\n%s", err, p.err.String())
	}
	return p, strings.TrimSpace(strings.TrimPrefix(line, "listening on "))
}

// rest waits for the end of the program and returns the rest of its output.
func (p *program) rest(t *testing.T) string {
	t.Helper()
	out, _ := io.ReadAll(p.out)
	if err := p.Wait(); err != nil {
		t.Fatalf("%v ended with %v\n%s", p.Args[1:], err, p.err.String())
	}
	return strings.TrimSpace(string(out))
}

// TestFailover sends SIGTERM to one server and then to the next, under a client that
// sends requests without a pause. Every request is answered, and none was executed twice: the
// servers' counts add up to the number of requests.
func TestFailover(t *testing.T) {
	const n = 500_000
	var servers [3]*program
	var addrs [3]string
	for i := range servers {
		servers[i], addrs[i] = startServer(t)
	}
	client := start(t, "-role", "client", "-servers", strings.Join(addrs[:], ","), "-n", fmt.Sprint(n))
	done := 0
	for _, s := range servers[:2] {
		if line, err := s.out.ReadString('\n'); line != "busy\n" {
			t.Fatalf("the server said %q, %v", line, err)
		}
		if err := s.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		done += count(t, s)
	}
	var answered, connections int
	if said := client.rest(t); !scan(said, "answered %d connections %d", &answered, &connections) {
		t.Fatalf("the client said %q", said)
	}
	if err := servers[2].Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if line, err := servers[2].out.ReadString('\n'); line != "busy\n" {
		t.Fatalf("the last server was not asked: %q, %v", line, err)
	}
	done += count(t, servers[2])
	if connections != len(servers) {
		t.Errorf("%d connections, want one to each of %d servers", connections, len(servers))
	}
	if answered != n || done != n {
		t.Errorf("answered %d and done %d, want %d of both", answered, done, n)
	}
	t.Logf("%d requests over %d connections", n, connections)
}

func count(t *testing.T, s *program) (n int) {
	t.Helper()
	if said := s.rest(t); !scan(said, "done %d", &n) {
		t.Fatalf("the server said %q", said)
	}
	return n
}

func scan(s, format string, into ...any) bool {
	n, err := fmt.Sscanf(s, format, into...)
	return err == nil && n == len(into)
}
