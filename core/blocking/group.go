package blocking

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"eventide/core"
)

// Group is a number of executors, each of which serves one channel at a time. It makes
// executors on demand, and keeps idle ones for later channels (Netty's
// ThreadPerChannelEventLoopGroup, R177). Its methods may be called from any goroutine,
// and from inside its executors.
//
// It has no Execute method, because there is no next executor to run a task on (R177).
// Use the executor of a channel.
//
// Make one with NewGroup: the zero Group is not usable.
type Group struct {
	// Set once in NewGroup.
	max  int
	opts []core.Option
	term *core.Termination
	end  func(core.Report, error) bool // of term

	aborted atomic.Int64 // channels that a shutdown aborted and that logFailure has counted
	refused atomic.Int64 // writes that logRefused has counted

	// Guarded by mu.
	mu        sync.Mutex
	room      sync.Cond // signalled when a channel has ended, or the shutdown has begun
	children  []*child  // executors that have not terminated, in the order made
	idle      []*child  // those of children that have no channel; the last one is used next
	made      bool      // an executor has been made
	open      int       // channels that are open or being registered
	services  []*service
	shutDown  bool        // no executor is made and no connection is registered any more
	past      core.Report // reports of executors that have terminated
	pastStats core.Stats
	errs      []error
}

// child is one executor of a group. Guarded by Group.mu, except for what is set once.
type child struct {
	loop   *core.EventLoop
	poller *connPoller
	gone   bool // terminated
}

// NewGroup returns a group without executors, with at most maxChannels channels at a
// time; 0 means no limit. It returns an error for a negative maxChannels, or for an
// option that core.NewGroup refuses, such as WithPoller.
//
// The options are for the executors. All of them get the name of WithName. WithDrain says
// what a shutdown does with channels. A clock of WithClock must return the system's time,
// because deadlines of connections are in system time. Options about epoll have no
// effect.
func NewGroup(maxChannels int, opts ...core.Option) (*Group, error) {
	if maxChannels < 0 {
		return nil, argumentError("NewGroup", "maxChannels is %d, want 0 or more", maxChannels)
	}
	// This checks the options. It starts nothing and holds nothing.
	if _, err := core.NewExecutorGroup(1, opts...); err != nil {
		return nil, fmt.Errorf("blocking: NewGroup: %w", err)
	}
	g := &Group{max: maxChannels, opts: slices.Clone(opts)}
	g.room.L = &g.mu
	var err error
	g.term, g.end, err = core.NewTermination(g.waitError, g.report)
	return g, err
}

// acquire returns an executor for a channel: an idle one, or a new one.
func (g *Group) acquire() (*child, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shutDown {
		return nil, g.refusal()
	}
	for len(g.idle) > 0 {
		c := g.idle[len(g.idle)-1]
		g.idle = slices.Delete(g.idle, len(g.idle)-1, len(g.idle))
		if c.loop.State() < core.StateShuttingDown {
			return c, nil
		}
	}
	return g.newChild(), nil
}

// newChild makes an executor. Requires mu.
func (g *Group) newChild() *child {
	poller := newConnPoller()
	loop, _ := core.NewEventLoop(append(slices.Clone(g.opts), core.WithPoller(poller))...) // NewGroup has checked the options
	c := &child{loop: loop, poller: poller}
	g.children, g.made = append(g.children, c), true
	poller.closes = func() { g.childEnds(c) }
	loop.Termination().OnDone(func(report core.Report, err error) { g.childDone(c, report, err) })
	return c
}

// childEnds is called just before c ends, on the goroutine that ends it. If that
// goroutine is inside an unrelated listener, the listeners of c's Termination, childDone
// among them, are called only after that listener has returned, and the group's Done
// would wait for it too (G21). So another goroutine then waits for c and calls childDone,
// which calls the group's listeners. Otherwise the group's listeners come after those of
// c.
func (g *Group) childEnds(c *child) {
	if !insideListener() {
		return
	}
	go func() {
		t := c.loop.Termination()
		<-t.Done()
		g.childDone(c, t.Report(), t.Err())
	}()
}

