package draintest

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// balancer models a load balancer that learns of the shutdown late. It probes the
// readiness on a fresh connection every tick, and sends requests until a Lag after the
// first failed probe.
type balancer struct {
	mu     sync.Mutex
	absent bool      // there is no probe
	ready  time.Time // when the last probe was sent that was answered "ready"; zero: none
	turned time.Time // when the first probe after that failed; zero: none
	said   bool      // it failed by an answer "not ready", not by a closed connection
}

const probeName = "readiness probe"

// probe sends readiness probes until the round is over.
func (r *round) probe() {
	if r.server.Readiness == NoReadiness {
		r.balancer.mu.Lock()
		r.balancer.absent = true
		r.balancer.mu.Unlock()
		return
	}
	for r.probing() {
		c := r.newCall(probeName)
		sent := time.Now()
		err := c.probe(r.server.Readiness)
		c.finish(err)
		r.heard(probeName, err)
		r.balancer.learn(r, sent, c, err)
		r.pause()
	}
}

// probing is true until the round is over: later probes, after the first failed one, show
// whether the listener is open.
func (r *round) probing() bool {
	select {
	case <-r.over:
	case <-r.closed:
	case <-r.server.Done:
	case <-r.ctx.Done():
	default:
		return true
	}
	return false
}

func (c *Call) probe(target string) error {
	u, err := url.Parse(target)
	if err != nil {
		return err
	}
	conn, err := c.dial(context.Background(), u.Host)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", u.RequestURI(), u.Host); err != nil {
		return err
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return err
	}
	_ = answer.Body.Close()
	c.Begun(answer.Status)
	if answer.StatusCode/100 != 2 {
		return &RefusedError{answer.Status}
	}
	return nil
}

// learn records the result of a probe.
func (b *balancer) learn(r *round, sent time.Time, c *Call, err error) {
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		b.ready = sent
		return
	}
	if b.ready.IsZero() || !b.turned.IsZero() {
		return
	}
	b.turned, b.said = now, c.outcome == refused && c.begun
	r.log("the readiness probe failed: " + err.Error())
}

// wasReady reports whether a probe was answered "ready", or there is no probe.
func (b *balancer) wasReady() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.absent || !b.ready.IsZero()
}

// sends reports whether the balancer sends requests to the server.
func (b *balancer) sends(lag time.Duration) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.absent {
		return true
	}
	return !b.ready.IsZero() && (b.turned.IsZero() || time.Since(b.turned) < lag)
}

// promise returns the time until which the server must refuse no connection: one lag after
// the sending of the last probe that it answered "ready". It returns the zero time if there
// was no such probe.
func (b *balancer) promise(lag time.Duration) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ready.IsZero() {
		return time.Time{}
	}
	return b.ready.Add(lag)
}
