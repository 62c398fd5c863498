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

// balancer is the model of a load balancer that learns late. It probes the readiness on a
// fresh connection every tick, and sends requests until a Lag after the first probe that
// found the server not ready.
type balancer struct {
	mu     sync.Mutex
	absent bool      // there is no probe
	ready  time.Time // when the last probe was sent that the server answered by "ready"; zero: none
	turned time.Time // when the first answer came that was none of a ready server; zero: none
	said   bool      // that answer was one, and no closed connection
}

const probeName = "readiness probe"

// probe runs until the server is known not to be ready any more.
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

// probing is true until the round is over: the probes after the turn show whether the
// listener is open.
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

// learn takes the result of a probe.
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

// wasReady reports whether the balancer has sent requests.
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

// promise returns until when a server that keeps its promise refuses no connection: a probe
// that it answered by "ready" was sent a lag before. The zero time: there was no such probe.
func (b *balancer) promise(lag time.Duration) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ready.IsZero() {
		return time.Time{}
	}
	return b.ready.Add(lag)
}
