//go:build linux

package sockets

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"math/bits"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"eventide/core"
	"eventide/core/tcp"
	"eventide/props/lanes/sockets/kernel"

	"golang.org/x/sys/unix"
)

// listening has what a run knows of its listener.
type listening struct {
	mu     sync.Mutex
	pauses int
	last   pause
	future *core.Future[struct{}] // of the first Close
	endsAt time.Time              // of the first Close; zero: there was none
}

// pause is a pause of the listener, from its log.
type pause struct {
	at       time.Time
	lasts    time.Duration
	why      error
	accepted int64 // as counted when it began
}

// The bounds of the pauses of a listener.
const (
	firstPause   = 5 * time.Millisecond
	longestPause = time.Second
)

// listenerPauses judges a pause of the listener. It is called on the loop of the listener.
func (r *run) listenerPauses(level slog.Level, lasts time.Duration, why error) {
	r.listening.mu.Lock()
	defer r.listening.mu.Unlock()
	l, before := &r.listening, r.listening.last
	stats := r.listener.Stats()
	l.pauses++
	l.last = pause{time.Now(), lasts, why, stats.Accepted}
	full := errors.Is(why, core.ErrQueueFull)
	next := min(2*before.lasts, longestPause) // if no connection was taken since the last pause
	switch {
	case before.lasts == 0:
		if lasts != firstPause {
			r.violate("the first pause of the listener lasts %v, want %v", lasts, firstPause)
		}
	case lasts != firstPause && lasts != next:
		r.violate("the listener pauses for %v, and before for %v: want %v or %v", lasts, before.lasts, firstPause, next)
	case full || errors.Is(before.why, core.ErrQueueFull):
	case stats.Accepted == before.accepted && lasts != next:
		r.violate("the listener pauses for %v, and before for %v, and has accepted nothing since: want %v", lasts, before.lasts, next)
	case stats.Accepted > before.accepted && lasts != firstPause:
		r.violate("the listener has accepted a connection, and then pauses for %v, want %v", lasts, firstPause)
	}
	if before.lasts > 0 && !r.listenerEnds() && time.Since(before.at) < before.lasts {
		r.violate("the listener pauses %v after a pause of %v has begun", time.Since(before.at), before.lasts)
	}
	if short := l.pauses > 1 && lasts < longestPause; short != (level == slog.LevelDebug) {
		r.violate("pause %d of the listener, of %v, is logged at %v", l.pauses, lasts, level)
	}
	if !r.explainsPause(why) {
		r.violate("the listener pauses for %v, and nothing in the run explains that", why)
	}
}

// explainsPause reports whether the run had a reason for a pause.
func (r *run) explainsPause(why error) bool {
	var errno syscall.Errno
	switch {
	case errors.Is(why, core.ErrQueueFull):
		return r.p.Pending > 0
	case !errors.As(why, &errno), slices.Contains(breaksListener, errno): // the second closes the listener
		return false
	case errno == syscall.EMFILE && r.p.Kernel.Files > 0:
		return true
	}
	// Errors of one connection.
	ofOne := func(e syscall.Errno) bool { return e == syscall.ECONNABORTED || e == syscall.EPROTO }
	inRow := 0 // calls of accept that may fail so, one after the other
	for _, f := range r.p.Kernel.Faults {
		if f.Op == kernel.OpAccept && ofOne(f.Errno) {
			inRow += f.Times
		}
	}
	return slices.ContainsFunc(r.p.Kernel.Faults, func(f kernel.Fault) bool {
		return f.Errno == errno && (f.Op == kernel.OpAccept && (!ofOne(errno) || inRow > 1) || f.Op == kernel.OpAdd)
	})
}

// listenerEnds reports whether a call that ends the listener has begun.
func (r *run) listenerEnds() bool { return r.listenerClosed.Load() > 0 || r.shutdown.Load() > 0 }

// closeListener makes the call Close of the listener.
func (r *run) closeListener() {
	if r.listener == nil {
		return
	}
	r.listenerClosed.CompareAndSwap(0, r.stamp())
	f := r.listener.Close()
	r.listening.mu.Lock()
	defer r.listening.mu.Unlock()
	if r.listening.future == nil {
		r.listening.future, r.listening.endsAt = f, time.Now()
	}
	if r.listening.future != f {
		r.violate("two calls of the listener's Close have returned two futures")
	}
}

