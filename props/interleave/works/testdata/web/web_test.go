// Package web has tests of servers and clients of net/http, and of RPC, on loopback, as
// programs have them. TestPlanted has a bug.
package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/rpc"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func get(t *testing.T, c *http.Client, url string) string {
	t.Helper()
	res, err := c.Get(url)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Error(err)
	}
	return string(b)
}

func TestGet(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello ", r.URL.Path) }))
	defer s.Close()
	if b := get(t, s.Client(), s.URL+"/x"); b != "hello /x" {
		t.Fatal(b)
	}
}

// Requests in a row use one connection.
func TestKeepAlive(t *testing.T) {
	var conns atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.RemoteAddr) }))
	s.Config.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateNew {
			conns.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	first := get(t, s.Client(), s.URL)
	for range 2 {
		if b := get(t, s.Client(), s.URL); b == "" || first == "" {
			t.Fatal(b)
		}
	}
	if conns.Load() < 1 {
		t.Fatal("no connection")
	}
}

func TestPost(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		w.Write(b)
	}))
	defer s.Close()
	body := strings.Repeat("0123456789", 5000)
	res, err := s.Client().Post(s.URL, "text/plain", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(res.Body)
	res.Body.Close()
	if string(b) != body || err != nil {
		t.Fatal(len(b), err)
	}
}

// Shutdown waits for the request that is under way.
func TestShutdown(t *testing.T) {
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	entered, leave := make(chan bool), make(chan bool)
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(entered)
		<-leave
		fmt.Fprint(w, "done")
	})}
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := s.Serve(l); err != http.ErrServerClosed {
			t.Error(err)
		}
	})
	tr := &http.Transport{}
	wg.Go(func() {
		if b := get(t, &http.Client{Transport: tr}, "http://"+l.Addr().String()); b != "done" {
			t.Error(b)
		}
	})
	<-entered
	wg.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
	close(leave)
	wg.Wait()
	tr.CloseIdleConnections()
}

func TestTimeout(t *testing.T) {
	done := make(chan bool)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		close(done)
	}))
	defer s.Close()
	c := s.Client()
	c.Timeout = time.Second
	_, err := c.Get(s.URL)
	var timeout net.Error
	if !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Fatal(err)
	}
	<-done
}

// A server that reads a slow request gives up at its deadline.
func TestReadTimeout(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {}))
	s.Config.ReadTimeout = 5 * time.Second
	s.Start()
	defer s.Close()
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	begin := time.Now()
	fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: ")
	if _, err := io.ReadAll(c); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(begin); d < 4*time.Second || d > 10*time.Second {
		t.Fatal(d)
	}
}

func TestConcurrent(t *testing.T) {
	var mu sync.Mutex
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		n++
		mu.Unlock()
	}))
	defer s.Close()
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() { get(t, s.Client(), s.URL) })
	}
	wg.Wait()
	if n != 3 {
		t.Fatal(n)
	}
}

func TestUnix(t *testing.T) {
	const name = "@interleave-works-web" // without a file: the kernel's file systems take their time
	l, err := net.Listen("unix", name)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "unix") })}
	done := make(chan error)
	go func() { done <- s.Serve(l) }()
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", name)
	}}
	if b := get(t, &http.Client{Transport: tr}, "http://server/"); b != "unix" {
		t.Fatal(b)
	}
	tr.CloseIdleConnections()
	s.Close()
	<-done
}

type Arith struct{}

func (Arith) Add(pair [2]int, sum *int) error { *sum = pair[0] + pair[1]; return nil }

func TestRPC(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := rpc.NewServer()
	s.Register(Arith{})
	done := make(chan bool)
	go func() {
		if c, err := l.Accept(); err == nil {
			s.ServeConn(c)
		}
		close(done)
	}()
	c, err := rpc.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	if err := c.Call("Arith.Add", [2]int{2, 3}, &sum); err != nil || sum != 5 {
		t.Fatal(sum, err)
	}
	c.Close()
	l.Close()
	<-done
}

// A counter with a check and an act apart: two requests at once get one ticket.
func TestPlanted(t *testing.T) {
	var sold atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := sold.Load()
		sold.Store(n + 1)
		fmt.Fprint(w, n)
	}))
	defer s.Close()
	var answers [2]string
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() { answers[i] = get(t, s.Client(), s.URL) })
	}
	wg.Wait()
	if answers[0] == answers[1] {
		t.Fatalf("both have ticket %s", answers[0])
	}
}
