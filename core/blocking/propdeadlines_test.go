package blocking_test

import (
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// deadlinePlan has the calls of CloseGracefully, and what the executor waits for meanwhile.
type deadlinePlan struct {
	Waits string
	Calls []deadlineCall
	Group time.Duration // the timeout of a shutdown call after the others; 0: none
}

// deadlineCall is a call with a deadline; In is 0 for none.
type deadlineCall struct{ After, In time.Duration }

func drawDeadlinePlan(t *rapid.T) deadlinePlan {
	p := deadlinePlan{
		Waits: rapid.SampledFrom([]string{"the handshake", "a write", "the peer's end"}).Draw(t, "waits for"),
		Calls: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) deadlineCall {
			return deadlineCall{
				After: rapid.SampledFrom([]time.Duration{0, 2 * time.Second, 3 * time.Second}).Draw(t, "after"),
				In:    rapid.SampledFrom([]time.Duration{0, time.Second, 4 * time.Second, 9 * time.Second}).Draw(t, "deadline in"),
			}
		}), 1, 3).Draw(t, "calls"),
	}
	if rapid.Bool().Draw(t, "shutdown") {
		p.Group = 5*time.Second + time.Millisecond
	}
	// The channel ends in any case.
	p.Calls = append(p.Calls, deadlineCall{0, 20 * time.Second})
	return p
}

// ends returns when the channel ends, and why: at the earliest deadline. A call after that has no effect.
func (p deadlinePlan) ends() (at time.Duration, cause error) {
	now := time.Duration(0)
	at, cause = time.Hour, blocking.ErrCloseDeadline
	for _, c := range p.Calls {
		if now += c.After; now < at && c.In > 0 {
			at = min(at, now+c.In)
		}
	}
	if p.Group > 0 && now < at && now+p.Group < at {
		return now + p.Group, core.ErrShutdownTimeout
	}
	return at, cause
}

// silent is a connection that can half-close, and whose handshake lasts until it is closed, if it has one.
type silent struct {
	net.Conn
	closed chan struct{}
	once   sync.Once
}

func (s *silent) CloseWrite() error { return nil }
func (s *silent) Close() error {
	s.once.Do(func() { close(s.closed) })
	return s.Conn.Close()
}

// run returns how long the channel lasts, its cause, the calls of the handler and the error of CloseGracefully.
func (p deadlinePlan) run(t *testing.T) (lasts time.Duration, cause error, calls []string, err error) {
	g := newGroup(t, 0)
	ours, theirs := net.Pipe()
	defer func() { _ = theirs.Close() }()
	s := &silent{Conn: ours, closed: make(chan struct{})}
	conn := net.Conn(s)
	if p.Waits == "the handshake" {
		conn = cutShake{ours, s.closed, &s.once}
	}
	var j coretest.Journal
	begun := time.Now()
	ch := mustRegister(t, g, conn, recording(&j), blocking.WithHandshakeTimeout(time.Hour))
	synctest.Wait()
	if p.Waits == "a write" {
		ch.Write([]byte("nobody reads it"))
	}
	results, made := make(chan error, len(p.Calls)), make(chan struct{})
	go func() {
		defer close(made)
		for _, c := range p.Calls {
			time.Sleep(c.After)
			at := core.Deadline{}
			if c.In > 0 {
				at = time.Now().Add(c.In)
			}
			closing := ch.CloseGracefully(at)
			go func() {
				_, err := closing.Wait(t.Context())
				results <- err
			}()
		}
		if p.Group > 0 {
			coretest.MustShutdownGracefully(t, g, 0, p.Group)
		}
	}()
	<-ch.CloseFuture().Done()
	lasts, cause = time.Since(begun), ch.CloseCause()
	for range p.Calls {
		if err = <-results; err != cause {
			break
		}
	}
	<-made
	g.Shutdown()
	coretest.AwaitDone(t, g)
	return lasts, cause, j.All(), err
}

// TestPropDeadlines: of the deadlines of all calls of CloseGracefully and of a shutdown, the earliest ends a channel, whether its
// executor waits for a handshake, for a write, or for the peer's end. The future of each call fails with that cause, and
// Handler.Error is not called (G22, G23).
func TestPropDeadlines(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawDeadlinePlan(rt)
		wantLasts, wantCause := p.ends()
		wantCalls := []string{"Active", "Inactive", "Unregistered"}
		if p.Waits == "the handshake" {
			wantCalls = nil
		}
		var lasts time.Duration
		var cause, err error
		var calls []string
		synctest.Test(t, func(t *testing.T) { lasts, cause, calls, err = p.run(t) })
		if lasts != wantLasts || cause != wantCause || err != wantCause || !slices.Equal(calls, wantCalls) {
			rt.Fatalf("G23: the channel of %+v ends after %v with %v, CloseGracefully has %v, the handler got %q; want %v, %v, %q", p, lasts, cause, err, calls, wantLasts, wantCause, wantCalls)
		}
	})
}
