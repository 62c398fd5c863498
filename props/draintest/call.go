package draintest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"
)

// Call is one request, or one connection of many lines, with its timeline. The talk
// function of a Client makes the request and records its progress by the methods of Call.
// The methods may be called from many goroutines at once.
type Call struct {
	r      *round
	client string
	id     string

	mu       sync.Mutex
	events   []event
	began    time.Time
	ended    time.Time
	fresh    bool   // its connection has had no answer yet
	live     bool   // the server has accepted its connection
	accepted bool   // the client knows that the request is accepted
	begun    bool   // the response has begun
	unit     string // the name, for the Endpoint, of the part that waits for an answer
	outcome  outcome
	err      error
}

type event struct {
	at   time.Time
	what string
}

// outcome is how a call ended for its client.
type outcome uint8

const (
	answered   outcome = iota
	refused            // no connection, or an answer such as 503
	unanswered         // the connection ended before the first byte of an answer
	cut                // the connection ended after the first byte of an answer
)

// RefusedError is the error of a request that the server answered with a refusal, such as
// 503.
type RefusedError struct{ Answer string }

func (r *RefusedError) Error() string { return "refused by the answer " + r.Answer }

// errEnded is the error of a request that could not continue because the server has
// ended.
var errEnded = errors.New("the server ended before the request was sent completely")

func (r *round) newCall(client string) *Call {
	id := fmt.Sprintf("%s-%d", r.nonce, r.ids.Add(1))
	c := &Call{r: r, client: client, id: id, unit: id, began: time.Now()}
	r.mu.Lock()
	r.calls = append(r.calls, c)
	r.mu.Unlock()
	return c
}

// ID returns the name of the call, which is unique in the process. The client sends it in
// the header RequestHeader, and the Endpoint records it.
func (c *Call) ID() string { return c.id }

// Addr returns where the server listens.
func (c *Call) Addr() string { return c.r.server.Addr }

// Logf adds a line to the timeline.
func (c *Call) Logf(format string, args ...any) {
	at := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, event{at, fmt.Sprintf(format, args...)})
}

// Accepted records that the server has accepted the call; by is the evidence, such as a
// status line.
func (c *Call) Accepted(by string) {
	c.Logf("%s: accepted", by)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.accepted, c.live, c.fresh = true, true, false
}

// Live records that the server has accepted the connection of a call with many parts,
// each of which is accepted separately (see Unit). Such a connection must not be reset.
func (c *Call) Live(by string) {
	c.Logf("%s: the connection is accepted", by)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.live, c.fresh = true, false
}

// Begun records that the first byte of the response has arrived. The call then counts as
// accepted.
func (c *Call) Begun(what string) {
	c.Logf("%s: the response has begun", what)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.accepted, c.begun, c.live, c.fresh = true, true, true, false
}

// Unit names the part of the call that now waits for an answer, such as one line. If the
// server's Endpoint began this part and the call ends without an answer, the part is lost.
func (c *Call) Unit(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unit = id
}

// Held returns a channel that is closed when the client must complete the requests that it
// holds open through the shutdown.
func (c *Call) Held() <-chan struct{} { return c.r.release }

// Ended returns a channel that is closed when the server has ended: the client then sends
// nothing more, and reads the rest of the input.
func (c *Call) Ended() <-chan struct{} { return c.r.server.Done }

// Pause waits for one tick of the kit, or until the server has ended.
func (c *Call) Pause() { c.r.pause() }

// EndedError returns the error of a call that could not continue because Ended is closed.
func (c *Call) EndedError() error { return errEnded }

// Dial connects to the server. The kit closes the connection after the round.
func (c *Call) Dial(ctx context.Context) (net.Conn, error) { return c.dial(ctx, c.Addr()) }

func (c *Call) dial(ctx context.Context, addr string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.r.ctx, cancel)()
	var d net.Dialer
	began := time.Now()
	raw, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		c.Logf("not connected: %v", err)
		return nil, &dialError{addr, err}
	}
	c.Logf("connected from %s", raw.LocalAddr())
	c.mu.Lock()
	c.fresh = true
	c.mu.Unlock()
	return c.r.keep(raw, began, addr), nil
}

// dialError is a failure to connect.
type dialError struct {
	addr string
	err  error
}

func (d *dialError) Error() string { return d.err.Error() }
func (d *dialError) Unwrap() error { return d.err }

// finish classifies the call by the error of its Talk.
func (c *Call) finish(err error) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended, c.err = now, err
	var turned *RefusedError
	var dial *dialError
	switch {
	case err == nil:
		c.outcome = answered
	case errors.As(err, &turned):
		c.outcome = refused
	case errors.As(err, &dial) && !isReset(err):
		c.outcome = refused
	case c.begun:
		c.outcome = cut
	default:
		// A reset during the handshake is a reset of a fresh connection.
		c.fresh = c.fresh || errors.As(err, &dial)
		c.outcome = unanswered
	}
	if err != nil {
		c.events = append(c.events, event{now, err.Error()})
	}
}

// isReset reports whether a connection ended by a reset.
func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNABORTED)
}

// isRefused reports whether a connection to addr was refused because no socket listens
// there.
func isRefused(err error, addr string) bool {
	var dial *dialError
	return errors.As(err, &dial) && dial.addr == addr && errors.Is(err, syscall.ECONNREFUSED)
}

// story returns the timeline of the call, with the events of its round.
func (c *Call) story() string {
	text := fmt.Sprintf("%s, call %s of the round\n", c.client, c.id[len(c.r.nonce)+1:])
	c.r.mu.Lock()
	all := append([]event(nil), c.r.events...)
	c.r.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	all = append(all, c.events...)
	sortEvents(all)
	for _, e := range all {
		text += fmt.Sprintf("  %10.3f ms  %s\n", float64(e.at.Sub(c.began))/float64(time.Millisecond), e.what)
	}
	return text
}

// shorter orders failing examples: fewer events first, then less time.
func shorter(a, b *Call) int {
	return cmp.Or(cmp.Compare(len(a.events), len(b.events)), cmp.Compare(a.ended.Sub(a.began), b.ended.Sub(b.began)))
}
