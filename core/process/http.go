package process

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
)

// HTTPOptions configures the step of an http.Server. The zero value of every field is
// usable.
type HTTPOptions struct {
	// Name is Step.Name. "": "http", with the server's Addr if it has one.
	Name string

	// Deadline is Step.Deadline. 0: the step has the time until the Plan's Deadline, less
	// the time reserved for later steps, so that a slow request is not cut after
	// DefaultStepDeadline.
	Deadline time.Duration

	// Listeners are the TCP listeners below a TLS listener that srv serves. Listeners
	// that srv serves without TLS need not be named: BaseContext receives them.
	Listeners []net.Listener

	_ struct{}
}

// HTTP returns the step that ends srv without losing a request. Call it before srv serves,
// because it adds to the Handler, BaseContext, ConnState and ConnContext of srv.
//
//	srv := &http.Server{Addr: ":8080", Handler: mux}
//	process.Run(ctx, process.Plan{
//		Start:    func(context.Context) error { return process.Served(srv.ListenAndServe()) },
//		PreDrain: 5 * time.Second,
//		Steps:    []process.Step{process.HTTP(srv, process.HTTPOptions{})},
//	})
//
// Each response to an HTTP/1 request that begins after the exit has begun asks its client to
// close the connection, so that clients find another instance while PreDrain passes and srv still
// accepts connections. A request whose handler began before the exit keeps its connection until
// the step calls srv.Shutdown.
// The step first turns new connections away. It lets srv accept the connections in the accept
// queue, because closing the listeners would reset them. It waits until the requests that these
// connections have sent are in a handler, because srv.Shutdown would drop requests that srv has
// not read. Then the step calls srv.Shutdown, which closes the listeners and idle connections
// and sends HTTP/2 clients a GOAWAY, and waits for all handlers. These include the handlers of
// hijacked connections, such as WebSockets, for which srv.Shutdown does not wait: make such
// handlers return with srv.RegisterOnShutdown. The step does not wait for a connection whose
// handler returned after Hijack.
//
// Only Linux can turn connections away, and only at listeners without MPTCP: make them with a
// net.ListenConfig and SetMultipathTCP(false). Otherwise a connection that arrives just before
// the listeners close is reset. If another process has the socket too, the socket takes new
// connections again once the step has closed the listener. At a socket of Listeners none is
// turned away, because the service manager keeps the socket and its accept queue: srv only
// stops accepting. If srv serves the net.Listener in a Listener, it logs that as errors of Accept.
//
// When the time of the step is over, the step closes all connections, hijacked ones too, and
// fails with a *CutError that names the requests it cut, with the bytes that their clients had
// received. It cuts no request earlier. Connections that have sent nothing, such as those of a
// health check or a preconnect, do not make the step fail: if only such connections are left 100
// ms before the end, or after half of a shorter time, the step closes them and returns nil. A
// connection of which it does not know what has arrived counts as one of these until its first
// request: one with TLS, one that is no TCP socket, and on systems other than Linux any.
//
// The tempting wrong versions: srv.Close cuts every request. A main that returns when
// ListenAndServe returns cuts them too, because srv.Shutdown makes ListenAndServe return at
// once. Without PreDrain the load balancer sends requests to a closed port (golang/go #36946).
func HTTP(srv *http.Server, opts HTTPOptions) Step {
	if srv == nil {
		return Step{Name: cmp.Or(opts.Name, "http"), mistake: "HTTP: srv is nil, want a server"}
	}
	h := &httpServer{srv: srv, next: srv.Handler, listeners: slices.Clone(opts.Listeners), fresh: map[net.Conn]time.Time{}, active: map[net.Conn]bool{}, inFlight: map[*request]struct{}{}, hijacked: map[net.Conn]bool{}}
	if h.next == nil {
		h.next = http.DefaultServeMux
	}
	srv.Handler = h
	h.watchConns()
	return Step{
		Name: cmp.Or(opts.Name, strings.TrimSpace("http "+srv.Addr)), Deadline: opts.Deadline,
		Run: h.end, patient: true, onExit: h.leave,
	}
}

