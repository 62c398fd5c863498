package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"eventide/core/internal/coretest"
)

// heldUp is a listener whose connections stay in the kernel's queue until the gate opens.
type heldUp struct {
	*net.TCPListener
	gate chan struct{}
}

func (h heldUp) Accept() (net.Conn, error) {
	<-h.gate
	return h.TCPListener.Accept()
}

// TestHTTPResetsNoArrival: connections that wait in the accept queue when the step begins are
// accepted and answered; new ones are turned away and then refused, not reset.
func TestHTTPResetsNoArrival(t *testing.T) {
	for name, hides := range map[string]bool{"the server's own listener": false, "below another": true} {
		t.Run(name, func(t *testing.T) {
			tcp := listen(t, false)
			address := tcp.Addr().String()
			l := heldUp{tcp.(*net.TCPListener), make(chan struct{})}
			var served net.Listener = l
			var opts HTTPOptions
			if hides { // as tls.NewListener does
				served = struct{ net.Listener }{l}
				opts.Listeners = []net.Listener{l}
			}
			srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "answer") })}
			plan := Plan{
				Start:  func(context.Context) error { return Served(srv.Serve(served)) },
				Logger: slog.New(slog.DiscardHandler),
			}
			serving := make(chan struct{})
			srv.BaseContext = func(net.Listener) context.Context { close(serving); return context.Background() }
			plan.Steps = []Step{HTTP(srv, opts)}
			ctx, end := context.WithCancel(t.Context())
			code := make(chan int, 1)
			go func() { code <- Run(ctx, plan) }()
			var clients []net.Conn
			for range 5 {
				c, err := net.Dial("tcp", address)
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
				clients = append(clients, c)
			}
			<-serving
			end()
			for turnedAway := false; !turnedAway; { // polls: the step begins on the server's time
				c, err := net.DialTimeout("tcp", address, 50*time.Millisecond)
				var timeout net.Error
				switch {
				case err == nil:
					c.Close()
				case errors.As(err, &timeout) && timeout.Timeout():
					turnedAway = true
				default:
					t.Fatalf("a new connection: %v, want it turned away", err)
				}
			}
			close(l.gate)
			for _, c := range clients {
				if answer, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil {
					t.Errorf("a connection that had arrived: %v, want an answer", err)
				} else if body, err := io.ReadAll(answer.Body); err != nil || string(body) != "answer" {
					t.Errorf("a connection that had arrived: %q, %v, want an answer", body, err)
				}
			}
			if got := <-code; got != CodeClean {
				t.Errorf("exit code %d, want 0", got)
			}
			if _, err := net.Dial("tcp", address); !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("after the exit: %v, want a refusal", err)
			}
		})
	}
}

func listen(t *testing.T, multipath bool) net.Listener {
	t.Helper()
	var config net.ListenConfig
	config.SetMultipathTCP(multipath)
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// connected returns both ends of a TCP connection.
func connected(t *testing.T) (client, server net.Conn) {
	t.Helper()
	l := listen(t, false)
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	coretest.Must(t, err)
	t.Cleanup(func() { client.Close() })
	server, err = l.Accept()
	coretest.Must(t, err)
	t.Cleanup(func() { server.Close() })
	return client, server
}

// none reports no unread request.
func none() bool { return false }

// TestHTTPWaitsForRequestsThatNobodyHasRead: a connection is accepted, and srv reads its request
// late. Without the wait srv.Shutdown comes first, and srv closes the connection when it has read
// the request.
func TestHTTPWaitsForRequestsThatNobodyHasRead(t *testing.T) {
	l := listen(t, false)
	accepted, shutdown := make(chan struct{}), make(chan struct{})
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "answer") })}
	var looks atomic.Int32
	srv.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew && looks.Add(1) == 1 { // srv reads the request when this has returned
			close(accepted)
			select {
			case <-shutdown:
			case <-time.After(3 * settleTime): // a step that does not wait is faster
			}
		}
	}
	srv.RegisterOnShutdown(func() { close(shutdown) })
	ctx, end := context.WithCancel(t.Context())
	code := make(chan int, 1)
	plan := Plan{
		Start:  func(context.Context) error { return Served(srv.Serve(l)) },
		Logger: slog.New(slog.DiscardHandler),
		Steps:  []Step{HTTP(srv, HTTPOptions{})},
	}
	go func() { code <- Run(ctx, plan) }()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	<-accepted
	end()
	if answer, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil {
		t.Errorf("a request of an accepted connection: %v, want an answer", err)
	} else if body, err := io.ReadAll(answer.Body); err != nil || string(body) != "answer" {
		t.Errorf("a request of an accepted connection: %q, %v, want an answer", body, err)
	}
	if got := <-code; got != CodeClean {
		t.Errorf("exit code %d, want 0", got)
	}
}