// insideListener reports whether the caller is inside a listener that runs off the
// loops: a listener that is added there is called only after the running one has
// returned.
func insideListener() bool {
	called := false
	p := core.NewPromise[struct{}](nil)
	p.TrySuccess(struct{}{})
	p.Future().OnDone(func(struct{}, error) { called = true })
	return !called
}

// putIdle makes c, which acquire has returned, available for the next channel.
func (g *Group) putIdle(c *child) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !c.gone {
		g.idle = append(g.idle, c)
	}
}

// retire makes c available when the tasks it has accepted by now have run (R177). It
// waits by internal tasks, which take no room in a bounded queue, are not counted, and do
// not restart a quiet period. Called on c's loop.
func (g *Group) retire(c *child) {
	accepted := c.loop.Stats().Accepted
	var check func()
	check = func() {
		if s := c.loop.Stats(); s.Ran+s.Cancelled < accepted {
			onLoop(c.loop, check)
			return
		}
		g.putIdle(c)
	}
	onLoop(c.loop, check)
}

// onLoop runs f on the loop, after the internal tasks queued there, or on the caller if
// the loop has ended.
func onLoop(loop *core.EventLoop, f func()) {
	p := core.NewPromise[struct{}](loop)
	p.Future().OnDone(func(struct{}, error) { f() })
	p.TrySuccess(struct{}{})
}

// childDone removes c, and completes the group's end if c was the last. An executor that
// was shut down on its own is only removed. Only the first call for c has an effect:
// childEnds may cause a second.
func (g *Group) childDone(c *child, report core.Report, err error) {
	if err != nil { // before mu: Errorf calls err.Error, which may be the spawner's code and may use the group
		err = fmt.Errorf("%s: %w", c.loop.Name(), err)
	}
	g.mu.Lock()
	if c.gone {
		g.mu.Unlock()
		return
	}
	c.gone = true
	g.children = slices.DeleteFunc(g.children, func(x *child) bool { return x == c })
	g.idle = slices.DeleteFunc(g.idle, func(x *child) bool { return x == c })
	g.past = g.past.Plus(report)
	g.pastStats = g.pastStats.Plus(c.loop.Stats())
	if err != nil {
		g.errs = append(g.errs, err)
	}
	g.mu.Unlock()
	g.completeIfEnded()
}

// completeIfEnded completes the termination if the shutdown has begun and no executor is
// left. Of several calls that find this, the first one completes it.
func (g *Group) completeIfEnded() {
	g.mu.Lock()
	ended := g.shutDown && len(g.children) == 0
	report, err := g.past, errors.Join(g.errs...)
	g.mu.Unlock()
	if ended {
		g.end(report, err)
	}
}

// All iterates over the executors that have not terminated at the time of the call, in
// the order in which they were made.
func (g *Group) All() iter.Seq[core.EventExecutor] {
	return func(yield func(core.EventExecutor) bool) {
		for _, c := range g.snapshot() {
			if !yield(c.loop) {
				return
			}
		}
	}
}

func (g *Group) snapshot() []*child {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.children)
}

// InEventLoop reports whether the caller is a body of any executor of the group. A body
// of another executor, whose loop runs inside such a body, counts too.
func (g *Group) InEventLoop() bool {
	if _, ok := core.Current(); !ok {
		return false // fast path: there may be many executors
	}
	for _, c := range g.snapshot() {
		if c.loop.InEventLoop() {
			return true
		}
	}
	return false
}

// waitError returns the error of a caller that must not wait for the group, or nil.
func (g *Group) waitError() error {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range g.snapshot() {
		err := c.loop.AwaitTermination(ended)
		if errors.Is(err, core.ErrInEventLoop) || errors.Is(err, core.ErrStarting) {
			return err
		}
	}
	return nil
}
