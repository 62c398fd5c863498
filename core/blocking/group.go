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

// Group is a number of executors, each of which serves one channel at a time. It
// makes them when they are needed and keeps them when they are not (Netty's
// ThreadPerChannelEventLoopGroup, R177). Its methods may be called from many
// goroutines at once, from inside its executors too.
//
// It has no Execute: there is no next executor to run a task on (R177). Use that of
// a channel.
type Group struct {
	// Set once in NewGroup.
	max  int
	opts []core.Option
	term *core.Termination
	end  func(core.Report, error) bool // of term

	aborted atomic.Int64 // channels of which logFailure had to say that a shutdown aborted them

	// Guarded by mu.
	mu        sync.Mutex
	room      sync.Cond // somebody may be waiting for a channel to end, or for the shutdown
	children  []*child  // that have not terminated, in the order made
	idle      []*child  // of these, the ones that have no channel; the last one is used next
	made      bool      // there has been an executor
	open      int       // channels that are open, or being registered
	services  []*service
	phase     phase
	past      core.Report // of executors that have terminated
	pastStats core.Stats
	errs      []error
}

// phase is how far the group's shutdown has come. Executors have states of their
// own, which may lag behind while they are told.
type phase uint8

const (
	phaseOpen     phase = iota
	phaseGraceful       // no connection is registered any more
	phaseClosed         // every executor has been told to close admission
)

// child is one executor of a group. Guarded by Group.mu but for what is set once.
type child struct {
	loop   *core.EventLoop
	poller *connPoller
	idle   bool
	gone   bool // terminated
}

// NewGroup returns a group without executors, which may have up to maxChannels
// channels at a time; 0 sets no limit. An error is about an argument: a negative
// maxChannels, or an option that core.NewGroup refuses, such as WithPoller.
//
// The options are for the executors. All of them get the name that WithName gives.
// WithDrain says what a shutdown does with channels. WithClock must give the
// system's time: the executors wait for connections, whose deadlines are that. What
// concerns epoll has no effect.
func NewGroup(maxChannels int, opts ...core.Option) (*Group, error) {
	if maxChannels < 0 {
		return nil, argumentError("NewGroup", "maxChannels is %d, want 0 or more", maxChannels)
	}
	// Nothing is started by this, and nothing held: it checks the options.
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
	if g.phase != phaseOpen {
		return nil, g.refusal()
	}
	for len(g.idle) > 0 {
		c := g.idle[len(g.idle)-1]
		g.idle = slices.Delete(g.idle, len(g.idle)-1, len(g.idle))
		c.idle = false
		if c.loop.State() < core.StateShuttingDown {
			return c, nil
		}
	}
	return g.newChild()
}

// newChild requires mu.
func (g *Group) newChild() (*child, error) {
	poller := newConnPoller()
	loop, err := core.NewEventLoop(append(slices.Clone(g.opts), core.WithPoller(poller))...)
	if err != nil {
		return nil, fmt.Errorf("blocking: %w", err)
	}
	c := &child{loop: loop, poller: poller}
	g.children, g.made = append(g.children, c), true
	poller.closes = func() { g.childEnds(c) }
	loop.Termination().OnDone(func(report core.Report, err error) { g.childDone(c, report, err) })
	return c, nil
}

// childEnds is called on the goroutine that is about to end c, just before. Where that
// is inside a listener of something else, those of c's Termination wait for it to
// return, childDone with them, and the group's Done would too (G21): then another
// goroutine, which ends when c has, is what hears of it. The group's listeners are called
// there; else they come after those of c.
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
// loops: one that is added there is not called at once.
func insideListener() bool {
	called := false
	p := core.NewPromise[struct{}](nil)
	p.TrySuccess(struct{}{})
	p.Future().OnDone(func(struct{}, error) { called = true })
	return !called
}

// putIdle makes c available for the next channel.
func (g *Group) putIdle(c *child) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !c.gone && !c.idle {
		c.idle = true
		g.idle = append(g.idle, c)
	}
}

// retire makes c available when the tasks it has accepted by now have run (R177).
// What it waits with is no task: it takes no room in a bounded queue, is not counted,
// and does not restart a quiet period. On c's loop.
func (g *Group) retire(c *child) {
	accepted := c.loop.Stats().Accepted
	var look func()
	look = func() {
		if s := c.loop.Stats(); s.Ran+s.Cancelled < accepted {
			onLoop(c.loop, look)
			return
		}
		g.putIdle(c)
	}
	onLoop(c.loop, look)
}

// onLoop runs f on the loop, after the listeners that wait there; or, if the loop is
// gone, on the caller.
func onLoop(loop *core.EventLoop, f func()) {
	p := core.NewPromise[struct{}](loop)
	p.Future().OnDone(func(struct{}, error) { f() })
	p.TrySuccess(struct{}{})
}

// childDone takes c out, and completes the group's end if it was the last. An
// executor may have been shut down by itself: then the group goes on without it. Only the
// first call has an effect: childEnds may see to another.
func (g *Group) childDone(c *child, report core.Report, err error) {
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
		g.errs = append(g.errs, fmt.Errorf("%s: %w", c.loop.Name(), err))
	}
	g.mu.Unlock()
	g.completeIfEnded()
}

// completeIfEnded completes the termination if the shutdown has begun and no executor
// is left. Several callers may find so: the first completes it.
func (g *Group) completeIfEnded() {
	g.mu.Lock()
	ended := g.phase != phaseOpen && len(g.children) == 0
	report, err := g.past, errors.Join(g.errs...)
	g.mu.Unlock()
	if ended {
		g.end(report, err)
	}
}

// All iterates over the executors that have not terminated, in the order in which
// they were made, as of the call.
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

// InEventLoop reports whether the caller is a body of any executor of the group, also
// from inside the loop of another executor that runs in such a body.
func (g *Group) InEventLoop() bool {
	if _, ok := core.Current(); !ok {
		return false // without a look at the executors, of which there may be many
	}
	for _, c := range g.snapshot() {
		if c.loop.InEventLoop() {
			return true
		}
	}
	return false
}

// waitError is why the caller must not wait for the group, if it must not.
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
