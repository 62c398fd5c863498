package works

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"testing"
	"time"
)

func TestSignals(t *testing.T) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR1)
	defer signal.Stop(c)
	syscall.Kill(os.Getpid(), syscall.SIGUSR1)
	select {
	case <-c:
	case <-time.After(time.Minute):
	}
}

func TestSockets(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err == nil {
			io.Copy(c, c)
			c.Close()
		}
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(c, "hello")
	c.(*net.TCPConn).CloseWrite()
	if b, _ := io.ReadAll(c); string(b) != "hello\n" {
		t.Fatal(string(b))
	}
	c.Close()
}

func TestGarbage(t *testing.T) {
	c := make(chan []byte)
	go func() {
		for range 3 {
			c <- make([]byte, 1<<20)
			runtime.GC()
		}
		close(c)
	}()
	for range c {
		runtime.GC()
	}
}

func TestCommand(t *testing.T) {
	out, err := exec.Command("echo", "hello").Output()
	if err != nil || string(out) != "hello\n" {
		t.Fatal(err, string(out))
	}
}

func TestHTTP(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "ok") }))
	defer s.Close()
	res, err := s.Client().Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(res.Body)
	res.Body.Close()
	if string(b) != "ok" {
		t.Fatal(string(b))
	}
}
