package process

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// TestPropConnectionsOfAServer compares the step of a server with a specification, in virtual time and to the nanosecond: it
// waits for each connection whose first request may be unread, for 5 s after its accept, and then for all handlers. A
// connection has no unread request once a handler has begun, and once it is idle, closed or hijacked. Near the end of its time the
// step waits for such connections only while a handler runs, a request is read or answered, or an open connection cannot be a key. The step ends with its
// context at the latest, and then closes the hijacked connections with a handler, and names exactly the requests that it
// cut. Each response of HTTP/1 asks to close the connection from the begin of the exit on. The hooks of the server are called too.
// A handler is called for a request that begins after the step as well.
func TestPropConnectionsOfAServer(t *testing.T) {
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(r *rapid.T) {
		var calls []serverCall
		for range rapid.IntRange(1, 10).Draw(r, "calls") {
			calls = append(calls, drawServerCall(r))
		}
		var late []lateConn
		for range rapid.IntRange(0, 3).Draw(r, "connections that the step accepts") {
			late = append(late, drawLateConn(r))
		}
		timeout := rapid.SampledFrom([]time.Duration{time.Minute, 100 * time.Millisecond, time.Millisecond, 6 * time.Second}).Draw(r, "time of the step") + 2
		var wrong []string
		synctest.Test(t, func(t *testing.T) {
			s := newServerSpec(t)
			for _, c := range calls {
				s.call(c)
			}
			s.end(timeout, late)
			wrong = s.wrong
		})
		if len(wrong) > 0 {
			r.Fatalf("%q; the calls %+v, the step has %v and accepts %v", wrong, calls, timeout, late)
		}
	})
}

// serverCall is what happens to a connection of a server.
type serverCall struct {
	what  string        // a state of the connection, "serve" or "leave"
	conn  int           // the last one cannot be a key of a map
	proto int           // of the request: HTTP/1 or HTTP/2
	takes time.Duration // the time of the handler
	then  time.Duration // the time until the next call
}

func drawServerCall(t *rapid.T) serverCall {
	return serverCall{
		what: rapid.SampledFrom([]string{
			"new", "serve", "hijacked", "new", "serve", "hijacked", "active", "idle", "closed", "leave",
		}).Draw(t, "call"),
		conn:  rapid.IntRange(0, 3).Draw(t, "connection"),
		proto: rapid.IntRange(1, 2).Draw(t, "protocol"),
		takes: time.Duration(rapid.SampledFrom([]int{1000, 0, 20, 5500, 100000}).Draw(t, "milliseconds of the handler"))*time.Millisecond + time.Nanosecond,
		then:  time.Duration(rapid.SampledFrom([]int{1, 10, 3000}).Draw(t, "milliseconds behind it")) * time.Millisecond,
	}
}

// lateConn is a connection that the server accepts while the step runs, and whose first request begins later. Both times
// count from the begin of the step.
type lateConn struct{ accepted, begins time.Duration }

// drawLateConn draws times between two polls.
func drawLateConn(t *rapid.T) lateConn {
	ms := func(name string) time.Duration {
		return time.Duration(rapid.SampledFrom([]int{5, 20, 4900, 4995, 5000, 6000}).Draw(t, name)) * time.Millisecond
	}
	c := lateConn{accepted: ms("milliseconds until the accept") + pollEvery/2}
	c.begins = c.accepted + ms("milliseconds until its request")
	return c
}

// accept makes the connection.
func (c lateConn) accept(srv *http.Server) {
	conn := &serverConn{}
	time.AfterFunc(c.accepted, func() { srv.ConnState(conn, http.StateNew) })
	time.AfterFunc(c.begins, func() { srv.ConnState(conn, http.StateIdle) })
}

// serverConn is a connection that records its close.
type serverConn struct {
	net.Conn
	closes int
}

func (c *serverConn) Close() error { c.closes++; return nil }

// upperConn is a connection above another, as a tls.Conn is. Its Close does not reach the lower one.
type upperConn struct{ net.Conn }

func (c *upperConn) NetConn() net.Conn { return c.Conn }
func (c *upperConn) Close() error      { return nil }

