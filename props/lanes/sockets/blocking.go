//go:build linux

package sockets

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/props/lanes/sockets/kernel"
)

// untilBlocked returns when every other goroutine of a bubble waits: the lane sets it to
// synctest.Wait. Polls of core/blocking take microseconds, so after settleTime some goroutines
// may still run.
var untilBlocked func()

// RunBlocking runs a program on core/blocking and returns what it violated. Connections are
// accepted by Serve, or dialled by the program and given to Register. It must be called in a
// testing/synctest bubble.
func RunBlocking(p Program) (violations []string, err error) {
	r, err := runOfBlocking(p)
	if err != nil {
		return nil, err
	}
	return r.violations, nil
}

// runOfBlocking is runOf for core/blocking.
func runOfBlocking(p Program) (*run, error) {
	r := newRun(p)
	if err := r.beginBlocking(); err != nil {
		return nil, err
	}
	r.perform()
	return r, nil
}

// beginBlocking makes the group and serves a listener.
func (r *run) beginBlocking() (err error) {
	opts := []core.Option{core.WithLogger(slog.New(slog.DiscardHandler))}
	if r.p.Aborts {
		opts = append(opts, core.WithDrain(core.CloseChannels))
	}
	if r.group, err = blocking.NewGroup(r.p.Pending, opts...); err != nil {
		return err
	}
	ln, err := r.k.NewListener(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0), r.p.Options.Backlog)
	if err != nil {
		return errors.Join(err, r.group.Close())
	}
	r.addr, r.groups = ln.Addr(), []group{r.group}
	r.makeConns()
	r.makeEdgeCall()
	s := &served{Listener: ln, r: r}
	r.actors.Go(func() {
		err := r.group.Serve(s, s.newHandler, r.blockingOptions()...)
		r.accepts.served(err)
		lasting := func(f kernel.Fault) bool {
			return f.Op == kernel.OpAccept && (f.Errno == syscall.EPERM || f.Errno == syscall.EPROTO)
		}
		switch {
		case err != nil && !slices.ContainsFunc(r.p.Kernel.Faults, lasting):
			r.violate("Serve returned %v, and no call of accept has failed for good", err)
		case err == nil && r.shutdown.Load() == 0:
			r.violate("Serve returned nil before the shutdown")
		}
	})
	return nil
}

func (r *run) blockingOptions() []blocking.Option {
	o := r.p.Options
	opts := []blocking.Option{
		blocking.WithReadBuffer(o.ReadBuffer), blocking.WithHalfClosure(o.HalfClosure), blocking.WithLogger(slog.New(&r.logged)),
	}
	if o.CloseTimeout >= 0 {
		opts = append(opts, blocking.WithCloseTimeout(milliseconds(o.CloseTimeout)))
	}
	if o.Handshake > 0 {
		opts = append(opts, blocking.WithHandshakeTimeout(milliseconds(o.Handshake)))
	}
	return opts
}

// closeTimeout is how long Close may be blocked in a connection.
func (r *run) closeTimeout() time.Duration {
	if r.p.Options.CloseTimeout < 0 {
		return blocking.DefaultCloseTimeout
	}
	return milliseconds(r.p.Options.CloseTimeout)
}

// served is the listener of Serve. It gives each connection the kind that the program says.
type served struct {
	net.Listener
	r    *run
	last *conn // the connection that was accepted last; only the goroutine of Serve uses it
}

func (s *served) Accept() (net.Conn, error) {
	s.r.accepts.called(s.r.shutdown.Load() > 0)
	accepted, err := s.Listener.Accept()
	s.r.accepts.returned(err)
	if err != nil {
		return nil, err
	}
	if s.last = s.r.connOf(accepted.RemoteAddr()); s.last == nil {
		return nil, fmt.Errorf("no peer has dialled from %v", accepted.RemoteAddr())
	}
	return s.last.wrap(accepted.(*kernel.Conn)), nil
}

func (s *served) newHandler() blocking.Handler { return s.last.overBlocking() }

func (c *conn) overBlocking() blocking.Handler {
	return adapter[*blocking.Channel]{&handler{r: c.r, c: c}, asBlocking}
}