// TestHTTPDoesNotWaitForASilentConnection: a connection that has sent nothing loses nothing. The
// step closes it as srv.Shutdown does, and the silence does not delay the close of the listener.
func TestHTTPDoesNotWaitForASilentConnection(t *testing.T) {
	silent, c := connected(t)
	h := &httpServer{fresh: map[net.Conn]time.Time{}, hijacked: map[net.Conn]bool{}}
	h.moved(c, http.StateNew)
	if later := time.Now().Add(time.Hour); h.unread(later) {
		t.Error("a connection that has sent nothing has an unread request")
	}
	coretest.Want(t, "only silent before the byte", h.onlySilent(), true)
	fmt.Fprint(silent, "G")
	for later := time.Now().Add(time.Hour); !h.unread(later); { // polls: the byte arrives on the kernel's time
		runtime.Gosched()
	}
	coretest.Want(t, "only silent after a part of a request", h.onlySilent(), false)
	h.moved(c, http.StateClosed)
	if h.unread(time.Now().Add(time.Hour)) {
		t.Error("a closed connection has an unread request")
	}
}

// TestStopArrivalsWaits for an empty accept queue, with MPTCP as well, where it can do no more;
// at the end of its context it returns all the same.
func TestStopArrivalsWaits(t *testing.T) {
	for _, multipath := range []bool{false, true} {
		l := listen(t, multipath)
		defer l.Close()
		client, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		ended, end := context.WithCancel(t.Context())
		end()
		stopArrivals(ended, []net.Listener{l}, none)()
		var accepted atomic.Bool
		ready := make(chan struct{})
		go func() {
			<-ready
			runtime.Gosched()
			server, err := l.Accept()
			if err != nil {
				t.Error(err)
				return
			}
			accepted.Store(true)
			server.Close()
		}()
		time.AfterFunc(20*time.Millisecond, func() { close(ready) }) // more than one look at the queue
		stopArrivals(t.Context(), []net.Listener{l}, none)()
		raw, _ := rawOf(l)
		if waiting([]syscall.RawConn{raw}) {
			t.Errorf("multipath %v: the queue is not empty", multipath)
		}
		for !accepted.Load() {
			runtime.Gosched()
		}
	}
}

// TestStopArrivalsTurnsAway: a client that comes afterwards gets no answer to its SYN, until resume.
func TestStopArrivalsTurnsAway(t *testing.T) {
	l := listen(t, false)
	defer l.Close()
	resume := stopArrivals(t.Context(), []net.Listener{l}, none)
	if !turnsAway(t, l.(*net.TCPListener)) {
		t.Error("the listener does not turn a client away")
	}
	resume()
	if turnsAway(t, l.(*net.TCPListener)) {
		t.Error("the listener turns a client away after resume")
	}
}

// TestStopArrivalsLeavesOthers: a listener that is no TCP socket is left as it is.
func TestStopArrivalsLeavesOthers(t *testing.T) {
	unix, err := net.Listen("unix", shortDir(t)+"/socket")
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close()
	stopArrivals(t.Context(), []net.Listener{unix, newPipes()}, none)()
	c, err := net.Dial("unix", unix.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}