// keylessConn cannot be a key of a map.
type keylessConn struct {
	*serverConn
	_ []int
}

// servedRequest is a request in a handler.
type servedRequest struct {
	serverCall
	name  string
	ends  time.Time
	began time.Time
}

// serverSpec is a server with the step, and its specification.
type serverSpec struct {
	t        *testing.T
	srv      *http.Server
	step     Step
	below    [4]*serverConn
	conns    [4]net.Conn
	over     chan struct{}    // ends all handlers
	hooks    coretest.Journal // the states that the hook of the user has got
	leaving  bool
	fresh    map[int]time.Time
	active   map[int]bool // a request is read or answered
	keyless  int          // open connections that cannot be keys
	hijacked map[int]bool
	requests []servedRequest
	wrong    []string
}

// hookKey is the key under which the hook of the user stores a connection.
type hookKey struct{}

func newServerSpec(t *testing.T) *serverSpec {
	s := &serverSpec{t: t, over: make(chan struct{}), fresh: map[int]time.Time{}, active: map[int]bool{}, hijacked: map[int]bool{}}
	for i := range s.conns {
		s.below[i] = &serverConn{}
		s.conns[i] = s.below[i]
	}
	s.conns[0] = &upperConn{s.below[0]}
	s.conns[3] = keylessConn{s.below[3], nil}
	s.srv = &http.Server{
		Handler:   http.HandlerFunc(s.serve),
		ConnState: func(_ net.Conn, state http.ConnState) { s.hooks.Add(state.String()) },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, hookKey{}, c)
		},
	}
	s.step = HTTP(s.srv, HTTPOptions{Name: "http"})
	return s
}

// fails records a difference from the specification.
func (s *serverSpec) fails(format string, args ...any) {
	s.wrong = append(s.wrong, fmt.Sprintf(format, args...))
}

// takesKey is the key of the time of a handler.
type takesKey struct{}

// serve is the handler of the user.
func (s *serverSpec) serve(_ http.ResponseWriter, r *http.Request) {
	timer := time.NewTimer(r.Context().Value(takesKey{}).(time.Duration))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.over:
	}
}

func (s *serverSpec) call(c serverCall) {
	states := map[string]http.ConnState{
		"new": http.StateNew, "active": http.StateActive, "idle": http.StateIdle, "closed": http.StateClosed, "hijacked": http.StateHijacked,
	}
	switch state, ok := states[c.what]; {
	case ok:
		before := s.hooks.All()
		s.srv.ConnState(s.conns[c.conn], state)
		if got, want := s.hooks.All(), append(before, state.String()); !slices.Equal(got, want) {
			s.fails("the hook of the user has got the states %q, want %q", got, want)
		}
		s.moved(c)
	case c.what == "leave":
		s.leaving = true
		s.step.onExit()
	default:
		s.request(c)
	}
	time.Sleep(c.then)
	synctest.Wait()
	s.forget(time.Now())
}

// moved applies a state to the specification.
func (s *serverSpec) moved(c serverCall) {
	if c.conn == 3 {
		s.keyless += map[string]int{"new": 1, "hijacked": -1, "closed": -1}[c.what]
		return
	}
	s.active[c.conn] = c.what == "active"
	switch c.what {
	case "new":
		s.fresh[c.conn] = time.Now()
	case "hijacked":
		s.hijacked[c.conn] = true
		delete(s.fresh, c.conn)
	case "idle", "closed":
		delete(s.fresh, c.conn)
	}
}

