package tcp_test

import (
	"log/slog"
	"net"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// pausedListener returns a listener whose calls of accept fail, after its first pause.
func pausedListener(t *testing.T) (l *tcp.Listener, log *acceptLog, attempts *atomic.Int64) {
	t.Helper()
	log, attempts = &acceptLog{Handler: slog.DiscardHandler}, new(atomic.Int64)
	g := coretest.NewGroup(t, 1)
	l, err := tcp.Listen(g, g, "127.0.0.1:0", newEcho, tcp.WithLogger(slog.New(log)), tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
		if op == "accept" {
			attempts.Add(1)
			return n, syscall.EMFILE
		}
		return n, 0
	}))
	coretest.Must(t, err)
	mustDial(t, l.Addr())
	coretest.Until(t, "the first pause", func() bool { return l.Stats().Paused > 0 })
	return l, log, attempts
}

// TestPausesGrowToASecond: pauses double up to one second. Short ones behind the first are logged at Debug, those of a second
// at Warn.
func TestPausesGrowToASecond(t *testing.T) {
	coretest.CheckLeaks(t)
	l, log, _ := pausedListener(t)
	for range 10 {
		coretest.OnLoop(t, l.EventLoop(), l.Resume)
	}
	log.mu.Lock()
	defer log.mu.Unlock()
	const text = " tcp: the listener pauses accept: too many open files "
	want := []string{
		"WARN" + text + "5ms", "DEBUG" + text + "10ms", "DEBUG" + text + "20ms", "DEBUG" + text + "40ms", "DEBUG" + text + "80ms",
		"DEBUG" + text + "160ms", "DEBUG" + text + "320ms", "DEBUG" + text + "640ms", "WARN" + text + "1s", "WARN" + text + "1s",
	}
	if got := log.lines[:len(want)]; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestOneTimerOfAListener: a pause ends the timer of the pause before it, and so does the close. Otherwise each call of Close in a
// pause would begin one more series of pauses.
func TestOneTimerOfAListener(t *testing.T) {
	coretest.CheckLeaks(t)
	l, _, _ := pausedListener(t)
	for range 9 { // the timer is then one of a second
		coretest.OnLoop(t, l.EventLoop(), l.Resume)
	}
	coretest.OnLoop(t, l.EventLoop(), func() {
		before := l.TakeRetry()
		l.Resume()
		coretest.Want(t, "the timer of the pause before is still set", before(), false)
		last := l.TakeRetry()
		l.Close()
		coretest.Want(t, "the listener has closed", l.CloseCause() != nil, true)
		coretest.Want(t, "the timer of a closed listener is still set", last(), false)
	})
}

// TestEndOfAPauseAfterTheClose: a timer that has gone off before the close does not make the closed listener accept: its
// descriptor may be that of another socket by then.
func TestEndOfAPauseAfterTheClose(t *testing.T) {
	coretest.CheckLeaks(t)
	l, _, attempts := pausedListener(t)
	coretest.OnLoop(t, l.EventLoop(), func() {
		l.Close()
		before, lines := attempts.Load(), l.Stats()
		l.Resume()
		coretest.Want(t, "calls of accept", attempts.Load(), before)
		coretest.Want(t, "the counters", l.Stats(), lines)
	})
}

// advances is a tracer that advances the round robin of a group at each refusal.
type advances struct{ group atomic.Pointer[core.Group] }

func (a *advances) Trace(ev core.Event) {
	if g := a.group.Load(); g != nil && ev.Kind == core.EventAdmit && !ev.Accepted {
		g.Next()
	}
}

// TestOwnLoopWhateverTheRoundRobin: a listener whose loop is one of the workers does not refuse a connection while it can serve it
// itself, also if other users of the group advance the round robin past its loop each time.
func TestOwnLoopWhateverTheRoundRobin(t *testing.T) {
	coretest.CheckLeaks(t)
	tracer := &advances{}
	g := coretest.NewGroup(t, 2, core.WithTracer(tracer))
	l, err := tcp.Listen(g, g, "127.0.0.1:0", newEcho)
	coretest.Must(t, err)
	for loop := range g.All() {
		if loop != core.EventExecutor(l.EventLoop()) {
			loop.Shutdown()
			coretest.AwaitDone(t, loop)
		}
	}
	for g.Next() != core.EventExecutor(l.EventLoop()) { // the next one is the other
	}
	tracer.group.Store(g)
	for range 3 {
		mustEcho(t, mustDial(t, l.Addr()))
	}
	if s := l.Stats(); s.Accepted != 3 || s.Refused != 0 {
		t.Errorf("%+v, want 3 accepted and none refused", s)
	}
}

// TestConnectionOfALostListener: a listener whose registration ends while it accepts refuses the connection in its hand: it
// closes, counts and logs it.
func TestConnectionOfALostListener(t *testing.T) {
	coretest.CheckLeaks(t)
	log, listener := &acceptLog{Handler: slog.DiscardHandler}, make(chan *tcp.Listener, 1)
	g := coretest.NewGroup(t, 1)
	l, err := tcp.Listen(g, g, "127.0.0.1:0", newEcho, tcp.WithLogger(slog.New(log)), tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
		if op == "accept" {
			select {
			case l := <-listener:
				l.LoseRegistration()
			default:
			}
		}
		return n, 0
	}))
	coretest.Must(t, err)
	listener <- l
	c, err := net.Dial("tcp", l.Addr().String())
	coretest.Must(t, err)
	defer c.Close()
	wantEnd(t, c)
	coretest.OnLoop(t, g, func() { l.Close() })
	if s := l.Stats(); s.Accepted != 1 || s.Refused != 1 {
		t.Errorf("%+v, want one accepted and refused", s)
	}
	coretest.Want(t, "the log", slices.Equal(log.lines, []string{"WARN tcp: a connection was accepted and had to be closed tcp: listener is closed 1"}), true)
}
