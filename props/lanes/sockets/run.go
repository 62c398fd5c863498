//go:build linux

package sockets

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/tcp"
	"eventide/props/lanes/sockets/kernel"
)

// errNotModelled is the error of a run in which core calls the machine's kernel.
var errNotModelled = errors.New("sockets: core makes no call of the model: build this package by package shadow")

// run is one execution of a program.
type run struct {
	p              Program
	k              *kernel.Kernel
	start          time.Time
	stamps         atomic.Int64 // the last stamp: stamps order events and calls
	workers        *core.Group
	boss           *core.Group // or workers
	listener       *tcp.Listener
	group          *blocking.Group // nil: the program is for core/tcp
	addr           net.Addr        // of the listener; nil: there is none
	groups         []group         // to be shut down
	conns          []*conn
	actors         sync.WaitGroup
	broadcastSizes [256 - firstBroadcast]atomic.Int64 // by id
	broadcastCount atomic.Int32                       // broadcasts so far
	logged         logged                             // of core/blocking

	mu         sync.Mutex
	peers      []*kernel.Peer // all sockets of peers, to be closed at the end
	violations []string
	over       bool

	// Stamps of the beginning of calls that concern all channels, or 0.
	quiesced, shutdown, listenerClosed atomic.Int64
	shutdownAt                         time.Time
	quiescedAt                         atomic.Int64 // the time of the first Quiesce, in nanoseconds since start
	refuses                            atomic.Bool  // the shutdown calls have returned
	refused                            int64        // the stamp of their return
	timedOut                           bool         // the timeout of the shutdown has passed before Done
	reports                            core.Report
}

// Run runs a program and returns what it violated. It must be called in a testing/synctest
// bubble, or under chosen schedules.
func Run(p Program) (violations []string, err error) {
	r, err := runOf(p)
	if err != nil {
		return nil, err
	}
	return r.violations, nil
}

// runOf returns the run of a program, after its end.
func runOf(p Program) (*run, error) {
	if p.Transport == Blocking {
		return runOfBlocking(p)
	}
	r := newRun(p)
	if err := r.begin(); err != nil {
		if r.k.Calls() == 0 {
			err = errNotModelled
		}
		return nil, err
	}
	r.makeBadCall()
	r.perform()
	return r, nil
}

// group is a group of core or of core/blocking.
type group interface {
	Shutdown() *core.Termination
	ShutdownGracefully(quiet, timeout time.Duration) (*core.Termination, error)
}

func newRun(p Program) *run {
	r := &run{p: p, start: time.Now(), k: kernel.New(kernel.Config{
		Send: p.Kernel.Send, Receive: p.Kernel.Receive,
		Latency: time.Duration(p.Kernel.Latency) * 100 * time.Microsecond,
	})}
	kernel.Use(r.k)
	return r
}

// perform performs a program that has begun, and judges it.
func (r *run) perform() {
	r.k.Inject(r.p.Kernel.Faults, r.p.Kernel.Files)
	r.act()
	r.end()
	r.judge()
}

func (r *run) makeConns() {
	for i := range r.p.Conns {
		r.conns = append(r.conns, &conn{r: r, spec: &r.p.Conns[i], nth: i, counts: map[string]int{}})
	}
}

func (r *run) stamp() int64 { return r.stamps.Add(1) }

func (r *run) violate(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.violations = append(r.violations, fmt.Sprintf("%8s  ", time.Since(r.start))+fmt.Sprintf(format, args...))
}

// begin makes the groups and the listener.
func (r *run) begin() (err error) {
	quiet := core.WithLogger(slog.New(slog.DiscardHandler))
	opts := []core.Option{quiet, core.WithSpin(0)}
	if r.p.Blocking {
		opts = []core.Option{quiet, core.WithBlockingEpoll()}
	}
	if r.p.Aborts {
		opts = append(opts, core.WithDrain(core.CloseChannels))
	}
	bossOpts := opts
	if r.p.Pending > 0 {
		opts = append(append([]core.Option(nil), opts...), core.WithMaxPendingTasks(r.p.Pending))
	}
	if r.workers, err = core.NewGroup(r.p.Workers, opts...); err != nil {
		return err
	}
	r.boss = r.workers
	if r.p.Boss {
		if r.boss, err = core.NewGroup(1, bossOpts...); err != nil {
			return errors.Join(err, r.workers.Close())
		}
	}
	if r.k.Calls() == 0 {
		err = errNotModelled
	} else {
		r.listener, err = tcp.Listen(r.boss, r.workers, "127.0.0.1:0", r.newHandler, r.options()...)
	}
	r.makeConns()
	if err == errNotModelled {
		return errors.Join(err, r.workers.Close(), r.boss.Close())
	}
	if err != nil || r.listener == nil {
		r.violate("Listen returned the listener %v and the error %v; no call of the kernel has failed", r.listener, err)
	} else {
		r.addr = r.listener.Addr()
	}
	r.groups = []group{r.boss, r.workers}
	return nil
}

