package blocking_test

import (
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// A group without executors is not Terminated while its shutdown still closes a listener.
func TestG21TerminatedOnlyOnceDone(t *testing.T) {
	g := newGroup(t, 0)
	var during core.State
	ln := &watchedListener{Listener: listen(t), accepting: make(chan struct{}), closing: func() { during = g.State() }}
	served := make(chan error, 1)
	go func() { served <- g.Serve(ln, newEcho) }()
	coretest.Await(t, "Accept", ln.accepting)
	g.Shutdown()
	coretest.WantErr(t, "Serve", <-served, nil)
	coretest.Want(t, "G21: the state while the listener is closed", during, core.StateShutdown)
	coretest.Want(t, "the state afterwards", g.State(), core.StateTerminated)
}

// watchedListener is a listener that closes accepting at the first Accept, and calls closing before
// its first Close.
type watchedListener struct {
	net.Listener
	accepting     chan struct{}
	closing       func()
	accept, close sync.Once
}

func (w *watchedListener) Accept() (net.Conn, error) {
	w.accept.Do(func() { close(w.accepting) })
	return w.Listener.Accept()
}

func (w *watchedListener) Close() error {
	w.close.Do(w.closing)
	return w.Listener.Close()
}

// G16: the arguments of a second ShutdownGracefully have no effect, in virtual time.
func TestG16SecondShutdownGracefully(t *testing.T) {
	const quiet = 10 * time.Second
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, 0)
		ours, theirs := net.Pipe()
		closeAtEnd(t, theirs)
		mustRegister(t, g, ours, echo())
		begun := time.Now()
		coretest.MustShutdownGracefully(t, g, quiet, 2*quiet)
		coretest.MustShutdownGracefully(t, g, 0, 0)
		coretest.AwaitDone(t, g)
		coretest.Want(t, "G16: the time until the end", time.Since(begun), quiet)
	})
}