// checkListener checks, while every goroutine waits, that the listener accepts unless it pauses.
func (r *run) checkListener() {
	if r.listener == nil {
		return
	}
	r.listening.mu.Lock()
	pauses, last := r.listening.pauses, r.listening.last
	r.listening.mu.Unlock()
	pausing := time.Now().Before(last.at.Add(last.lasts))
	if n := r.k.Queued(); n > 0 && !pausing && r.listener.CloseCause() == nil {
		r.violate("G12: %d connections wait to be accepted while every goroutine waits; the listener has paused %d times, for the last time for %v", n, pauses, last.lasts)
	}
	stats := r.listener.Stats()
	if stats.Paused != int64(pauses) {
		r.violate("the listener counts %d pauses, and has logged %d", stats.Paused, pauses)
	}
	if stats.Refused > 0 && !r.explainsRefusals() {
		r.violate("the listener has refused %d connections, and nothing in the run explains that", stats.Refused)
	}
	if ends := r.listenerClosed.Load() > 0; ends && !pausing && r.listener.CloseCause() == nil {
		r.violate("Close of the listener was called, every goroutine waits, and the listener is open")
	}
}

// judgeListener compares the listener and its counters with the kernel.
func (r *run) judgeListener(connections []kernel.Connection) {
	if r.listener == nil {
		return
	}
	var accepted, active int64
	for _, k := range connections {
		if k.Accepted && k.Ends[1].Ours {
			accepted++
		}
	}
	for _, c := range r.conns {
		if c.ch != nil && !c.spec.Dialled && !c.spec.Embedded {
			active++
		}
	}
	stats := r.listener.Stats()
	if stats.Accepted != accepted || stats.Refused != accepted-active {
		r.violate("the listener counts %d accepted and %d refused connections; the kernel counts %d, and %d became active", stats.Accepted, stats.Refused, accepted, active)
	}
	lines := r.logged.count(refusedConnection)
	if want := bits.Len64(uint64(stats.Refused)); lines != want {
		r.violate("%d lines about %d refused connections, want %d", lines, stats.Refused, want)
	}
	r.judgeBacklog(connections)
	r.judgeListenerEnd()
	r.judgeListenerOptions()
}

// explainsRefusals reports whether the run had a reason to close connections that were accepted, other
// than a shutdown.
func (r *run) explainsRefusals() bool {
	noMemory := slices.ContainsFunc(r.p.Kernel.Faults, func(f kernel.Fault) bool { return f.Op == kernel.OpAdd })
	broken := slices.ContainsFunc(r.p.Kernel.Faults, func(f kernel.Fault) bool { return f.Op == kernel.OpAccept && slices.Contains(breaksListener, f.Errno) })
	return r.p.Options.BadHandler != "" || noMemory || broken
}

// judgeBacklog checks that a listener which closes in order accepts the connections of its backlog.
func (r *run) judgeBacklog(connections []kernel.Connection) {
	ends := r.shutdownAt
	if at := r.listening.endsAt; !at.IsZero() && at.Before(ends) {
		ends = at
	}
	failed := r.logged.count(acceptFailed) > 0
	if failed && !r.acceptFails() {
		r.violate("accept failed when the listener closed, and nothing in the run explains that")
	}
	cause := r.listener.CloseCause()
	inOrder := cause == tcp.ErrListenerClosed || errors.Is(cause, core.ErrShutdown) && !r.p.End.Now && !r.p.Aborts
	if failed || !inOrder || r.losesConnections() {
		return
	}
	for _, k := range connections {
		if k.Ends[1].Ours && k.NeverAccepted && k.EstablishedAt.Before(ends) {
			r.violate("G23: a connection from %v waited to be accepted when the listener began to close, and was reset", k.Client)
		}
	}
}

// acceptFails reports whether calls of accept can fail.
func (r *run) acceptFails() bool {
	return r.p.Kernel.Files > 0 || slices.ContainsFunc(r.p.Kernel.Faults, func(f kernel.Fault) bool { return f.Op == kernel.OpAccept })
}

// losesConnections reports whether accept can fail for one connection. The model keeps that
// connection, and Linux does not: what is left of the backlog may exceed its bound.
func (r *run) losesConnections() bool {
	return slices.ContainsFunc(r.p.Kernel.Faults, func(f kernel.Fault) bool {
		return f.Op == kernel.OpAccept && (f.Errno == syscall.ECONNABORTED || f.Errno == syscall.EPROTO)
	})
}

