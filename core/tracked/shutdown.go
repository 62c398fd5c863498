package tracked

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"eventide/core"
)

// shutdown is the state of the shutdown. Guarded by Group.mu.
type shutdown struct {
	called         bool
	calledAt       time.Time
	quiet, timeout time.Duration
	deadline       *time.Timer
	quietTimer     *time.Timer // set while no function runs
	cause          error       // of the close; nil before
	timedOut       bool
	ended          bool // Done is closed, or is about to be
	stillRan       string
}

// State returns the state (G1). Terminated means that Done is closed (G15).
func (g *Group) State() core.State {
	g.init()
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.stateNow()
}

// stateNow requires mu.
func (g *Group) stateNow() core.State {
	select {
	case <-g.term.Done():
		return core.StateTerminated
	default:
		return g.state
	}
}

// ShutdownGracefully begins an orderly end and returns the Termination at once.
// ShutdownContext ends. Until the group closes, Go accepts functions. The group closes
// when no function has run for quiet since this call (G10), or when timeout has passed
// since this call (G11). The group ends only after all accepted functions have returned.
//
// Only the first call has an effect; a later call of Shutdown still closes admission at
// once (G16). ShutdownGracefully returns an error only for a negative quiet or a timeout
// below quiet.
func (g *Group) ShutdownGracefully(quiet, timeout time.Duration) (*core.Termination, error) {
	switch {
	case quiet < 0:
		return nil, fmt.Errorf("tracked: ShutdownGracefully: quiet is %v, want 0 or more", quiet)
	case timeout < quiet:
		return nil, fmt.Errorf("tracked: ShutdownGracefully: timeout is %v, want at least quiet, which is %v", timeout, quiet)
	}
	g.shutdownGracefully(quiet, timeout)
	return g.term, nil
}

// shutdownGracefully is ShutdownGracefully without the check of the arguments.
func (g *Group) shutdownGracefully(quiet, timeout time.Duration) {
	g.init()
	g.mu.Lock()
	still := ""
	if first := g.begin(quiet, timeout); first && timeout == 0 && len(g.running) > 0 {
		g.close(core.ErrShutdownTimeout)
		still = g.shutdown.stillRan
	} else if first {
		g.shutdown.deadline = time.AfterFunc(timeout, g.deadlinePassed)
		g.idle()
	}
	g.unlockAndEnd()
	g.warn(still)
}

// Shutdown closes the group and returns the Termination. When it returns, every call of
// Go is refused, and the context of accepted functions has ended; the group ends when
// they have returned.
func (g *Group) Shutdown() *core.Termination {
	g.init()
	g.mu.Lock()
	g.begin(0, 0)
	if g.state < core.StateShutdown {
		g.close(core.ErrShutdown)
	}
	g.unlockAndEnd()
	return g.term
}

// Close calls ShutdownGracefully(0, core.DefaultShutdownTimeout) and AwaitTermination,
// and returns Err. While other goroutines continue to call Go, a function may run at any moment,
// and the group closes at the timeout: stop them first, or call Shutdown. From inside a function
// of the group Close begins the shutdown and returns core.ErrInEventLoop (G18). It implements
// io.Closer.
func (g *Group) Close() error {
	g.shutdownGracefully(0, core.DefaultShutdownTimeout)
	return g.AwaitTermination(context.Background())
}

// AwaitTermination waits for the end of the group and returns Err, or the cause of ctx if ctx
// ends first. It does not begin a shutdown. From inside a function of the group it returns
// core.ErrInEventLoop (G18).
func (g *Group) AwaitTermination(ctx context.Context) error {
	g.init()
	_, err := g.term.Wait(ctx)
	return err
}

// Termination returns the Termination of the group: the same pointer every time.
func (g *Group) Termination() *core.Termination {
	g.init()
	return g.term
}

// begin records the first shutdown call, and reports whether this call is the first.
// Requires mu.
func (g *Group) begin(quiet, timeout time.Duration) bool {
	s := &g.shutdown
	if s.called {
		return false
	}
	s.called, s.calledAt = true, time.Now() // before ShutdownContext ends, so that Elapsed includes what its end starts
	s.quiet, s.timeout, g.state = quiet, timeout, core.StateShuttingDown
	g.beginContext(core.ErrShutdown)
	return true
}

// idle closes the group, or begins its quiet period, if it is shutting down and no function
// runs. Requires mu.
func (g *Group) idle() {
	s := &g.shutdown
	switch {
	case g.state != core.StateShuttingDown || len(g.running) > 0:
	case s.quiet == 0:
		g.close(core.ErrShutdown)
	case time.Since(s.calledAt)+s.quiet >= s.timeout:
		// The deadline comes no later, and closes the group.
	default:
		var timer *time.Timer
		timer = time.AfterFunc(s.quiet, func() {
			g.mu.Lock()
			if s.quietTimer == timer { // otherwise it fired while stopQuiet held mu
				g.close(core.ErrShutdown)
			}
			g.unlockAndEnd()
		})
		s.quietTimer = timer
	}
}

// stopQuiet ends the quiet period, because a function was accepted or the group closes.
// Requires mu.
func (g *Group) stopQuiet() {
	if g.shutdown.quietTimer != nil {
		g.shutdown.quietTimer.Stop()
		g.shutdown.quietTimer = nil
	}
}

func (g *Group) deadlinePassed() {
	g.mu.Lock()
	still := ""
	if g.state < core.StateShutdown {
		g.close(core.ErrShutdownTimeout)
		still = g.shutdown.stillRan
	}
	g.unlockAndEnd()
	g.warn(still)
}

// close closes admission. Requires mu, and a state before Shutdown.
func (g *Group) close(cause error) {
	s := &g.shutdown
	g.state, s.cause, s.timedOut = core.StateShutdown, cause, cause == core.ErrShutdownTimeout
	g.stopQuiet()
	if s.timedOut {
		s.stillRan = g.stillRunning() // before a function continues: one that waits in Go, or for its context
	}
	g.refuseWaiting()
	if s.deadline != nil {
		s.deadline.Stop() // if it has fired, its function finds the state changed
	}
	g.closeContext(cause)
}

// unlockAndEnd releases mu and ends the group, if it is closed and no function runs.
func (g *Group) unlockAndEnd() {
	s := &g.shutdown
	ends := g.state == core.StateShutdown && len(g.running) == 0 && !s.ended
	if !ends {
		g.mu.Unlock()
		return
	}
	s.ended = true
	report, err := g.report(), g.failure()
	g.mu.Unlock()
	g.end(report, err)
}

// warn logs that the timeout has passed while functions run. The caller of close calls
// it, without mu.
func (g *Group) warn(still string) {
	if still != "" {
		g.log(slog.LevelWarn, "timeout of the graceful shutdown passed", "running", still)
	}
}