func (r *run) options() []tcp.Option {
	o := r.p.Options
	opts := []tcp.Option{
		tcp.WithWriteBufferWaterMarks(o.Low, o.High), tcp.WithWriteSpin(o.Spin), tcp.WithReadBuffer(o.ReadBuffer),
		tcp.WithSocketBuffers(o.Recv, o.Send), tcp.WithHalfClosure(o.HalfClosure), tcp.WithBacklog(o.Backlog),
		tcp.WithIdleTimeouts(milliseconds(o.Idle[0]), milliseconds(o.Idle[1]), milliseconds(o.Idle[2])),
		tcp.WithLogger(slog.New(slog.DiscardHandler)), tcp.WithNoDelay(!o.Delay),
	}
	if o.KeepAlive >= 0 {
		opts = append(opts, tcp.WithKeepAlive(milliseconds(o.KeepAlive)))
	}
	if o.Linger >= 0 {
		opts = append(opts, tcp.WithLinger(milliseconds(o.Linger)))
	}
	return opts
}

// sleepUntil sleeps until a time of the program.
func (r *run) sleepUntil(ms int) { time.Sleep(time.Until(r.start.Add(milliseconds(ms)))) }

// keep closes p at the end of the run, or at once if the run has ended.
func (r *run) keep(p *kernel.Peer) *kernel.Peer {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		p.Close(false)
	}
	r.peers = append(r.peers, p)
	return p
}

// Every goroutine waits when settleTime has passed after a time of the program: segments
// travel for multiples of 100 microseconds, and timers are set for milliseconds.
const settleTime = 570 * time.Microsecond

// act starts the actors, and checks what must hold whenever all of them wait.
func (r *run) act() {
	for _, c := range r.conns {
		r.actors.Go(c.connect)
	}
	for _, call := range r.p.Calls {
		r.actors.Go(func() {
			r.sleepUntil(call.At)
			r.conns[call.Conn].perform(call.Do, false)
		})
	}
	for ms := 3; ms < r.p.End.At; ms += 5 {
		time.Sleep(time.Until(r.start.Add(milliseconds(ms) + settleTime)))
		r.checkSettled()
	}
	r.sleepUntil(r.p.End.At)
}

// end shuts down, and waits for the end.
func (r *run) end() {
	r.shutdownAt = time.Now()
	r.shutdown.Store(r.stamp())
	var done []*core.Termination
	for _, g := range r.groups {
		if r.p.End.Now {
			done = append(done, g.Shutdown())
			continue
		}
		t, err := g.ShutdownGracefully(milliseconds(r.p.End.Quiet), milliseconds(max(r.p.End.Quiet, r.p.End.Timeout)))
		if err != nil {
			r.violate("ShutdownGracefully: %v", err)
		}
		done = append(done, t)
	}
	r.refuses.Store(true)
	r.refused = r.stamp()
	connections := r.k.Connections()
	for _, c := range r.conns {
		c.mu.Lock()
		k, ours := c.find(connections)
		c.open = k != nil && !ours.Closed
		c.mu.Unlock()
	}
	limit := max(r.p.End.Quiet, r.p.End.Timeout)
	if r.p.End.Now {
		limit = 0
	}
	overdue := time.NewTimer(milliseconds(limit) + settleTime)
	defer overdue.Stop()
	for _, t := range done {
		select {
		case <-t.Done():
		case <-overdue.C:
			r.violate("G11: the timeout of the shutdown passed %v ago, and the group has not ended%s", settleTime, r.timeline())
			r.timedOut = true
			r.closePeers()
			<-t.Done() // a deadlock here is reported by the bubble
		}
	}
	if time.Since(r.shutdownAt) >= milliseconds(limit) {
		r.timedOut = true
	}
	r.reports = done[len(done)-1].Report()
	if r.boss != r.workers {
		r.reports = r.reports.Plus(done[0].Report())
	}
	r.closePeers()
	r.actors.Wait() // a dial that is refused closes its socket on the caller's goroutine
	for fd, kind := range r.k.Open() {
		r.violate("G24: descriptor %d (%s) is open after the end", fd, kind)
	}
}

// timeline returns the events and the kernel's record of each connection.
func (r *run) timeline() string {
	var b strings.Builder
	for _, c := range r.conns {
		c.mu.Lock()
		fmt.Fprintf(&b, "\nconnection %d:", c.nth)
		for _, e := range c.events {
			fmt.Fprintf(&b, " %s at %v,", e.name, e.at)
		}
		c.mu.Unlock()
	}
	for _, k := range r.k.Connections() {
		k.Ends[0].Stream, k.Ends[1].Stream = nil, nil
		fmt.Fprintf(&b, "\n%v to %v: %+v", k.Client, k.Server, k.Ends)
	}
	return b.String()
}