// register connects the program to the peer, and registers the connection. It returns the peer's
// end, or nil if there is no connection.
func (c *conn) register() *kernel.Peer {
	l := c.listen()
	if l == nil {
		return nil
	}
	dialled, err := c.r.k.Dial(l.Local())
	if err != nil {
		return nil
	}
	conn := c.wrap(dialled)
	began := c.r.refuses.Load()
	ch, err := c.r.group.Register(conn, c.overBlocking(), c.r.blockingOptions()...)
	var many *blocking.TooManyChannelsError
	switch {
	case err == nil:
		if began {
			c.r.violate("connection %d: Register has accepted a connection after the shutdown call", c.nth)
		}
		c.has(asBlocking(ch))
		c.watchClose(asBlocking(ch))
	case errors.As(err, &many):
		if many.Max != c.r.p.Pending || !errors.Is(err, blocking.ErrTooManyChannels) || many.Max == 0 {
			c.r.violate("connection %d: Register failed with %v, and the maximum is %d", c.nth, err, c.r.p.Pending)
		}
	case errors.Is(err, core.ErrRejected):
		if c.r.shutdown.Load() == 0 {
			c.r.violate("connection %d: Register failed with %v before the shutdown", c.nth, err)
		}
	default:
		c.r.violate("connection %d: Register failed with %v", c.nth, err)
	}
	if err != nil && conn.SetReadDeadline(longAgo) == nil {
		c.r.violate("connection %d: Register has refused the connection with %v, and has not closed it", c.nth, err)
	}
	peer, errno := l.Accept()
	if errno != 0 {
		return nil
	}
	return c.r.keep(peer)
}

// checkGroup checks, while every goroutine waits, that the counts of the group are those of the
// kernel, and that Serve accepts while there is room.
func (r *run) checkGroup(connections []kernel.Connection) {
	stats, open := r.group.Stats(), 0
	for _, k := range connections {
		for i, end := range k.Ends {
			if end.Ours && !end.Closed && (i == 0 || k.Accepted) && k.Established {
				open++
			}
		}
	}
	full := r.p.Pending > 0 && stats.Channels >= r.p.Pending
	waits := 0
	if full {
		waits = 1 // Serve has accepted one more, and waits for room
	}
	if stats.Channels > open || stats.Channels < open-waits || r.p.Pending > 0 && stats.Channels > r.p.Pending {
		r.violate("the group counts %d channels, and %d connections are open; its maximum is %d", stats.Channels, open, r.p.Pending)
	}
	if stats.Executors != stats.Channels+stats.Idle {
		r.violate("the group counts %d executors, %d channels and %d idle executors, and every goroutine waits", stats.Executors, stats.Channels, stats.Idle)
	}
	r.checkGroupTasks(stats)
	if stats.Executors > len(r.conns) {
		r.violate("the group has %d executors for %d connections", stats.Executors, len(r.conns))
	}
	if !r.lacksFiles() && !full && r.k.Queued() > 0 {
		r.violate("G12: %d connections wait to be accepted while every goroutine waits", r.k.Queued())
	}
}

// judgeGroup checks the state and the counters of a group after its end.
func (r *run) judgeGroup() {
	s := r.group.Stats()
	if s.Channels+s.Executors+s.Idle != 0 || s.State != core.StateTerminated || r.group.State() != core.StateTerminated {
		r.violate("G15: the group has terminated: %+v, want state Terminated, and no channels and executors", s)
	}
	if s.Accepted != s.Ran+s.Cancelled {
		r.violate("G20: the group has terminated with %d accepted, %d run and %d cancelled tasks", s.Accepted, s.Ran, s.Cancelled)
	}
	if r.reports.Accepted != s.Accepted || r.reports.Ran != s.Ran {
		r.violate("G20: the report of the group has %d accepted and %d run tasks, its Stats %d and %d", r.reports.Accepted, r.reports.Ran, s.Accepted, s.Ran)
	}
	var tasks int64
	for _, c := range r.conns {
		tasks += int64(c.tasks.accepted)
	}
	if s.Accepted != tasks {
		r.violate("G20: the group has accepted %d tasks, and %d were submitted", s.Accepted, tasks)
	}
	for range r.group.All() {
		r.violate("G15: the group has terminated, and has an executor")
	}
	r.judgeGroupCounters(s)
}
