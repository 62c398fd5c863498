//go:build linux

package exits

import (
	"context"
	"errors"
	"fmt"
	"io"
	stdnet "net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"time"

	"eventide/core/process"
	"eventide/props/lanes/sockets/kernel"
)

// Server is the http.Server of a step of kind http, which serves from the call of Run on.
type Server struct {
	Listener   string // "tcp", "multipath" or "pipes"
	Opens      int    // until when its connections stay in the accept queue
	Hides      bool   // it serves a listener that hides its socket, as one of package tls does
	Named      bool   // if so, HTTPOptions.Listeners has the one below
	Conns      string // what the server gets: a connection with "socket", one "above" it, or one that is "hidden" or "uncomparable"
	CloseFails bool   // Close of the listener returns an error
	Hooks      bool   // it has hooks of its own, and a handler: else the default one
	Addr       string
	Second     bool // it serves another listener too, which no client knows
	Clients    []Client
}

// Client is a connection to the server of a step, and its requests.
type Client struct {
	At      int  // counts from the begin of the step or, if it is not begun, from that of the exit
	First   int  // from the connection to the first bytes of its request; -1: it sends none
	Rest    int  // from there to the other bytes
	Takes   int  // of the handler
	Again   int  // from an answer that keeps the connection to a second request; -1: there is none
	Panics  bool // the handler panics
	Hijacks bool
	Heeds   int // from the call of Shutdown until a handler that has hijacked returns; -1: it does not heed that
	Closes  bool
	Leaves  bool // it closes the connection instead of sending the other bytes
}

// server is the http.Server of a step that runs.
type server struct {
	r        *run
	i        int
	spec     *Server
	srv      *http.Server
	listener stdnet.Listener
	below    *kernel.Listener // nil: it is no socket
	pipes    *pipes
	serves   chan struct{} // closed by the first Accept
	shut     chan struct{} // closed by RegisterOnShutdown
	closed   time.Duration // when release has closed the server

	once   sync.Once
	mu     sync.Mutex
	states map[http.ConnState]int
	got    map[string]answered // by request
	read   map[int]int64       // bytes that a client has got
}

// answered is what became of a request.
type answered struct {
	what string
	at   time.Duration
}

// pipes is a listener in memory.
type pipes struct {
	conns  chan stdnet.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) Accept() (stdnet.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, stdnet.ErrClosed
	}
}

func (p *pipes) Close() error        { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() stdnet.Addr   { return &stdnet.UnixAddr{Name: "pipes", Net: "unix"} }
func (r *run) until(d time.Duration) { time.Sleep(time.Until(r.began.Add(d))) }

// gate is a listener that accepts from a time on, and gives its connections a type.
type gate struct {
	stdnet.Listener
	s      *server
	closed chan struct{}
}

func (g *gate) Accept() (stdnet.Conn, error) {
	g.s.once.Do(func() { close(g.s.serves) })
	opens := time.NewTimer(time.Until(g.s.r.began.Add(g.s.spec.opens())))
	defer opens.Stop()
	select {
	case <-opens.C:
	case <-g.closed:
		return nil, stdnet.ErrClosed
	}
	c, err := g.Listener.Accept()
	if err != nil {
		return nil, err
	}
	switch g.s.spec.Conns {
	case "above":
		return &above{hidden{c}}, nil
	case "hidden":
		return &hidden{c}, nil
	case "uncomparable":
		return uncomparable{c, []int{0}}, nil
	}
	return c, nil
}

var errClose = errors.New("the close of a listener")

func (g *gate) Close() error {
	close(g.closed)
	if err := g.Listener.Close(); err != nil || !g.s.spec.CloseFails {
		return err
	}
	return errClose
}

// socketGate is a gate that shows its socket.
type socketGate struct {
	*gate
	syscall.Conn
}

type (
	hidden struct{ stdnet.Conn }
	above  struct{ hidden }
	// uncomparable cannot be a key of a map.
	uncomparable struct {
		stdnet.Conn
		slice []int
	}
)

// NetConn is tls.Conn's.
func (a *above) NetConn() stdnet.Conn { return a.Conn }

// keyOf is the type of the values that hooks of the program leave in contexts.
type keyOf string

// httpStep makes the step of a server, and begins to serve.
func (r *run) httpStep(i int, deadline time.Duration) process.Step {
	s := &server{r: r, i: i, spec: &r.p.Steps[i].Server, serves: make(chan struct{}), shut: make(chan struct{}), states: map[http.ConnState]int{}, got: map[string]answered{}, read: map[int]int64{}}
	r.servers[i] = s
	s.srv = &http.Server{Addr: s.spec.Addr, ErrorLog: silentLog}
	var handler http.Handler = http.HandlerFunc(s.handle)
	if s.spec.Hooks {
		s.srv.Handler = handler
		s.srv.BaseContext = func(stdnet.Listener) context.Context {
			return context.WithValue(context.Background(), keyOf("base"), i)
		}
		s.srv.ConnContext = func(ctx context.Context, _ stdnet.Conn) context.Context {
			return context.WithValue(ctx, keyOf("conn"), i)
		}
		s.srv.ConnState = func(_ stdnet.Conn, state http.ConnState) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.states[state]++
		}
	} else {
		http.DefaultServeMux = http.NewServeMux()
		http.Handle("/", handler)
	}
	s.srv.RegisterOnShutdown(func() { close(s.shut) })
	opts := process.HTTPOptions{Deadline: deadline}
	if s.spec.Named {
		opts.Name = "named"
	}
	s.listen(&opts)
	listeners := []stdnet.Listener{s.listener}
	if s.spec.Second {
		listeners = append(listeners, &pipes{conns: make(chan stdnet.Conn), closed: make(chan struct{})})
	}
	step := process.HTTP(s.srv, opts)
	if want := s.spec.name(); step.Name != want || step.Deadline != deadline {
		r.violate("HTTP returns the step %q with the deadline %v, want %q and %v", step.Name, step.Deadline, want, deadline)
	}
	for _, l := range listeners {
		r.others.Go(func() {
			if err := s.srv.Serve(l); err != http.ErrServerClosed || process.Served(err) != nil {
				r.violate("step %d: Serve returns %v", i, err)
			}
		})
	}
	<-s.serves
	for n := range s.spec.Clients {
		r.others.Go(func() { s.client(n) })
	}
	work := step.Run
	step.Run = func(ctx context.Context) error { return s.settled(ctx, work(ctx)) }
	step.Name = stepName(i)
	return step
}

