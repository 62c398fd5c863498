package tcp

import (
	"errors"
	"log/slog"
	"net/netip"
	"os"
	"syscall"
	"time"

	"eventide/core"
)

const (
	// mostAccepts bounds the connections of one readiness. The listener is
	// level-triggered: the rest is reported again.
	mostAccepts = 64

	// A listener that cannot go on pauses, longer each time.
	firstAcceptDelay = 5 * time.Millisecond
	mostAcceptDelay  = time.Second
)

// accepted is a connection that nobody has adopted yet.
type accepted struct {
	fd     int
	remote netip.AddrPort
}

// Ready is core.Channel's: accept until there is nothing to accept.
func (s *listenerLoopSide) Ready(core.Readiness) {
	l := (*Listener)(s)
	l.goOn(l.accept(mostAccepts))
}

// goOn does what follows from what accept returned. Loop only.
func (l *Listener) goOn(err error) {
	switch {
	case l.CloseCause() != nil:
	case l.ending != nil:
		l.closeInOrder(l.ending)
	case err != nil:
		l.pause(err)
	}
}

// accept takes connections from the kernel, n at most, and gives them to workers. The
// error says why it cannot go on now, though there may be more: an error of accept that
// is not one connection's, or core.ErrQueueFull of a worker. The rest stays in the
// backlog then, where peers can wait. (Netty closes what a full queue refuses.) The
// logger is called from here. It may call Close: that waits until the caller looks at
// ending. If it does not return (runtime.Goexit) the listener goes on soon. Loop only.
func (l *Listener) accept(n int) error {
	l.accepting = true
	returns := false
	defer func() {
		l.accepting = false
		if !returns {
			l.registration().Post(l.resume)
		}
	}()
	err := l.acceptSome(n)
	returns = true
	return err
}

func (l *Listener) acceptSome(n int) error {
	if l.holds && !l.handOver() {
		return core.ErrQueueFull
	}
	var last syscall.Errno
	some := false
	for ; n > 0; n-- {
		fd, remote, errno := sysAccept(l.cfg.faults, l.fd)
		switch last = errno; {
		case errno == 0:
			some = true
			l.accepted.Add(1)
			l.held, l.holds = accepted{fd, remote}, true
			if !l.handOver() {
				return core.ErrQueueFull
			}
		case errno == syscall.EAGAIN:
			return nil
		case ofListener(errno):
			l.close(os.NewSyscallError("accept", errno))
			l.cfg.log(slog.LevelError, "tcp: the listener is broken", "address", l.Addr(), "error", errno)
			return nil
		case !ofConnection(errno):
			return os.NewSyscallError("accept", errno)
		}
	}
	if !some && last != 0 { // of so many connections in a row? perhaps it stays
		return os.NewSyscallError("accept", last)
	}
	return nil
}

// takeBacklog accepts what the kernel has accepted by now: a listener that ends in
// order does not reset those who came before. It reports false if a worker's queue is
// full: then there will be room. Loop only.
func (l *Listener) takeBacklog() bool {
	err := l.accept(l.cfg.backlog + 1) // Linux queues one more than it was asked for
	if err != nil && err != core.ErrQueueFull {
		l.accepting = true      // the logger may call Close
		defer l.close(l.ending) // or not return
		l.cfg.log(slog.LevelWarn, "tcp: accept failed, the connections that wait are reset", "listener", l.Addr(), "error", err)
	}
	return err != core.ErrQueueFull
}

// handOver gives the connection in hand to a worker. If the queue of that one is full it
// keeps the connection and reports false; if no worker takes any it closes it. Loop only.
func (l *Listener) handOver() bool {
	err := l.offer(l.held)
	if errors.Is(err, core.ErrQueueFull) {
		return false
	}
	l.holds = false
	if err != nil {
		l.drop(l.held.fd, err)
		return true
	}
	l.delay = firstAcceptDelay
	return true
}