// request makes a request whose handler begins at once.
func (s *serverSpec) request(c serverCall) {
	conn := s.conns[c.conn]
	ctx := s.srv.ConnContext(context.WithValue(s.t.Context(), takesKey{}, c.takes), conn)
	if got := ctx.Value(hookKey{}); fmt.Sprint(got) != fmt.Sprint(conn) {
		s.fails("the hook of the user has stored the connection %v, want %v", got, conn)
	}
	name := fmt.Sprint("/", len(s.requests))
	r := (&http.Request{Method: "GET", URL: &url.URL{Path: name}, Proto: fmt.Sprintf("HTTP/%d", c.proto), ProtoMajor: c.proto}).WithContext(ctx)
	w := httptest.NewRecorder()
	go func() {
		defer func() {
			if v := recover(); v != nil {
				s.fails("the handler of the server panics at the request %s: %v, want none to", name, v)
			}
		}()
		s.srv.Handler.ServeHTTP(w, r)
	}()
	synctest.Wait()
	if got, want := w.Header().Get("Connection") == "close", s.leaving && c.proto == 1; got != want {
		s.fails("a response of HTTP/%d asks to close the connection: %v, want %v", c.proto, got, want)
	}
	s.requests = append(s.requests, servedRequest{c, name, time.Now().Add(c.takes), time.Now()})
	delete(s.fresh, c.conn)
}

// forget removes the requests that have ended.
func (s *serverSpec) forget(now time.Time) {
	s.requests = slices.DeleteFunc(s.requests, func(r servedRequest) bool {
		if r.ends.After(now) {
			return false
		}
		delete(s.hijacked, r.conn)
		return true
	})
}

// end runs the step, and compares its end with the specification.
func (s *serverSpec) end(timeout time.Duration, late []lateConn) {
	cause := errors.New("the time of the step")
	began := time.Now()
	ctx, cancel := context.WithTimeoutCause(s.t.Context(), timeout, cause)
	defer cancel()
	took := time.Duration(0)
	near := timeout - min(heedTime, timeout/2)
	for s.isUnread(began, took, late) && (took < near || s.waits(began.Add(took))) {
		took += pollEvery
	}
	for _, r := range s.requests {
		took = max(took, r.ends.Sub(began))
	}
	took = min(took, timeout)
	for _, c := range late {
		c.accept(s.srv)
	}
	err := s.step.Run(ctx)
	if got := time.Since(began); got != took {
		s.fails("the step took %v, want %v", got, took)
	}
	s.forget(began.Add(took))
	s.judge(err, cause)
	close(s.over)
	synctest.Wait()
	s.request(serverCall{conn: 1, proto: 1})
	time.Sleep(time.Minute) // until the last late connection
	synctest.Wait()
}

// isUnread reports whether the first request of a connection may be unread at the time now of the step. A connection that is
// accepted 5 s after the begin, or later, does not delay the step.
func (s *serverSpec) isUnread(began time.Time, now time.Duration, late []lateConn) bool {
	const most = 5 * time.Second
	for _, at := range s.fresh {
		if began.Add(now).Sub(at) < most {
			return true
		}
	}
	for _, c := range late {
		if c.accepted < min(now, most) && now < min(c.begins, c.accepted+most) {
			return true
		}
	}
	return false
}

// waits reports whether the step has at a time more to wait for than connections that may have sent nothing.
func (s *serverSpec) waits(at time.Time) bool {
	for _, r := range s.requests {
		if r.ends.After(at) {
			return true
		}
	}
	return s.keyless > 0 || s.active[0] || s.active[1] || s.active[2]
}

// judge compares the error of the step, and the connections that it has closed, with the specification.
func (s *serverSpec) judge(err, cause error) {
	var want []CutRequest
	var closes [4]int
	for _, r := range s.requests {
		kind := fmt.Sprintf("HTTP/%d", r.proto)
		if r.conn < 3 && s.hijacked[r.conn] {
			kind = "hijacked"
			closes[r.conn]++
		}
		want = append(want, CutRequest{kind, "GET " + r.name, r.began, -1, -1})
	}
	slices.SortFunc(want, func(a, b CutRequest) int {
		return cmp.Or(a.Began.Compare(b.Began), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.What, b.What))
	})
	cut := &CutError{}
	errors.As(err, &cut)
	switch {
	case !slices.Equal(cut.Requests, want):
		s.fails("the step has cut %v, want %v", cut.Requests, want)
	case (err == nil) != (want == nil) || err != nil && !errors.Is(err, cause):
		s.fails("the error of the step is %v, want it to match %v: %v", err, cause, want != nil)
	}
	for i, c := range s.below {
		if c.closes != closes[i] {
			s.fails("the step has closed the connection %d %d times, want %d", i, c.closes, closes[i])
		}
	}
}
