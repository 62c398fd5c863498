package blocking

import (
	"context"
	"fmt"
	"time"

	"eventide/core"
)

// ShutdownGracefully begins an orderly end of the group, and returns its Termination at
// once. Once it has returned, no further connection is registered, and calls of Serve accept
// none. It calls ShutdownGracefully of each executor, in the order made: channels
// drain, until timeout at the latest. A group without executors terminates at once.
//
// Only the first call sets quiet and timeout: a later one has no effect, except that Shutdown
// shortens the shutdown (G16). The error is that of an argument: a negative one, or timeout <
// quiet.
func (g *Group) ShutdownGracefully(quiet, timeout time.Duration) (*core.Termination, error) {
	if err := checkShutdown(quiet, timeout); err != nil {
		return nil, err
	}
	g.begin(func(loop *core.EventLoop) {
		_, _ = loop.ShutdownGracefully(quiet, timeout) // the arguments have been checked
	})
	return g.term, nil
}

func checkShutdown(quiet, timeout time.Duration) error {
	switch {
	case quiet < 0:
		return argumentError("ShutdownGracefully", "quiet is %v, want 0 or more", quiet)
	case timeout < quiet:
		return argumentError("ShutdownGracefully", "timeout is %v, want at least quiet, which is %v", timeout, quiet)
	}
	return nil
}

// Shutdown closes all channels at once. The accepted tasks of their executors still run. It
// also shortens a graceful shutdown (G16).
func (g *Group) Shutdown() *core.Termination {
	g.begin(func(loop *core.EventLoop) { loop.Shutdown() })
	return g.term
}

// begin calls end for every executor. No executor is made after shutDown was set, so that none
// is missed.
func (g *Group) begin(end func(*core.EventLoop)) {
	g.mu.Lock()
	g.shutDown = true
	services := g.services
	g.services = nil
	for _, s := range services {
		close(s.stopped) // in the same critical section: Serve, when it is refused, finds the reason
	}
	g.room.Broadcast()
	g.mu.Unlock()
	for _, s := range services {
		_ = s.ln.Close()
	}
	for _, c := range g.snapshot() {
		end(c.loop)
	}
	g.completeIfEnded()
}

// Termination returns the group's own Termination.
func (g *Group) Termination() *core.Termination { return g.term }

// AwaitTermination waits for the last executor and returns Termination().Err(), or
// the cause of ctx if that ends first. It does not begin a shutdown. Inside an
// executor of the group it returns core.ErrInEventLoop (G18).
func (g *Group) AwaitTermination(ctx context.Context) error {
	_, err := g.term.Wait(ctx)
	return err
}

// Close is ShutdownGracefully(0, core.DefaultShutdownTimeout) followed by
// AwaitTermination. Inside an executor of the group it begins the shutdown and returns
// core.ErrInEventLoop. It implements io.Closer.
func (g *Group) Close() error {
	_, _ = g.ShutdownGracefully(0, core.DefaultShutdownTimeout) // the arguments are valid
	return g.AwaitTermination(context.Background())
}

// State returns, before the shutdown call, Started if an executor has been made, and
// NotStarted otherwise; after the call the least of the executors' states, and Terminated
// only once Done is closed.
func (g *Group) State() core.State {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.stateLocked()
}

// stateLocked is State with mu held.
func (g *Group) stateLocked() core.State {
	select {
	case <-g.term.Done():
		return core.StateTerminated
	default:
	}
	if !g.shutDown {
		if g.made {
			return core.StateStarted
		}
		return core.StateNotStarted
	}
	s := core.StateShutdown // the state of executors that have ended
	for _, c := range g.children {
		s = min(s, c.loop.State())
	}
	return max(s, core.StateShuttingDown) // some executors may not have got the shutdown call yet
}

// String returns the state and the number of channels, for logs.
func (g *Group) String() string {
	s := g.Stats()
	return fmt.Sprintf("blocking group (%v, %d channels)", s.State, s.Channels)
}