// offer gives c to the next worker. One that was shut down is passed over: in a shutdown
// of boss and workers together the idle ones end first, and their turns come all the
// same. A full queue is not: there will be room. Loop only.
func (l *Listener) offer(c accepted) error {
	err := l.give(l.workers.next(), c)
	if isAnswer(err) || l.workers.group == nil {
		return err
	}
	ours := false
	for worker := range l.workers.group.All() {
		ours = ours || worker == core.EventExecutor(l.boss)
		if err = l.give(l.workers.next(), c); isAnswer(err) {
			return err
		}
	}
	if ours { // others who use the group may have taken the turn of our own loop
		return l.give(l.boss, c)
	}
	return err
}

// isAnswer reports whether no other worker is to be asked.
func isAnswer(err error) bool { return err == nil || errors.Is(err, core.ErrQueueFull) }

// give offers c to one worker. Loop only.
func (l *Listener) give(worker *core.EventLoop, c accepted) error {
	adopt := func() { l.adopt(worker, c) }
	if worker != l.boss {
		// Not Execute: a rejected-handler would hold up our loop.
		return worker.TryExecute(adopt)
	}
	// Not a task: it would take the room of our own queue, and a burst of them, which
	// nobody begins before this body ends, would fill it. Of this work there is one
	// readiness at most.
	if !l.registration().Post(adopt) {
		return ErrListenerClosed
	}
	return nil
}

// adopt runs on the worker.
func (l *Listener) adopt(worker *core.EventLoop, c accepted) {
	adopted := false
	var why error = ErrHandlerFailed // if newHandler panics
	defer func() {
		if !adopted {
			l.drop(c.fd, why)
		}
	}()
	h := l.newHandler()
	if h == nil {
		why = argumentError("Listen", "newHandler returned nil, want a Handler")
		return
	}
	sysTune(l.cfg, c.fd)
	ch := &Channel{loop: worker, handler: h, cfg: l.cfg, fd: c.fd, remote: c.remote, local: sysLocalAddr(c.fd)}
	if why = ch.register(); why != nil {
		return
	}
	adopted = true
	ch.activate()
}

// drop closes a connection that nobody took, and says so before. Its peer may look at
// the books as soon as it is closed.
func (l *Listener) drop(fd int, why error) {
	defer func() { _ = sysClose(nil, fd) }() // the logger may not return
	l.logRefusal(l.refused.Add(1), why)
}

// logRefusal logs that the nth connection was refused: of many not each time.
func (l *Listener) logRefusal(n int64, why error) {
	if n&(n-1) == 0 {
		l.cfg.log(slog.LevelWarn, "tcp: a connection was accepted and had to be closed", "listener", l.Addr(), "error", why, "so far", n)
	}
}

// pause stops accepting for a while. What made accept fail is still there, and the
// descriptor would be reported, and accept fail, without end. Loop only.
func (l *Listener) pause(why error) {
	reg := l.registration()
	delay := l.delay
	level := slog.LevelWarn
	if l.paused.Add(1) > 1 && delay < mostAcceptDelay {
		level = slog.LevelDebug
	}
	if l.retry != nil {
		l.retry.Stop()
	}
	l.retry = time.AfterFunc(delay, func() { reg.Post(l.resume) })
	l.delay = min(2*delay, mostAcceptDelay)
	_ = reg.Modify(0)  // a poller may panic: the listener goes on all the same
	l.accepting = true // the logger may call Close, which resume will see
	defer func() { l.accepting = false }()
	l.cfg.log(level, "tcp: the listener pauses", "listener", l.Addr(), "error", why, "pause", delay)
}

// resume goes on after a pause: with the end in order, if that was under way. What is
// held would not be reported, so it does not wait for a readiness. Loop only.
func (l *Listener) resume() {
	if l.CloseCause() != nil {
		return
	}
	err := l.accept(mostAccepts)
	if err == nil && l.CloseCause() == nil {
		err = l.registration().Modify(core.Readable)
	}
	l.goOn(err)
}
