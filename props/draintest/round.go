package draintest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// tick is the unit of the kit's waiting times. The kit counts ticks and does not measure
// time, so that it waits longer on a loaded machine, where its own goroutines are late.
const tick = 2 * time.Millisecond

const (
	heldTicks  = 50  // how long requests are held open after the listener has closed
	graceTicks = 250 // how long the kit waits for overdue events
)

// round is the life of one server, from its start to its end.
type round struct {
	kit    Kit
	server Server
	nonce  string
	ids    atomic.Int64
	ctx    context.Context // ends when the kit gives up
	cancel context.CancelFunc

	release chan struct{} // see Call.Held
	closed  chan struct{} // a connection was refused after the shutdown call
	closing sync.Once
	over    chan struct{} // closed when clients must begin no more requests
	bytes   atomic.Int64  // bytes that clients have read: their progress

	balancer balancer

	mu         sync.Mutex
	calls      []*Call
	conns      map[*conn]struct{}
	events     []event
	connected  time.Time // begin of the latest dial that made a connection
	shutdownAt time.Time // zero before
	failure    map[string]error

	// Set by run.
	doneAt   time.Time // zero: not by the deadline
	leftover []string
	judged   bool // leftover was determined
	descr    bool // descriptors too
}

// rounds counts the rounds of the process.
var rounds atomic.Int64

const watchName = "listener probe"

