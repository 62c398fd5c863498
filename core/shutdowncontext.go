package core

import (
	"context"
	"sync/atomic"
)

// begunContext is the context that ShutdownContext returns.
type begunContext struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// lazyContext makes a begunContext at the first call of ShutdownContext; without such a call
// it costs a nil pointer. A context made while a shutdown begins ends too: the shutdown
// changes the state before it calls end, and get publishes the context before it reads the
// state, so at least one of the two ends the context.
type lazyContext struct{ made atomic.Pointer[begunContext] }

// get returns the context. begun reports whether the shutdown has begun.
func (l *lazyContext) get(begun func() bool) context.Context {
	c := l.made.Load()
	if c == nil {
		c = &begunContext{}
		c.ctx, c.cancel = context.WithCancelCause(context.Background())
		l.made.CompareAndSwap(nil, c)
		c = l.made.Load() // another caller may have been first
	}
	if begun() {
		c.cancel(ErrShutdown)
	}
	return c.ctx
}

// end ends the context, if there is one. The caller has changed the state before.
func (l *lazyContext) end() {
	if c := l.made.Load(); c != nil {
		c.cancel(ErrShutdown)
	}
}

// ShutdownContext returns a context that ends when a shutdown begins, with ErrShutdown as
// its cause: before the first shutdown call returns, or when the loop fails. A body that
// waits for more work, or loops for ever, should then return. Context ends later, when
// admission closes; until then tasks are still accepted. ShutdownContext returns the same
// context every time, may be called from any goroutine, and does not start the loop.
func (e *Executor) ShutdownContext() context.Context {
	return e.onBegin.get(func() bool { return e.State() >= StateShuttingDown })
}

// endShutdownContext ends ShutdownContext. The goroutine that has changed the state calls
// it, after it has released mu.
func (e *Executor) endShutdownContext() {
	e.onBegin.end()
	if e.parent != nil {
		e.parent.childBegan()
	}
}

// ShutdownContext returns a context that ends when a shutdown begins. See
// Executor.ShutdownContext.
func (p *Pool) ShutdownContext() context.Context {
	return p.onBegin.get(func() bool { return p.State() >= StateShuttingDown })
}

// ShutdownContext returns a context that ends once the shutdown of every child has begun. See
// Executor.ShutdownContext.
func (g *Group) ShutdownContext() context.Context {
	return g.onBegin.get(func() bool { return g.State() >= StateShuttingDown })
}

// childBegan ends ShutdownContext if the shutdown of every child has begun.
func (g *Group) childBegan() {
	if g.onBegin.made.Load() != nil && g.State() >= StateShuttingDown {
		g.onBegin.end()
	}
}