// brokeListener reports whether an error of accept has closed the listener.
func (r *run) brokeListener() bool {
	return r.breaksListener(r.listener.CloseCause())
}

// breaksListener reports whether err is an error that breaks a listener, and that a call of accept can return.
func (r *run) breaksListener(err error) bool {
	var errno syscall.Errno
	return errors.As(err, &errno) && slices.Contains(breaksListener, errno) &&
		slices.ContainsFunc(r.p.Kernel.Faults, func(f kernel.Fault) bool { return f.Op == kernel.OpAccept && f.Errno == errno })
}

// judgeListenerEnd checks the cause of the listener's close, and its futures.
func (r *run) judgeListenerEnd() {
	cause := r.listener.CloseCause()
	shutdown := errors.Is(cause, core.ErrShutdown) || errors.Is(cause, core.ErrShutdownTimeout)
	switch {
	case cause == nil:
		r.violate("the groups have terminated, and the listener has no cause of its close")
		return
	case cause == tcp.ErrListenerClosed && r.listenerClosed.Load() == 0,
		cause != tcp.ErrListenerClosed && !shutdown && !r.brokeListener():
		r.violate("the listener has closed with %v, and nothing in the run explains that", cause)
	}
	broken := 0
	if r.brokeListener() {
		broken = 1
	}
	if n := r.logged.count(brokenListener); n != broken {
		r.violate("the listener has closed with %v, and is broken by %d lines of its log, want %d", cause, n, broken)
	}
	k := r.listenerRecord()
	if k == nil || !k.Closed {
		r.violate("G24: the socket of the listener is open after the end: %+v", k)
		return
	}
	want := closeError(k.CloseErr)
	for range 2 {
		if _, err := r.listener.Close().Wait(context.Background()); !sameError(err, want) {
			r.violate("the future of the listener's Close has the error %v, want %v", err, want)
		}
	}
	if f := r.listening.future; f != nil && f != r.listener.Close() {
		r.violate("two calls of the listener's Close have returned two futures")
	}
	if _, err := r.listener.CloseFuture().Wait(context.Background()); err != nil {
		r.violate("the CloseFuture of the listener has the error %v", err)
	}
	for ch := range r.listener.Channels() {
		r.violate("the listener lists a channel to %v after the end", ch.RemoteAddr())
	}
}

// closeError is the error of a Close whose close(2) has returned an errno.
func closeError(errno syscall.Errno) error {
	if errno == 0 || errno == syscall.EINTR {
		return nil
	}
	return os.NewSyscallError("close", errno)
}

// sameError reports whether two errors have the same text, and are nil both or none.
func sameError(a, b error) bool {
	return (a == nil) == (b == nil) && (a == nil || a.Error() == b.Error())
}

// listenerRecord returns the kernel's record of the listener, or nil.
func (r *run) listenerRecord() *kernel.Listening {
	all := r.k.Listened()
	at := slices.IndexFunc(all, func(k kernel.Listening) bool { return k.Local.String() == r.addr.String() })
	if at < 0 {
		return nil
	}
	return &all[at]
}

// judgeListenerOptions checks the options that the kernel got for the socket of the listener.
func (r *run) judgeListenerOptions() {
	o, k := r.p.Options, r.listenerRecord()
	if k == nil {
		return
	}
	want := map[[2]int]int{}
	if !o.KeepsAddr {
		want[[2]int{unix.SOL_SOCKET, unix.SO_REUSEADDR}] = 1
	}
	everywhere := r.listensEverywhere()
	if k.Local.Addr().IsUnspecified() != everywhere || k.Local.Addr().Is6() != (everywhere || o.At == "[::1]:0") || k.OnlyIPv6 != (o.At == "[::1]:0") {
		r.violate("the listener listens at %v, only on IPv6: %v; its address was %q", k.Local, k.OnlyIPv6, r.at())
	}
	if o.Recv > 0 && k.ReceiveBuffer != o.Recv || o.Send > 0 && k.SendBuffer != o.Send {
		r.violate("the buffers of the listener are %d and %d, want %d and %d where not 0", k.ReceiveBuffer, k.SendBuffer, o.Recv, o.Send)
	}
	if !maps.Equal(want, k.Options) || k.ReusePort != o.ReusePort || k.Backlog != o.Backlog {
		r.violate("the listener has the options %v, reuses its port: %v, and has a backlog of %d; want %v, %v and %d", k.Options, k.ReusePort, k.Backlog, want, o.ReusePort, o.Backlog)
	}
}
