package blocking

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"

	"pgregory.net/rapid"
)

// pollerPlan is what happens to a poller: its connections, one after the other, and the calls of Wait.
type pollerPlan struct {
	Conns []connPlan
	Waits []time.Duration // until each call of Wait ends at the latest; 0: no end. They are used in turn
	Buf   int
}

// connPlan is what happens beside the loop, in order, and the time between attach and the first Wait.
type connPlan struct {
	Before  time.Duration
	Strange bool // its timeouts are not those of package net
	Leaves  int  // the channel closes at this event, which it does not take; 0: it reads until the end
	Steps   []pollerStep
}

// pollerStep is input or a wake-up. A slow waker sets the deadline later, perhaps that of the next
// connection.
type pollerStep struct {
	After time.Duration
	Input int // bytes; 0: a wake-up
	Slow  time.Duration
}

func drawPollerPlan(t *rapid.T) pollerPlan {
	pause := rapid.SampledFrom([]time.Duration{0, 0, time.Microsecond, time.Millisecond, 3 * time.Millisecond, time.Second})
	return pollerPlan{
		Buf:   rapid.IntRange(1, 8).Draw(t, "buffer"),
		Waits: append(rapid.SliceOfN(rapid.SampledFrom([]time.Duration{0, -1, time.Microsecond, time.Millisecond, time.Second}), 0, 4).Draw(t, "waits"), 0),
		Conns: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) connPlan {
			return connPlan{
				Before: pause.Draw(t, "before"), Strange: rapid.Bool().Draw(t, "strange"),
				Leaves: max(0, rapid.IntRange(-6, 3).Draw(t, "leaves")),
				Steps: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) pollerStep {
					return pollerStep{pause.Draw(t, "after"), max(0, rapid.IntRange(-10, 20).Draw(t, "input")), pause.Draw(t, "slow")}
				}), 0, 8).Draw(t, "steps"),
			}
		}), 1, 3).Draw(t, "connections"),
	}
}

// strangeConn is a connection whose timeouts are not those of package net.
type strangeConn struct{ net.Conn }

func (s strangeConn) Read(p []byte) (int, error) {
	n, err := s.Conn.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = strangeTimeout{errors.New("stream: timeout")}
	}
	return n, err
}

// pollerRun runs a plan in virtual time.
type pollerRun struct {
	plan              pollerPlan
	p                 *connPoller
	waits             int
	entered, returned atomic.Int64 // calls of Wait
	slow              atomic.Int64 // slow wakers
	lost              atomic.Bool  // a wake-up did not end the sleep
}

// run returns the first difference, or "".
func (r *pollerRun) run() string {
	defer time.Sleep(time.Hour) // all goroutines end
	for i, c := range r.plan.Conns {
		if wrong := r.serve(uint64(i+1)<<32, c); wrong != "" {
			return fmt.Sprintf("connection %d: %s", i, wrong)
		}
	}
	if r.lost.Load() {
		return "G12: a wake-up was lost"
	}
	return ""
}

// serve reads a connection as a channel does, until the end or until it leaves.
func (r *pollerRun) serve(token uint64, c connPlan) string {
	ours, theirs := net.Pipe()
	defer func() { _ = ours.Close() }()
	conn := net.Conn(ours)
	if c.Strange {
		conn = strangeConn{ours}
	}
	r.p.attach(newConnection(conn), r.plan.Buf)
	time.Sleep(c.Before)
	if err := r.p.Add(connFD, core.Readable, token); err != nil {
		return err.Error()
	}
	defer func() { _ = r.p.Remove(connFD); r.p.detach() }()
	sent := make(chan []byte, 1)
	go func() { sent <- r.steps(c, theirs) }()
	var got []byte
	for events := 1; ; {
		if wrong := r.wait(); wrong != "" {
			return wrong
		}
		ready := r.p.Ready()
		if len(ready) == 0 {
			continue
		}
		if len(ready) != 1 || ready[0].Token != token || !ready[0].Readiness.Readable() {
			return fmt.Sprintf("events %v, want one of %d", ready, token)
		}
		if events == c.Leaves {
			_ = ours.Close()
			<-sent
			return ""
		}
		events++
		p, err := r.p.take()
		got = append(got, p...)
		switch {
		case err == io.EOF:
			if all := <-sent; !bytes.Equal(got, all) {
				return fmt.Sprintf("G23: read %v, want %v", got, all)
			}
			return ""
		case err == nil && len(p) == 0:
			return "G12: an event has neither input nor an end"
		case err != nil:
			return fmt.Sprintf("a deadline is an error of the connection: %v", err)
		}
	}
}

// wait calls Wait, which ends in time: a call makes two polls at most.
func (r *pollerRun) wait() string {
	var until core.Deadline
	d := r.plan.Waits[r.waits%len(r.plan.Waits)]
	r.waits++
	began := time.Now()
	if d != 0 {
		until = began.Add(d)
	}
	r.entered.Add(1)
	err := r.p.Wait(until)
	r.returned.Add(1)
	if took := time.Since(began); err != nil || d != 0 && took > max(0, d)+2*longPoll {
		return fmt.Sprintf("G12: Wait returned %v after %v, want nil after %v at the latest", err, took, d)
	}
	return ""
}

// steps sends the input, makes the wake-ups and closes the connection. It returns what it has sent.
func (r *pollerRun) steps(c connPlan, theirs net.Conn) (sent []byte) {
	for i, s := range c.Steps {
		time.Sleep(s.After)
		switch {
		case s.Input > 0:
			p := bytes.Repeat([]byte{byte(i)}, s.Input)
			sent = append(sent, p...)
			_, _ = theirs.Write(p)
		case s.Slow > 0:
			r.slow.Add(1)
			go r.wakeSlowly(s.Slow)
		default:
			before, slow := r.entered.Load(), r.slow.Load()
			r.p.Wake()
			time.Sleep(longPoll) // Wake does not end a poll
			synctest.Wait()
			if slow == 0 && r.returned.Load() < before {
				r.lost.Store(true)
			}
		}
	}
	_ = theirs.Close()
	return sent
}

// wakeSlowly is Wake, with a pause between its steps if the loop sleeps in Read.
func (r *pollerRun) wakeSlowly(d time.Duration) {
	defer r.slow.Add(-1)
	if !r.p.sleep.CompareAndSwap(sleepReading, sleepNotified) {
		r.p.Wake()
		return
	}
	time.Sleep(d)
	if conn := r.p.conn.Load(); conn != nil {
		_ = conn.SetReadDeadline(longPast)
	}
	r.p.landed.Add(1)
}

// TestPropPoller: a poller reads all input of each of its connections, in order, and each end. A wake-up
// ends the sleep, a call of Wait ends at its deadline, and the deadlines of the loop and of wakers are
// no errors of a connection, however late a waker sets its own (G12, G23).
func TestPropPoller(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		for range 4 {
			plan := drawPollerPlan(rt)
			var wrong string
			synctest.Test(t, func(*testing.T) {
				wrong = (&pollerRun{plan: plan, p: newConnPoller()}).run()
			})
			if wrong != "" {
				rt.Fatal(wrong)
			}
		}
	})
}
