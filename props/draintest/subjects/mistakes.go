package subjects

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

// closed cuts what is in flight.
func closed(s *site) {
	s.leave()
	_ = s.Close()
	<-s.served
	close(s.done)
}

// notAwaited ends when Serve returns, which is when Shutdown begins.
func notAwaited(s *site) {
	s.leave()
	go func() { _ = s.Shutdown(context.Background()) }()
	<-s.served
	close(s.done)
}

// hijackedForgotten waits for all that Shutdown waits for.
func hijackedForgotten(s *site) {
	s.leave()
	_ = s.Shutdown(context.Background())
	<-s.served
	close(s.done)
}

// swallowed does nothing.
func swallowed(*site) {}

// drops answers no request whose answer has not begun when PreDrain is over.
func drops(s *site, w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/echo") {
		id := r.Header.Clone()
		body, err := io.ReadAll(r.Body)
		if s.leaving.Load() || err != nil {
			s.begin(id, r)
			panic(http.ErrAbortHandler)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	s.kit.ServeHTTP(w, r)
}

// begin has the kit's endpoint begin a request whose answer nobody gets.
func (s *site) begin(h http.Header, r *http.Request) {
	s.kit.ServeHTTP(nowhere{h}, &http.Request{Method: r.Method, URL: r.URL, Header: h, Body: http.NoBody})
}

// nowhere is an http.ResponseWriter without a client.
type nowhere struct{ header http.Header }

func (n nowhere) Header() http.Header         { return n.header }
func (n nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (n nowhere) WriteHeader(int)             {}

// cuts ends long answers that have begun when PreDrain is over.
func cuts(s *site, w http.ResponseWriter, r *http.Request) {
	s.kit.ServeHTTP(&cutter{ResponseWriter: w, s: s}, r)
}

type cutter struct {
	http.ResponseWriter
	s       *site
	written int
}

func (c *cutter) Write(p []byte) (int, error) {
	if c.written > 0 && c.s.leaving.Load() {
		panic(http.ErrAbortHandler)
	}
	n, err := c.ResponseWriter.Write(p)
	c.written += n
	return n, err
}

// Unwrap lets the endpoint flush and hijack.
func (c *cutter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// resets resets each new connection for a while, and then ends as byHand does.
func resets(s *site) {
	s.leave()
	s.l.resets.Store(true)
	time.Sleep(preDrain)
	s.shut()
	close(s.done)
}

// listener can reset the connections that it accepts.
type listener struct {
	net.Listener
	resets atomic.Bool
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil || !l.resets.Load() {
			return c, err
		}
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // its close resets
		}
		_ = c.Close()
	}
}

// leaks leaves a goroutine and a pipe for each upgraded connection, until the site is
// abandoned.
func leaks(s *site, w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != "" {
		if in, out, err := os.Pipe(); err == nil {
			s.abandoned.Go(func() {
				_, _ = io.Copy(io.Discard, in)
				_ = in.Close()
			})
			context.AfterFunc(s.abandon, func() { _ = out.Close() })
		}
	}
	s.kit.ServeHTTP(w, r)
}
