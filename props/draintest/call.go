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

// Call is one request, or one connection of many lines, with its time line. A Client's Talk
// makes the request and says what it saw. Its methods may be called from many goroutines.
type Call struct {
	r      *round
	client string
	id     string

	mu       sync.Mutex
	events   []event
	began    time.Time
	ended    time.Time
	fresh    bool   // nothing was answered on its connection yet
	live     bool   // its connection works
	accepted bool   // the client saw it
	begun    bool   // of the response
	unit     string // what the Endpoint calls the part that waits for an answer
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
	refused            // no connection, or an answer that says so
	unanswered         // the connection ended before the first byte of an answer
	cut                // it ended behind the first byte
)

// RefusedError is the error of a Talk whose request was answered by a refusal, such as 503.
type RefusedError struct{ Answer string }

func (r *RefusedError) Error() string { return "refused by the answer " + r.Answer }

// errEnded is the error of a request that could not go on because the server has ended.
var errEnded = errors.New("the server has ended before the request was sent whole")

func (r *round) newCall(client string) *Call {
	id := fmt.Sprintf("%s-%d", r.nonce, r.ids.Add(1))
	c := &Call{r: r, client: client, id: id, unit: id, began: time.Now()}
	r.mu.Lock()
	r.calls = append(r.calls, c)
	r.mu.Unlock()
	return c
}

// ID returns the name of the call, different for all calls of a process. A server's handler
// that has the kit's Endpoint finds it in the header RequestHeader.
func (c *Call) ID() string { return c.id }

// Addr returns where the server listens.
func (c *Call) Addr() string { return c.r.server.Addr }

// Logf adds a line to the time line.
func (c *Call) Logf(format string, args ...any) {
	at := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, event{at, fmt.Sprintf(format, args...)})
}

// Accepted says that the client knows that the server has accepted the call, and by what.
func (c *Call) Accepted(by string) {
	c.Logf("%s: accepted", by)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.accepted, c.live, c.fresh = true, true, false
}

// Live says that the server has accepted the connection of a call of many parts, each of
// which is accepted on its own (see Unit). A connection that lives must not be reset.
func (c *Call) Live(by string) {
	c.Logf("%s: the connection is accepted", by)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.live, c.fresh = true, false
}

// Begun says that the first byte of the response has arrived. The call counts as accepted.
func (c *Call) Begun(what string) {
	c.Logf("%s: the response has begun", what)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.accepted, c.begun, c.live, c.fresh = true, true, true, false
}

// Unit names the part of the call that waits for an answer, such as one line: if the server's
// Endpoint began it and the call ends without an answer, it is lost.
func (c *Call) Unit(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unit = id
}

// Held returns the channel that is closed when requests that the client holds open through
// the shutdown are to end by themselves.
func (c *Call) Held() <-chan struct{} { return c.r.release }

// Ended returns the channel that is closed when the server has ended: the client sends
// nothing more, and reads what was sent.
func (c *Call) Ended() <-chan struct{} { return c.r.server.Done }

// Pause waits for a moment, or until the server has ended.
func (c *Call) Pause() { c.r.pause() }

// EndedError returns the error of a call that could not go on because Ended is closed.
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
		// A reset that meets the handshake is one of a connection.
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

// isRefused reports whether nobody listened at an address.
func isRefused(err error, addr string) bool {
	var dial *dialError
	return errors.As(err, &dial) && dial.addr == addr && errors.Is(err, syscall.ECONNREFUSED)
}

// story is the time line, with the events of the round that fall into it.
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
