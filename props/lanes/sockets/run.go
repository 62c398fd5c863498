//go:build linux

package sockets

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
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
	handlersMade   atomic.Int32                       // calls of newHandler so far
	records        atomic.Int32                       // of the logger so far
	afterwards     int                                // writes that judgeAfterwards has made
	logged         logged
	accepts        acceptFailures // of Serve
	listening      listening

	early struct {
		sync.Mutex
		closes []*tcp.Channel // which broadcasts may have closed before a connection had them
	}

	mu         sync.Mutex
	peers      []*kernel.Peer // all sockets of peers, to be closed at the end
	violations []string
	over       bool

	// Stamps of the beginning of calls that concern all channels, or 0.
	quiesced, shutdown, listenerClosed atomic.Int64
	shutdownAt                         time.Time
	quiescedAt                         atomic.Int64 // the time of the first Quiesce, in nanoseconds since start
	handlerFailed                      atomic.Bool  // a handler has panicked or called Goexit
	reacting                           atomic.Int32 // handlers that perform reactions
	inputEnded                         atomic.Bool  // a Quiesce of all workers has returned nil
	refuses                            atomic.Bool  // the shutdown calls have returned
	refused                            int64        // the stamp of their return
	timedOut                           bool         // the timeout of the shutdown has passed before Done
	reports                            core.Report
}

// Run runs a program and returns what it violated. It must be called in a testing/synctest
// bubble.
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
	r.makeEdgeCall()
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
		r.conns = append(r.conns, &conn{r: r, spec: &r.p.Conns[i], nth: i, takenAtClose: -1, counts: map[string]int{}})
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
	opts := []core.Option{quiet, core.WithSpin(time.Duration(r.p.Spin) * time.Microsecond)}
	if r.p.Blocking {
		opts = []core.Option{quiet, core.WithBlockingEpoll()}
	}
	if r.p.Aborts {
		opts = append(opts, core.WithDrain(core.CloseChannels))
	}
	r.failBefore(opts)
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
		r.listener, err = r.listen()
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

// onlyLoop returns the loop for the calls that take one, or nil if the program makes those for a group.
func (r *run) onlyLoop() *core.EventLoop {
	if r.p.OnLoop && r.p.Workers == 1 && r.boss == r.workers {
		return r.loop()
	}
	return nil
}

func (r *run) listen() (*tcp.Listener, error) {
	r.logged.paused, r.logged.then = r.listenerPauses, r.logs
	if loop := r.onlyLoop(); loop != nil {
		return tcp.ListenOn(loop, r.at(), r.newHandler, r.options()...)
	}
	return tcp.Listen(r.boss, r.workers, r.at(), r.newHandler, r.options()...)
}

// at returns the address to listen at.
func (r *run) at() string {
	switch at := r.p.Options.At; at {
	case "":
		return anyPort
	case emptyAddress:
		return ""
	default:
		return at
	}
}

// listensEverywhere reports whether the listener takes connections to each address of the machine.
func (r *run) listensEverywhere() bool {
	return slices.Contains([]string{":0", "0.0.0.0:0", "[::]:0", emptyAddress}, r.p.Options.At)
}

func (r *run) options() []tcp.Option {
	o := r.p.Options
	opts := []tcp.Option{tcp.WithLogger(slog.New(&r.logged))}
	with := func(given bool, option tcp.Option) { // an option that is not given has its default
		if given {
			opts = append(opts, option)
		}
	}
	with(o.Low != tcp.DefaultLowWaterMark || o.High != tcp.DefaultHighWaterMark, tcp.WithWriteBufferWaterMarks(o.Low, o.High))
	with(o.Spin != tcp.DefaultWriteSpin, tcp.WithWriteSpin(o.Spin))
	with(o.ReadBuffer != tcp.DefaultReadBuffer, tcp.WithReadBuffer(o.ReadBuffer))
	with(o.Recv+o.Send > 0, tcp.WithSocketBuffers(o.Recv, o.Send))
	with(o.HalfClosure, tcp.WithHalfClosure(true))
	with(o.Backlog != tcp.DefaultBacklog, tcp.WithBacklog(o.Backlog))
	with(o.Idle != [3]int{}, tcp.WithIdleTimeouts(milliseconds(o.Idle[0]), milliseconds(o.Idle[1]), milliseconds(o.Idle[2])))
	with(o.Delay, tcp.WithNoDelay(false))
	with(o.KeepsAddr, tcp.WithReuseAddr(false))
	with(o.ReusePort, tcp.WithReusePort(true))
	with(o.KeepAlive >= 0, tcp.WithKeepAlive(milliseconds(max(o.KeepAlive, 0))))
	with(o.Linger != -1, tcp.WithLinger(max(o.linger(), 0)))
	return opts
}

// sleepUntil sleeps until a time of the program.
func (r *run) sleepUntil(ms int) { time.Sleep(time.Until(r.start.Add(milliseconds(ms)))) }

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
			for _, do := range append([]Action{call.Do}, call.Then...) {
				r.conns[call.Conn].perform(do, false)
			}
		})
	}
	if r.p.Watched {
		r.actors.Go(r.watch)
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
	late := settleTime // a waker that is late delays the end
	for _, c := range r.conns {
		late = max(late, settleTime+c.lateness())
	}
	overdue := time.NewTimer(milliseconds(limit) + late)
	defer overdue.Stop()
	for _, t := range done {
		select {
		case <-t.Done():
		case <-overdue.C:
			r.violate("G11: the timeout of the shutdown passed %v ago, and the group has not ended%s", late, r.timeline())
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
	if len(r.k.Open()) > 0 {
		// A timer's goroutine, or another one, may still be in a call that wakes a loop: the eventfd
		// of the poller is closed when this call returns. Time is virtual, and moves when nothing
		// else runs.
		time.Sleep(settleTime)
	}
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
