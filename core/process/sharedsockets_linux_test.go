package process

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"eventide/core/internal/coretest"

	"golang.org/x/sys/unix"
)

// given returns the socket of l as Listeners returns one.
func given(t *testing.T, l net.Listener) Listener {
	t.Helper()
	file, err := l.(*net.TCPListener).File()
	coretest.Must(t, err)
	defer file.Close()
	environment := map[string]string{"LISTEN_PID": "7", "LISTEN_FDS": "1"}
	all, err := listenersFrom(func(name string) string { return environment[name] }, 7, passed(t, file))
	coretest.Must(t, err)
	return all[0]
}

// copyOf returns another listener of the socket of l, which does not come from Listeners.
func copyOf(t *testing.T, l net.Listener) net.Listener {
	t.Helper()
	file, err := l.(*net.TCPListener).File()
	coretest.Must(t, err)
	defer file.Close()
	another, err := net.FileListener(file)
	coretest.Must(t, err)
	return another
}

// descriptorsOf returns how many descriptors of this process belong to the socket of l.
func descriptorsOf(t *testing.T, l net.Listener) (n int) {
	t.Helper()
	raw, _ := rawOf(l)
	var about unix.Stat_t
	coretest.Must(t, control(raw, func(fd int) error { return unix.Fstat(fd, &about) }))
	open, err := os.ReadDir("/proc/self/fd")
	coretest.Must(t, err)
	for _, fd := range open {
		if of, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && of == fmt.Sprintf("socket:[%d]", about.Ino) {
			n++
		}
	}
	return n
}

// TestHTTPGivesTheSocketBack: a socket that another process has too accepts connections again once the step has closed
// its listener, while a request is still in flight. One from Listeners accepts them all the time.
func TestHTTPGivesTheSocketBack(t *testing.T) {
	for name, listener := range map[string]func(l net.Listener) net.Listener{
		"shared":                func(l net.Listener) net.Listener { return copyOf(t, l) },
		"from Listeners":        func(l net.Listener) net.Listener { return given(t, l) },
		"below one of those":    func(l net.Listener) net.Listener { return given(t, l).Listener },
		"another of its socket": func(l net.Listener) net.Listener { coretest.Must(t, given(t, l).Close()); return copyOf(t, l) },
	} {
		t.Run(name, func(t *testing.T) {
			owner := listen(t, false).(*net.TCPListener)
			defer owner.Close()
			served := listener(owner)
			began, gate := make(chan struct{}), make(chan struct{})
			var log coretest.Log
			srv := &http.Server{ErrorLog: slog.NewLogLogger(slog.NewTextHandler(&log, nil), slog.LevelError),
				Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { close(began); <-gate })}
			serves, end := context.WithCancel(t.Context())
			code := make(chan int, 1)
			plan := Plan{
				Start:  func(context.Context) error { return Served(srv.Serve(served)) },
				Logger: slog.New(slog.DiscardHandler),
				Steps:  []Step{HTTP(srv, HTTPOptions{})},
			}
			go func() { code <- Run(serves, plan) }()
			client, err := net.Dial("tcp", owner.Addr().String())
			coretest.Must(t, err)
			defer client.Close()
			fmt.Fprint(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			<-began
			end()
			coretest.Until(t, "the step to close its descriptors", func() bool { return descriptorsOf(t, owner) == 1 })
			if turnsAway(t, owner) {
				t.Error("the socket turns a client away while a request is in flight")
			}
			close(gate)
			coretest.Want(t, "exit code", <-code, CodeClean)
			if turnsAway(t, owner) {
				t.Error("the socket turns a client away after the exit")
			}
			if name == "from Listeners" {
				coretest.Want(t, "what the server has logged", log.String(), "")
			}
		})
	}
}

// TestHTTPGivesTheSocketBackWhenItsTimeIsOver: so it does if no listener was closed, and nobody accepts what waits.
func TestHTTPGivesTheSocketBackWhenItsTimeIsOver(t *testing.T) {
	l := listen(t, false).(*net.TCPListener)
	defer l.Close()
	waiting, err := net.Dial("tcp", l.Addr().String())
	coretest.Must(t, err)
	defer waiting.Close()
	over, end := context.WithCancel(t.Context())
	end()
	coretest.Must(t, HTTP(&http.Server{}, HTTPOptions{Listeners: []net.Listener{l, l}}).Run(over))
	coretest.Want(t, "descriptors of the socket", descriptorsOf(t, l), 1)
	if turnsAway(t, l) {
		t.Error("the socket turns a client away")
	}
}

// TestListenersAreNotTurnedAway: not even until the listener is closed.
func TestListenersAreNotTurnedAway(t *testing.T) {
	owner := listen(t, false).(*net.TCPListener)
	defer owner.Close()
	l := given(t, owner)
	resume := stopArrivals(t.Context(), []net.Listener{l}, none)
	defer resume()
	if turnsAway(t, owner) {
		t.Fatal("a socket of the service manager turns a client away")
	}
	if _, err := l.Listener.Accept(); !isTimeout(err) {
		t.Fatalf("Accept returned %v, want a timeout: the process accepts nothing more", err)
	}
	accepted := make(chan error)
	go func() { _, err := l.Accept(); accepted <- err }()
	coretest.Must(t, l.Close())
	coretest.WantErr(t, "Accept of the Listener", <-accepted, net.ErrClosed)
	coretest.Must(t, owner.SetDeadline(time.Now().Add(time.Minute))) // a guard
	server, err := owner.Accept()
	coretest.Must(t, err)
	coretest.Must(t, server.Close())
}

func isTimeout(err error) bool {
	timeout, ok := err.(net.Error)
	return ok && timeout.Timeout()
}