// Served returns err, or nil if err is http.ErrServerClosed. ListenAndServe and Serve return
// http.ErrServerClosed after an orderly end, but to Run every error of Plan.Start is a
// failure.
func Served(err error) error {
	if err == http.ErrServerClosed {
		return nil
	}
	return err
}

// CutError is the failure of a step that closed connections with requests in flight, because
// its time was over.
type CutError struct {
	Requests []CutRequest // in the order in which they began
	Reason   error        // why the time was over: ErrStepDeadline, ErrDeadline or a *SignalError
}

// CutRequest is a request whose handler was running when its connection was closed.
type CutRequest struct {
	Kind  string // "HTTP/1.1", "HTTP/2.0" or "hijacked"
	What  string // method and path
	Began time.Time

	// Acked and Unacked count the bytes that had been written to the connection when it was
	// closed: those that the client's system had acknowledged, and those that may be lost. They
	// include earlier responses on the same connection, other HTTP/2 streams and the overhead of
	// TLS; bytes in the buffers of package net/http are in neither. Both are -1 if the system does
	// not report them: on systems other than Linux, and for connections that are no TCP sockets.
	Acked, Unacked int64
}

// ByKind counts Requests by their Kind.
func (c *CutError) ByKind() map[string]int {
	counts := map[string]int{}
	for _, r := range c.Requests {
		counts[r.Kind]++
	}
	return counts
}

func (c *CutError) Error() string {
	const most = 10
	var names []string
	for _, r := range c.Requests[:min(most, len(c.Requests))] {
		names = append(names, r.String())
	}
	if more := len(c.Requests) - most; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("process: %d requests cut (%v): %s", len(c.Requests), c.Reason, strings.Join(names, ", "))
}

// String returns the kind and name of the request and, if they are known, its bytes.
func (r CutRequest) String() string {
	text := r.Kind + " " + r.What
	if r.Acked >= 0 && r.Unacked >= 0 {
		text += fmt.Sprintf(" (%d bytes acknowledged, %d not)", r.Acked, r.Unacked)
	}
	return text
}

// Unwrap returns the Reason.
func (c *CutError) Unwrap() error { return c.Reason }

// httpServer wraps the handler of a server and tracks its requests.
type httpServer struct {
	// Set once.
	srv  *http.Server
	next http.Handler

	// Guarded by mu.
	mu        sync.Mutex
	listeners []net.Listener
	leaving   bool                   // the exit has begun
	fresh     map[net.Conn]time.Time // connections without a request in a handler so far, and when they were accepted
	active    map[net.Conn]bool      // connections whose request is read or answered
	unknown   int                    // open connections that cannot be keys
	inFlight  map[*request]struct{}  // handlers that run
	hijacked  map[net.Conn]bool      // connections of inFlight that were hijacked
	idle      chan struct{}          // closed when no handler runs; nil if the step does not wait
}

type request struct {
	proto, what string
	conn        net.Conn
	began       time.Time
}

// connKey is the context key under which ConnContext stores the connection of a request.
type connKey struct{}

// watchConns chains the hooks of the server: BaseContext collects its listeners, ConnContext
// stores the connection of each request, and ConnState tracks new and hijacked connections.
func (h *httpServer) watchConns() {
	state, connContext, baseContext := h.srv.ConnState, h.srv.ConnContext, h.srv.BaseContext
	h.srv.BaseContext = func(l net.Listener) context.Context {
		h.mu.Lock()
		h.listeners = append(h.listeners, l)
		h.mu.Unlock()
		if baseContext != nil {
			return baseContext(l)
		}
		return context.Background()
	}
	h.srv.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if connContext != nil {
			ctx = connContext(ctx, c)
		}
		if !reflect.ValueOf(c).Comparable() {
			return ctx // it cannot be a key
		}
		return context.WithValue(ctx, connKey{}, c)
	}
	h.srv.ConnState = func(c net.Conn, s http.ConnState) {
		h.moved(c, s)
		if state != nil {
			state(c, s)
		}
	}
}

