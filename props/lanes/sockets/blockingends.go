//go:build linux

package sockets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/props/lanes/sockets/kernel"
)

// explainsClose reports whether the future of Close of a channel of core/blocking may have an error:
// that of the connection's Close, if nothing else has closed the connection before.
func (c *conn) explainsClose(err error) bool {
	panics := c.spec.Oddity == panicClose
	fails := (c.spec.Oddity == failedClose || panics) && c.ch.CloseCause() == nil
	if err != nil {
		return fails && (err == errOdd && !panics || isOddPanic(err) && panics)
	}
	closed := c.r.start.Add(c.events[c.first("CloseFuture")].at)
	mayBeCut := c.closeLimitPassed(closed) || closed.Equal(c.closeBy) || c.r.timedOut || c.r.p.End.Now || c.r.p.Aborts
	return !fails || mayBeCut
}

// closeLimitPassed reports whether the time that Close leaves to the connection may have passed at a
// time.
func (c *conn) closeLimitPassed(at time.Time) bool {
	return c.r.group != nil && !c.closeCalled.IsZero() && !at.Before(c.closeCalled.Add(c.r.closeTimeout()))
}

// longestPoll is how long the executor of core/blocking may read while it is awake.
const longestPoll = time.Millisecond

// judgeCloseLimit checks that Close has closed a channel of core/blocking within its timeout: the
// bodies of a program take no time, so that all of it is spent in the connection. A call from elsewhere
// may find the executor at a poll, which it does not cut short.
func (c *conn) judgeCloseLimit(closed time.Time) {
	if c.r.group == nil || c.closeCalled.IsZero() {
		return
	}
	if _, ours := c.find(c.r.k.Connections()); c.takenAtClose >= 0 && ours.Taken > c.takenAtClose {
		c.violate("the kernel took %d bytes after Close, which leaves no time to the connection", ours.Taken-c.takenAtClose)
	}
	by := c.closeCalled.Add(c.r.closeTimeout() + c.lateness())
	if first := slices.IndexFunc(c.endBegins, func(e endCall) bool { return e.what == "Close" }); !c.endBegins[first].inLoop {
		by = by.Add(longestPoll)
	}
	if closed.After(by) {
		c.violate("the channel has closed %v after Close, which leaves %v to the connection", closed.Sub(c.closeCalled), c.r.closeTimeout())
	}
}

// judgeAlert checks that a channel of core/blocking that ends for a cause other than the peer's end is cut: a
// close alert may take alertTimeout, in which the executor does nothing else.
func (c *conn) judgeAlert() {
	if cause := c.ch.CloseCause(); c.alerts.closed.Load() && cause != nil && cause != io.EOF {
		c.violate("the channel has closed with %v, and its connection was given time for a close alert", cause)
	}
}

// recordLastByte records, at a call of Close on the loop that leaves no time to the connection, how many
// bytes the kernel has taken: it takes no more.
func (c *conn) recordLastByte() {
	if c.r.group == nil || c.r.p.Options.CloseTimeout != 0 {
		return
	}
	_, ours := c.find(c.r.k.Connections())
	c.mu.Lock()
	defer c.mu.Unlock()
	if ours != nil && c.takenAtClose < 0 {
		c.takenAtClose = ours.Taken
	}
}

// checkBlockingOpen checks, while every goroutine waits, an open channel of core/blocking whose
// executor is not blocked: what the peer's end has caused, and that nothing else has closed it.
func (c *conn) checkBlockingOpen(ch channel, ours *kernel.End, calls int) {
	ended, active := c.happened("InputShutdown"), c.happened("Active")
	halfClosure := c.r.p.Options.HalfClosure
	switch {
	case c.odd.Load() && slices.Contains(fatalOddities, c.spec.Oddity):
		c.violate("the connection has failed (%s), every goroutine waits, and the channel is open", c.spec.Oddity)
	case calls > 0 || !active:
	case ours.EndRead && !halfClosure:
		c.violate("the end of the peer's stream was read, every goroutine waits, and the channel is open")
	case ours.EndRead != ended:
		c.violate("the end of the peer's stream was read: %v, InputShutdown was called: %v, and every goroutine waits", ours.EndRead, ended)
	case !ch.IsOpen():
		c.violate("IsOpen is false, and nothing has ended the channel")
	}
	if cause := ch.CloseCause(); cause != nil {
		c.violate("CloseCause is %v, and the channel is open", cause)
	}
}

// callBlockingGroup makes the calls of the group that block, which return at once on one of its
// executors, without an effect.
func (c *conn) callBlockingGroup(ch channel, inLoop bool) {
	if !inLoop {
		return
	}
	ctx, l := context.Background(), &closable{}
	_, waited := c.r.group.Termination().Wait(ctx)
	for what, err := range map[string]error{
		"Serve":                        c.r.group.Serve(l, func() blocking.Handler { return silent }),
		"AwaitTermination":             c.r.group.AwaitTermination(ctx),
		"AwaitTermination of the loop": ch.EventLoop().AwaitTermination(ctx),
		"Wait of the Termination":      waited,
	} {
		if !errors.Is(err, core.ErrInEventLoop) {
			c.violate("G18: %s returns %v on the loop, want %v", what, err, core.ErrInEventLoop)
		}
	}
	if l.closed {
		c.violate("G18: Serve, which was refused on the loop, has closed its listener")
	}
}