// closePeers closes the sockets of all peers.
func (r *run) closePeers() {
	r.mu.Lock()
	r.over = true
	peers := r.peers
	r.mu.Unlock()
	for _, p := range peers {
		p.Close(false)
	}
}

// connect makes the connection, and plays the peer.
func (c *conn) connect() {
	c.r.sleepUntil(c.spec.At)
	var peer *kernel.Peer
	switch {
	case c.r.group != nil && (c.spec.Embedded || c.spec.Dialled):
		peer = c.register()
	case c.spec.Embedded:
		peer = c.embed()
	case c.spec.Dialled:
		peer = c.coreDials()
	default:
		peer = c.peerDials()
	}
	if peer == nil {
		return
	}
	c.r.actors.Go(func() { c.playReader(peer) })
	c.playWriter(peer)
}

// peerDials connects the peer to the listener.
func (c *conn) peerDials() *kernel.Peer {
	if c.r.addr == nil {
		return nil
	}
	peer := c.r.keep(c.r.k.NewPeer(c.spec.Send, c.spec.Recv))
	c.setPeer(peer)
	at, err := netip.ParseAddrPort(c.r.addr.String())
	if err != nil {
		c.r.violate("the address of the listener: %v", err)
		return nil
	}
	if peer.Connect(at) != 0 {
		return nil
	}
	return peer
}

// coreDials makes core connect to the peer.
func (c *conn) coreDials() *kernel.Peer {
	l := c.listen()
	if l == nil {
		return nil
	}
	c.dial = tcp.DialAsync(context.Background(), c.r.workers, l.Local().String(), c.handler(), c.r.options()...)
	c.dial.OnDone(func(ch *tcp.Channel, err error) {
		c.dialDone.Add(1)
		if err != nil && len(c.names()) > 0 && c.r.shutdown.Load() == 0 && !c.isEnding() {
			c.r.violate("connection %d: the dial failed with %v, and the handler was called", c.nth, err)
		}
		if err != nil && !c.mayBeRefused() {
			c.r.violate("connection %d: the dial failed with %v, the peer listens, and no call of the kernel has failed", c.nth, err)
		}
	})
	peer, errno := l.Accept()
	if errno != 0 {
		return nil
	}
	return c.r.keep(peer)
}

// mayBeRefused reports whether a dial to the peer may fail, though the peer listens.
func (c *conn) mayBeRefused() bool {
	r := c.r
	closes := slices.ContainsFunc(c.spec.Writer, func(s PeerStep) bool { return s.Kind == "reset" || s.Kind == "close" })
	return closes || len(r.p.Kernel.Faults) > 0 || r.p.Kernel.Files > 0 || r.p.Pending > 0 || r.shutdown.Load() > 0
}

// listen returns a socket of the peer that listens, or nil.
func (c *conn) listen() *kernel.Peer {
	l := c.r.keep(c.r.k.NewPeer(c.spec.Send, c.spec.Recv))
	if errno := l.Listen(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0), 8); errno != 0 {
		c.r.violate("a peer cannot listen: %v", errno)
		return nil
	}
	return l
}

// playWriter performs the steps of the peer's writer.
func (c *conn) playWriter(peer *kernel.Peer) {
	sent := 0
	for _, step := range c.spec.Writer {
		time.Sleep(milliseconds(step.Wait))
		switch step.Kind {
		case "send":
			b := make([]byte, step.N)
			for i := range b {
				b[i] = inputByte(sent + i)
			}
			n, errno := peer.Send(b)
			sent += n
			if errno != 0 {
				return
			}
		case "end":
			peer.ShutdownOutput()
		case "close", "reset":
			peer.Close(step.Kind == "reset")
			return
		}
	}
}

// playReader performs the steps of the peer's reader.
func (c *conn) playReader(peer *kernel.Peer) {
	for _, step := range c.spec.Reader {
		time.Sleep(milliseconds(step.Wait))
		for left := step.N; step.Kind == "drain" || left > 0; {
			size := 4096
			if step.Kind != "drain" {
				size = left
			}
			n, errno := peer.Receive(make([]byte, size))
			if errno != 0 {
				return
			}
			if n == 0 {
				if c.spec.CloseOnEnd {
					peer.Close(false)
				}
				return
			}
			left -= n
		}
	}
}

// inputByte is the byte that a peer sends at an offset.
func inputByte(at int) byte { return byte(at*7 + at>>8) }