// moved records the new state of a connection. StateActive leaves a connection in fresh:
// srv may not have called the handler yet.
func (h *httpServer) moved(c net.Conn, s http.ConnState) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !reflect.ValueOf(c).Comparable() {
		switch s {
		case http.StateNew:
			h.unknown++
		case http.StateHijacked, http.StateClosed:
			h.unknown--
		}
		return
	}
	if s != http.StateActive {
		delete(h.active, c)
	}
	switch s {
	case http.StateNew:
		h.fresh[c] = time.Now()
	case http.StateActive:
		h.active[c] = true
	case http.StateHijacked:
		h.hijacked[c] = true
		delete(h.fresh, c)
	case http.StateIdle, http.StateClosed:
		delete(h.fresh, c)
	}
}

// unreadTime is how long srv.Shutdown waits for the first request of a connection.
const unreadTime = 5 * time.Second

// unread reports whether a connection accepted before the time before has sent bytes, but no
// handler has begun for it. srv.Shutdown would lose that request: once Shutdown is called, srv
// reads the request and closes the connection without an answer.
func (h *httpServer) unread(before time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c, at := range h.fresh {
		if at.Before(before) && time.Since(at) < unreadTime && received(c) != 0 {
			return true
		}
	}
	return false
}

// ServeHTTP calls the server's own handler.
func (h *httpServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	one := &request{proto: r.Proto, what: r.Method + " " + r.URL.Path, began: time.Now()}
	one.conn, _ = r.Context().Value(connKey{}).(net.Conn)
	h.mu.Lock()
	h.inFlight[one] = struct{}{}
	delete(h.fresh, one.conn)
	leaving := h.leaving
	h.mu.Unlock()
	defer h.served(one)
	if leaving && r.ProtoMajor == 1 {
		w.Header().Set("Connection", "close")
	}
	h.next.ServeHTTP(w, r)
}

func (h *httpServer) served(r *request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.inFlight, r)
	delete(h.hijacked, r.conn)
	if len(h.inFlight) == 0 && h.idle != nil {
		close(h.idle)
		h.idle = nil
	}
}

// leave is called when the exit begins.
func (h *httpServer) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.leaving = true
}

// end is the Run of the step.
func (h *httpServer) end(ctx context.Context) error {
	h.mu.Lock()
	listeners := slices.Clone(h.listeners)
	h.mu.Unlock()
	began := time.Now()
	near, release := nearEnd(ctx)
	defer release()
	resume := sync.OnceFunc(stopArrivals(ctx, listeners, func() bool {
		return h.unread(began.Add(unreadTime)) && !(isOver(near) && h.onlySilent())
	}))
	defer resume()                   // which also waits for the other call
	h.srv.RegisterOnShutdown(resume) // Shutdown calls it once it has closed the listeners, and does not wait
	err := h.shutDown(ctx, near)     // of a listener, or of ctx
	select {
	case <-h.untilIdle():
	case <-ctx.Done():
	}
	cut, hijacked := h.running()
	if len(cut) > 0 {
		err = &CutError{Requests: cut, Reason: context.Cause(ctx)}
	}
	_ = h.srv.Close() // its error is of a listener, which is closed by now
	for _, c := range hijacked {
		_ = c.Close() // srv.Close leaves hijacked connections open
	}
	return err
}

// untilIdle returns a channel that is closed when no handler runs. Only the last channel is: end calls it once.
func (h *httpServer) untilIdle() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.inFlight) == 0 {
		none := make(chan struct{})
		close(none)
		return none
	}
	h.idle = make(chan struct{})
	return h.idle
}

// running returns the requests whose handlers run, the oldest first, and the hijacked
// connections among theirs.
func (h *httpServer) running() (all []CutRequest, hijacked []net.Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for r := range h.inFlight {
		kind, conn := r.proto, belowTLS(r.conn)
		if h.hijacked[r.conn] {
			kind, hijacked = "hijacked", append(hijacked, conn)
		}
		acked, unacked := writtenTo(conn)
		all = append(all, CutRequest{kind, r.what, r.began, acked, unacked})
	}
	sortCut(all)
	return all, hijacked
}

// belowTLS returns the connection below a tls.Conn, or c itself. Close of a tls.Conn may block
// while it sends an alert.
func belowTLS(c net.Conn) net.Conn {
	if tls, ok := c.(interface{ NetConn() net.Conn }); ok {
		return tls.NetConn()
	}
	return c
}
