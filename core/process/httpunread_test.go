package process

import (
	"net"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core/internal/coretest"
)

// TestHTTPClosesASilentConnectionAtTheDeadline: srv.Shutdown leaves a connection open whose first request it awaits. If the
// time of the step is nearly over before, the step closes that connection. It has cut no request, so it does not fail.
func TestHTTPClosesASilentConnectionAtTheDeadline(t *testing.T) {
	for range 10 { // the end of the handlers and that of the time are both due: a select takes any
		synctest.Test(t, func(t *testing.T) {
			s := serveHTTP(t, &http.Server{}, Plan{}, HTTPOptions{Deadline: time.Second})
			client, ok := s.dial()
			coretest.Want(t, "connected", ok, true)
			defer client.Close()
			closed := make(chan time.Duration, 1)
			go func() {
				_, _ = client.Read(make([]byte, 1)) // returns at the close
				closed <- time.Since(s.began)
			}()
			synctest.Wait()
			s.signals <- os.Interrupt
			coretest.Want(t, "time of the close", <-closed, time.Second-heedTime)
			s.wantCode(CodeClean)
		})
	}
}

// TestHTTPFinishesRequestsBesideASilentConnection: a request that ends in the last moment has its answer, and so
// does a silent connection not make the step fail.
func TestHTTPFinishesRequestsBesideASilentConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveHTTP(t, &http.Server{}, Plan{}, HTTPOptions{Deadline: time.Second})
		client, ok := s.dial()
		coretest.Want(t, "connected", ok, true)
		defer client.Close()
		slow := s.goGet("/999ms")
		s.signals <- os.Interrupt
		wantAnswer(t, slow, "waited 999ms")
		if r := s.wait().Steps[0]; r.Err != nil {
			t.Errorf("the step failed: %v, want that it has cut no request", r.Err)
		}
	})
}

// TestSilentConnections: only connections that have sent nothing are silent. A response that srv still writes, or a connection
// of which nothing is known, is not.
func TestSilentConnections(t *testing.T) {
	type uncomparable struct {
		net.Conn
		_ []int
	}
	for name, c := range map[string]struct {
		conn   net.Conn
		states []http.ConnState
		want   bool
	}{
		"new":                    {newConn(t), []http.ConnState{http.StateNew}, true},
		"read":                   {newConn(t), []http.ConnState{http.StateNew, http.StateActive}, false},
		"answered":               {newConn(t), []http.ConnState{http.StateNew, http.StateActive, http.StateIdle}, true},
		"closed":                 {newConn(t), []http.ConnState{http.StateNew, http.StateActive, http.StateClosed}, true},
		"uncomparable":           {uncomparable{Conn: newConn(t)}, []http.ConnState{http.StateNew}, false},
		"uncomparable, closed":   {uncomparable{Conn: newConn(t)}, []http.ConnState{http.StateNew, http.StateActive, http.StateClosed}, true},
		"uncomparable, hijacked": {uncomparable{Conn: newConn(t)}, []http.ConnState{http.StateNew, http.StateActive, http.StateHijacked}, true},
	} {
		h := &httpServer{fresh: map[net.Conn]time.Time{}, active: map[net.Conn]bool{}, hijacked: map[net.Conn]bool{}}
		for _, s := range c.states {
			h.moved(c.conn, s)
		}
		coretest.Want(t, name+": only silent", h.onlySilent(), c.want)
	}
}

// newConn returns one end of a connection in memory.
func newConn(t *testing.T) net.Conn {
	a, b := net.Pipe()
	t.Cleanup(func() { a.Close(); b.Close() })
	return a
}