func (s *Server) name() string {
	if s.Named {
		return "named"
	}
	return strings.TrimSpace("http " + s.Addr)
}

// listen makes the listener.
func (s *server) listen(opts *process.HTTPOptions) {
	if s.spec.Listener == "pipes" {
		s.pipes = &pipes{conns: make(chan stdnet.Conn), closed: make(chan struct{})}
		s.listener = &gate{Listener: s.pipes, s: s, closed: make(chan struct{})}
		return
	}
	var err error
	if s.below, err = s.r.k.NewListener(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0), 4096); err != nil {
		panic(err)
	}
	if s.spec.Listener == "multipath" {
		s.below.SetMultipath()
	}
	g := &gate{Listener: s.below, s: s, closed: make(chan struct{})}
	s.listener = &socketGate{g, s.below}
	if s.spec.Hides {
		s.listener = g
		if s.spec.Named {
			opts.Listeners = []stdnet.Listener{s.below}
		}
	}
}

// settled returns the error of the step. net/http looks for idle connections at random times: within
// the time of a look, the step ends at the last time at which it can.
func (s *server) settled(ctx context.Context, err error) error {
	e, at, tail := s.r.want.servers[s.i], time.Since(s.r.began), tailTime
	if e.looks {
		if latest := min(e.latest, e.cut); at < e.earliest || at > latest {
			s.r.violate("step %d: HTTP ends at %v, want %v to %v", s.i, at, e.earliest, latest)
		}
		tail = e.latest - at
		if err == nil && at >= e.near && s.spec.CloseFails { // it has given up Shutdown, which would have returned the error
			err = errClose
		}
	}
	left := time.NewTimer(tail)
	defer left.Stop()
	select {
	case <-left.C:
	case <-ctx.Done():
		if e.looks {
			return nil // it may have ended before, or not
		}
	}
	return err
}

// handle is the handler of all requests.
func (s *server) handle(w http.ResponseWriter, q *http.Request) {
	name := strings.TrimPrefix(q.URL.Path, "/")
	var n, nth int
	if _, err := fmt.Sscanf(name, "%d/%d", &n, &nth); err != nil {
		s.r.violate("step %d: a request of %q", s.i, q.URL.Path)
		return
	}
	c := &s.spec.Clients[n]
	if ctx := q.Context(); s.spec.Hooks && (ctx.Value(keyOf("base")) != s.i || ctx.Value(keyOf("conn")) != s.i) {
		s.r.violate("step %d: the context of a request has not the values of the server's hooks", s.i)
	}
	if c.Hijacks {
		s.hijack(w, c, name)
		return
	}
	time.Sleep(c.takes())
	if c.Panics {
		panic(http.ErrAbortHandler)
	}
	_, _ = io.WriteString(w, "answer "+name)
}

func (s *server) hijack(w http.ResponseWriter, c *Client, name string) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		s.r.violate("step %d: Hijack returns %v", s.i, err)
		return
	}
	left := time.NewTimer(c.takes())
	defer left.Stop()
	shut := s.shut
	if c.Heeds < 0 {
		shut = nil
	}
	select {
	case <-left.C:
	case <-shut:
		select {
		case <-left.C:
		case <-time.After(c.heeds()):
		}
	}
	_, _ = io.WriteString(conn, "answer "+name)
	if c.Closes {
		_ = conn.Close()
		return
	}
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	s.r.hijacked = append(s.r.hijacked, conn)
}
