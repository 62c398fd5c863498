package core

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"time"
)

// Group is a fixed number of executors, its children, that are used in turn and are shut down
// together. It implements EventExecutor: a method that submits work calls the same method of
// the next child. All methods may be called from any goroutine (G21).
//
// A Group is not a pool. Each child has a private queue: a task that blocks delays
// every task behind it in the queue of its child, even while other children are idle, and
// Next still returns that child in its turn. A bound (WithMaxPendingTasks) applies to each
// child: a task is refused if the queue of its child is full, even if the other children
// have room. Use a Pool for tasks that may block, or for one common bound.
//
// Make one with NewGroup or NewExecutorGroup: the zero Group is not usable.
type Group struct {
	// Set once, by newGroup.
	children []*Executor
	members  []EventExecutor
	term     *Termination
	ctx      context.Context
	cancel   context.CancelCauseFunc

	// Atomic.
	next    atomic.Uint64 // index of the child whose turn it is
	onBegin lazyContext   // ShutdownContext
	left    atomic.Int64  // children that have not terminated
	open    atomic.Int64  // children whose Context has not ended
}

// NewExecutorGroup returns a group of n executors without I/O. It makes all of them; each
// starts with its first use. n < 1 is an error, and so is WithPoller, because a poller
// serves one executor. If a child cannot be made, the error names the child and the
// reason, and the children made before are terminated at once (Netty's constructor waits two
// seconds for each, R171).
func NewExecutorGroup(n int, opts ...Option) (*Group, error) {
	cfg, err := newSharedConfig("NewExecutorGroup", "executor", opts)
	if err != nil {
		return nil, err
	}
	return newGroup("NewExecutorGroup", n, func(g *Group, i int) (*Executor, error) {
		child := cfg
		if cfg.name != "" {
			child.name = fmt.Sprintf("%s-%d", cfg.name, i)
		}
		return newExecutor(child, g), nil
	})
}

func newGroup(call string, n int, newChild func(g *Group, i int) (*Executor, error)) (*Group, error) {
	if n < 1 {
		return nil, argumentError(call, "n is %d, want at least 1", n)
	}
	g := &Group{}
	g.left.Store(int64(n))
	g.open.Store(int64(n))
	for i := range n {
		child, err := newChild(g, i)
		if err != nil {
			for _, made := range g.children {
				made.discard()
			}
			return nil, fmt.Errorf("core: %s: child %d of %d: %w", call, i, n, err)
		}
		g.children = append(g.children, child)
		g.members = append(g.members, child.self)
	}
	g.ctx, g.cancel = context.WithCancelCause(context.Background())
	g.term = newTermination(g.waitError, g.report)
	g.term.onPanic = g.reportOffLoop
	for _, child := range g.children {
		child.term.parent = g.childDone
	}
	return g, nil
}

// discard terminates an executor that was never used: it has no tasks and no listeners.
func (e *Executor) discard() {
	e.mu.Lock()
	e.gate |= gateClosed
	e.shutdown.cause = ErrShutdown
	e.moveTo(StateTerminated)
	e.mu.Unlock()
	e.finish(nil)
}

// Next returns the next child in strict round robin over all callers, so it is exactly
// fair. It does not skip terminated children (R175). Each child is always returned as the
// same pointer.
//
// The counter wraps at n. A counter taken modulo n would skip children when it overflows,
// unless n is a power of two (netty #10423).
func (g *Group) Next() EventExecutor {
	for {
		i := g.next.Load()
		after := i + 1
		if after == uint64(len(g.members)) {
			after = 0
		}
		if g.next.CompareAndSwap(i, after) {
			return g.members[i]
		}
	}
}

// All iterates over the children, in the order in which they were made.
func (g *Group) All() iter.Seq[EventExecutor] {
	return func(yield func(EventExecutor) bool) {
		for _, child := range g.members {
			if !yield(child) {
				return
			}
		}
	}
}

// reportOffLoop calls reportOffLoop of the first child. Types that embed a group have it
// by promotion, so that panics of listeners of their futures are reported.
func (g *Group) reportOffLoop(p *PanicError) { g.children[0].reportOffLoop(p) }

// Execute calls Execute of the next child.
func (g *Group) Execute(task func()) error { return g.Next().Execute(task) }