// checkGroupTasks checks, while every goroutine waits and before a shutdown, the counters of the group
// that are sums over its executors, and its state.
func (r *run) checkGroupTasks(s blocking.Stats) {
	var accepted, ran, timers int64
	for _, c := range r.conns {
		c.mu.Lock()
		accepted += int64(c.tasks.accepted)
		ran += int64(c.tasks.ran)
		timers += int64(c.timers.accepted - c.timers.ran)
		c.mu.Unlock()
	}
	if s.Accepted != accepted || s.Ran != ran || s.Pending != accepted-ran || int64(s.Timers) != timers {
		r.violate("G20: the group counts %d accepted, %d run and %d pending tasks and %d timers, want %d, %d, %d and %d", s.Accepted, s.Ran, s.Pending, s.Timers, accepted, ran, accepted-ran, timers)
	}
	state := core.StateNotStarted
	if s.Executors > 0 {
		state = core.StateStarted
	}
	text := fmt.Sprintf("blocking group (%v, %d channels)", state, s.Channels)
	if s.State != state || r.group.State() != state || r.group.String() != text {
		r.violate("the state of the group with %d executors is %v, that of its Stats %v, and it is %q, want %v and %q", s.Executors, r.group.State(), s.State, r.group, state, text)
	}
	executors := map[core.EventExecutor]bool{}
	for ex := range r.group.All() {
		executors[ex] = true
	}
	for range r.group.All() {
		break // ends the iteration: All must not yield again
	}
	if len(executors) != s.Executors || r.group.InEventLoop() {
		r.violate("All yields %d executors, want %d; InEventLoop is %v outside of them", len(executors), s.Executors, r.group.InEventLoop())
	}
	for _, c := range r.conns {
		if ch := c.channel(); ch != nil && !executors[ch.EventLoop()] {
			c.violate("All does not yield the executor of the channel")
		}
	}
}

// judgeGroupCounters checks the other counters of a group after its end.
func (r *run) judgeGroupCounters(s blocking.Stats) {
	var panics, timers, cancelled int64
	for _, c := range r.conns {
		for _, call := range c.endBegins {
			if call.what == "Panic" {
				panics++
			}
		}
		timers += int64(c.timers.ran)
		cancelled += int64(c.timers.accepted - c.timers.ran)
	}
	if rep := r.reports; rep.Panicked != panics || s.Panicked != panics {
		r.violate("G14: the report of the group counts %d panics and its Stats %d, want %d", rep.Panicked, s.Panicked, panics)
	}
	if rep := r.reports; rep.TimersRun != timers || s.TimersRun != timers || rep.TimersCancelled != cancelled || s.TimersCancelled != cancelled {
		r.violate("G20: the report of the group counts %d timers that ran and %d cancelled ones, its Stats %d and %d, want %d and %d",
			rep.TimersRun, rep.TimersCancelled, s.TimersRun, s.TimersCancelled, timers, cancelled)
	}
	if s.Pending != 0 || s.Timers != 0 || s.Registrations != 0 {
		r.violate("G15: the group has terminated with %d pending tasks, %d timers and %d registrations", s.Pending, s.Timers, s.Registrations)
	}
}

// judgeGroupAfterwards makes every call of a group that has ended, and checks the answers.
func (r *run) judgeGroupAfterwards() {
	g, term := r.group, r.group.Termination()
	again, err := g.ShutdownGracefully(0, 0)
	if again != term || err != nil || g.Shutdown() != term {
		r.violate("a shutdown call after the end returns another Termination, or %v", err)
	}
	for what, err := range map[string]error{"Close": g.Close(), "AwaitTermination": g.AwaitTermination(context.Background()), "Err": term.Err()} {
		if err != nil {
			r.violate("%s of the group returns %v after the end", what, err)
		}
	}
	l := &closable{}
	if err := g.Serve(l, func() blocking.Handler { return silent }); err != nil || !l.closed {
		r.violate("Serve after the end returns %v, and has closed its listener: %v", err, l.closed)
	}
	ours, theirs := net.Pipe()
	ch, err := g.Register(ours, silent)
	var rejected *core.RejectedError
	if ch != nil || !errors.As(err, &rejected) || rejected.State != core.StateTerminated || !errors.Is(err, core.ErrShutdown) {
		r.violate("Register after the end returns %v and %v, want a *RejectedError of a terminated group", ch, err)
	}
	if ours.SetDeadline(longAgo) == nil {
		r.violate("Register after the end has not closed the connection")
	}
	_, _ = ours.Close(), theirs.Close()
}