// round starts a server, drives it through its shutdown, and collects leftover goroutines
// and descriptors.
func (k Kit) round(n int, start Start) (*round, error) {
	before := goroutines()
	descriptors, known := descriptors()
	server, err := start()
	if err != nil {
		return nil, err
	}
	if err := server.validate(); err != nil {
		return nil, err
	}
	r := &round{
		kit: k, server: server, nonce: fmt.Sprintf("r%d", rounds.Add(1)), conns: map[*conn]struct{}{}, failure: map[string]error{},
		release: make(chan struct{}), closed: make(chan struct{}), over: make(chan struct{}),
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	defer r.cancel()
	err = r.run()
	if err == nil && n > 0 && !r.server.elsewhere && !r.doneAt.IsZero() {
		r.judged, r.descr = true, known
		r.leftover = r.left(before, descriptors)
	}
	if server.Abandon != nil {
		server.Abandon()
	}
	return r, err
}

func (s *Server) validate() error {
	s.Readiness = cmp.Or(s.Readiness, "/readyz")
	if strings.HasPrefix(s.Readiness, "/") {
		s.Readiness = "http://" + s.Addr + s.Readiness
	}
	if s.Addr == "" || s.Shutdown == nil || s.Done == nil {
		return fmt.Errorf("start returned a Server with Addr %q, Shutdown nil %v, Done nil %v; want all three", s.Addr, s.Shutdown == nil, s.Done == nil)
	}
	if s.Readiness != NoReadiness && !strings.HasPrefix(s.Readiness, "http://") {
		return fmt.Errorf("start returned a Server with Readiness %q, want a path, an http URL or NoReadiness", s.Readiness)
	}
	return nil
}

// run drives the clients and returns when all of them have ended. It returns an error if
// the server was not ready before the shutdown.
func (r *round) run() error {
	var clients sync.WaitGroup
	defer func() {
		r.giveUp()
		clients.Wait()
	}()
	clients.Go(r.probe)
	for _, client := range r.kit.Clients {
		for range r.kit.Workers {
			clients.Go(func() { r.work(client) })
		}
	}
	if err := r.warmUp(); err != nil {
		return err
	}
	r.beginShutdown()
	clients.Go(r.watch)
	deadline := r.shutdownAt.Add(r.kit.Deadline)
	half := r.shutdownAt.Add(r.kit.Deadline / 2)
	r.until(r.closed, half)
	for n := 0; n < heldTicks && time.Now().Before(half) && !r.hasEnded(); n++ {
		r.pause()
	}
	if !r.hasEnded() {
		r.log("clients complete the requests that they hold open")
	}
	close(r.release)
	if !r.until(r.server.Done, deadline) && !r.within(graceTicks, r.server.Done) {
		r.log("the deadline has passed, and the server has not ended")
		close(r.over)
		return nil
	}
	r.doneAt = time.Now()
	r.log("the server had ended")
	close(r.over)
	ended := make(chan struct{})
	go func() {
		clients.Wait()
		close(ended)
	}()
	for seen := int64(-1); seen != r.bytes.Load() && !r.hasHappened(ended); {
		seen = r.bytes.Load()
		r.within(graceTicks, ended)
	}
	return nil
}

func (r *round) hasEnded() bool { return r.hasHappened(r.server.Done) }

func (*round) hasHappened(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// until waits until c is closed. It returns false if limit passes or the server ends
// first.
func (r *round) until(c <-chan struct{}, limit time.Time) bool {
	timer := time.NewTimer(time.Until(limit))
	defer timer.Stop()
	select {
	case <-c:
		return true
	case <-r.server.Done:
		return c == r.server.Done
	case <-timer.C:
		return false
	}
}

// within waits until c is closed. It returns false after the given number of ticks.
func (r *round) within(ticks int, c <-chan struct{}) bool {
	for range ticks {
		timer := time.NewTimer(tick)
		select {
		case <-c:
			timer.Stop()
			return true
		case <-timer.C:
		}
	}
	return false
}

// warmUp waits until the server is ready and has answered each kind of client. A kind with
// Long set needs a request in flight instead of an answer.
func (r *round) warmUp() error {
	limit := time.Now().Add(r.kit.Patience)
	for {
		missing := r.missing()
		if missing == nil {
			return nil
		}
		select {
		case <-r.server.Done:
			return fmt.Errorf("the server ended before the shutdown: %w", missing)
		default:
		}
		if time.Now().After(limit) {
			return fmt.Errorf("not within %v: %w", r.kit.Patience, missing)
		}
		r.pause()
	}
}

// missing returns an error that names what warmUp still waits for, or nil.
func (r *round) missing() error {
	if !r.balancer.wasReady() {
		return fmt.Errorf("the readiness probe %s does not answer 200", r.server.Readiness)
	}
	done, held := map[string]int{}, map[string]int{}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.calls {
		c.mu.Lock()
		switch {
		case !c.ended.IsZero() && c.outcome == answered:
			done[c.client]++
		case c.ended.IsZero() && c.live:
			held[c.client]++
		}
		c.mu.Unlock()
	}
	for _, client := range r.kit.Clients {
		if n := client.Name; client.Long && held[n] == 0 || !client.Long && done[n] == 0 {
			return errors.Join(fmt.Errorf("the server answers no client of the kind %q", n), r.failure[n])
		}
	}
	return nil
}

func (r *round) beginShutdown() {
	r.mu.Lock()
	r.shutdownAt = time.Now()
	r.events = append(r.events, event{r.shutdownAt, "-- Shutdown was called --"})
	r.mu.Unlock()
	go r.server.Shutdown()
}

// work is one client.
func (r *round) work(client Client) {
	talk, end := client.Open()
	defer end()
	for !r.balancer.wasReady() && r.mayBegin(Client{Direct: true}) {
		r.pause()
	}
	for r.mayBegin(client) {
		c := r.newCall(client.Name)
		err := talk(c)
		c.finish(err)
		r.heard(client.Name, err)
		r.pause()
	}
}

// watch connects to the server until a connection is refused, so that the kit learns when the
// listener closes. It does nothing if the kit has a Direct client.
func (r *round) watch() {
	if slices.ContainsFunc(r.kit.Clients, func(c Client) bool { return c.Direct }) {
		return
	}
	r.work(Client{Name: watchName, Direct: true, Open: stateless(func(c *Call) error {
		conn, err := c.Dial(context.Background())
		if err == nil {
			err = conn.Close()
		}
		return err
	})})
}

// heard records the result of a call, and whether it shows that the listener is closed.
func (r *round) heard(name string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.failure[name] = err
	}
	if isRefused(err, r.server.Addr) && !r.shutdownAt.IsZero() {
		r.closing.Do(func() {
			r.events = append(r.events, event{time.Now(), "-- the first connection was refused --"})
			close(r.closed)
		})
	}
}

// mayBegin reports whether a client may begin a request.
func (r *round) mayBegin(client Client) bool {
	select {
	case <-r.over:
	case <-r.closed:
	case <-r.server.Done:
	case <-r.ctx.Done():
	default:
		return client.Direct || r.balancer.sends(r.kit.Lag)
	}
	return false
}

func (r *round) log(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, event{time.Now(), "-- " + what + " --"})
}

// pause waits for a tick, or until the server has ended.
func (r *round) pause() {
	timer := time.NewTimer(tick)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.server.Done:
	}
}

// conn is a connection of a client. giveUp closes it if the client has not.
type conn struct {
	net.Conn
	r *round
}

func (r *round) keep(raw net.Conn, began time.Time, addr string) *conn {
	c := &conn{raw, r}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conns[c] = struct{}{}
	if addr == r.server.Addr && began.After(r.connected) {
		r.connected = began
	}
	if r.ctx.Err() != nil {
		_ = raw.Close()
	}
	return c
}

// Read counts the bytes, so that the kit waits as long as clients make progress.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.r.bytes.Add(int64(n))
	return n, err
}

func (c *conn) Close() error {
	c.r.mu.Lock()
	delete(c.r.conns, c)
	c.r.mu.Unlock()
	return c.Conn.Close()
}

// giveUp closes all connections, so that every client ends.
func (r *round) giveUp() {
	r.cancel()
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.conns {
		_ = c.Conn.Close()
	}
	select {
	case <-r.release:
	default:
		close(r.release)
	}
}

func sortEvents(all []event) {
	slices.SortStableFunc(all, func(a, b event) int { return a.at.Compare(b.at) })
}