// ExecuteLazy calls ExecuteLazy of the next child.
func (g *Group) ExecuteLazy(task func()) error { return g.Next().ExecuteLazy(task) }

// Schedule calls Schedule of the next child.
func (g *Group) Schedule(delay time.Duration, task func()) (*Timer, error) {
	return g.Next().Schedule(delay, task)
}

// ScheduleAtFixedRate calls ScheduleAtFixedRate of the next child.
func (g *Group) ScheduleAtFixedRate(initial, period time.Duration, task func()) (*Timer, error) {
	return g.Next().ScheduleAtFixedRate(initial, period, task)
}

// ScheduleWithFixedDelay calls ScheduleWithFixedDelay of the next child.
func (g *Group) ScheduleWithFixedDelay(initial, delay time.Duration, task func()) (*Timer, error) {
	return g.Next().ScheduleWithFixedDelay(initial, delay, task)
}

// InEventLoop reports whether the caller runs on the goroutine of any child's loop.
func (g *Group) InEventLoop() bool {
	for _, child := range g.children {
		if child.InEventLoop() {
			return true
		}
	}
	return false
}

// State returns the least of the children's states. It is Terminated only once the
// group's own Done is closed.
func (g *Group) State() State {
	s := StateTerminated
	for _, child := range g.children {
		s = min(s, child.State())
	}
	if s == StateTerminated && !g.term.isDone() {
		return StateShutdown
	}
	return s
}

// ShutdownGracefully calls ShutdownGracefully of each child, in order.
func (g *Group) ShutdownGracefully(quiet, timeout time.Duration) (*Termination, error) {
	if err := checkShutdown(quiet, timeout); err != nil {
		return nil, err
	}
	for _, child := range g.members {
		_, _ = child.ShutdownGracefully(quiet, timeout) // the arguments have been checked
	}
	return g.term, nil
}

// Shutdown calls Shutdown of each child, in order.
func (g *Group) Shutdown() *Termination {
	for _, child := range g.members {
		child.Shutdown()
	}
	return g.term
}

// Termination returns the group's own Termination. Its Done closes after that of every
// child; its error joins the errors of the children, and its report is the sum of theirs.
func (g *Group) Termination() *Termination { return g.term }

// AwaitTermination waits until the last child has terminated. It returns ErrInEventLoop
// when a body of any child calls it.
func (g *Group) AwaitTermination(ctx context.Context) error {
	_, err := g.term.Wait(ctx)
	return err
}

// waitError returns the first error of the children's waitError.
func (g *Group) waitError() error {
	for _, child := range g.children {
		if err := child.waitError(); err != nil {
			return err
		}
	}
	return nil
}

// Close is ShutdownGracefully(0, DefaultShutdownTimeout) followed by AwaitTermination.
func (g *Group) Close() error {
	_, _ = g.ShutdownGracefully(0, DefaultShutdownTimeout) // the arguments are valid
	return g.AwaitTermination(context.Background())
}

// Context returns a context that ends when the Contexts of all children have ended, with
// the cause of the last.
func (g *Group) Context() context.Context { return g.ctx }

// Stats returns the sum over the children. Each child's part is consistent.
func (g *Group) Stats() Stats {
	s := Stats{State: StateTerminated}
	for _, child := range g.children {
		s = s.Plus(child.Stats())
	}
	if s.State == StateTerminated && !g.term.isDone() {
		s.State = StateShutdown
	}
	return s
}

func (g *Group) report() Report {
	var r Report
	for _, child := range g.children {
		r = r.Plus(child.term.Report())
	}
	return r
}

func (g *Group) childClosed(cause error) {
	if g.open.Add(-1) == 0 {
		g.cancel(cause)
	}
}

// childDone ends the group if the child was the last one; it then returns a function that
// calls the group's listeners, otherwise nil. It calls no user code, which might not return.
func (g *Group) childDone() (callListeners func()) {
	if g.left.Add(-1) > 0 {
		return
	}
	var errs []error
	for i, child := range g.children {
		if err := child.term.Err(); err != nil {
			errs = append(errs, &prefixedError{fmt.Sprintf("child %d", i), err})
		}
	}
	g.term.report = g.report()
	calls := g.term.seal(errors.Join(errs...))
	return func() { offLoop(g.term.onPanic, calls...) }
}
