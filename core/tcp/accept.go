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
	// mostAccepts bounds the connections accepted per readiness event. The listener is
	// level-triggered: the poller reports the rest in the next turn.
	mostAccepts = 64

	// A listener that cannot accept pauses; each pause is twice as long as the one before.
	firstAcceptDelay = 5 * time.Millisecond
	mostAcceptDelay  = time.Second
)

// accepted is a connection that has no channel yet.
type accepted struct {
	fd     int
	remote netip.AddrPort
}

// Ready implements core.Channel: it accepts connections.
func (s *listenerLoopSide) Ready(core.Readiness) {
	l := (*Listener)(s)
	l.afterAccept(l.accept(mostAccepts))
}

// afterAccept handles the result of accept: it closes or pauses the listener. Loop only.
func (l *Listener) afterAccept(err error) {
	switch {
	case l.CloseCause() != nil:
	case l.ending != nil:
		l.closeInOrder(l.ending)
	case err != nil:
		l.pause(err)
	}
}

// accept takes at most n connections, n > 0, from the kernel and hands them to workers. An error
// means that it cannot continue now, though there may be more connections: accept(2) failed
// for a reason that does not concern one connection only, or a worker returned
// core.ErrQueueFull. The rest stays in the kernel's backlog, where peers can wait. (Netty
// closes connections that a full queue refuses.)
//
// The logger may call Close inside accept; the caller then finds l.ending set, and closes.
// The logger may also call runtime.Goexit; the listener then resumes in a body of its own.
// Loop only.
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
	if l.hasCurrent && !l.handOff() {
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
			l.current, l.hasCurrent = accepted{fd, remote}, true
			if !l.handOff() {
				return core.ErrQueueFull
			}
		case errno == syscall.EAGAIN:
			return nil
		case isListenerError(errno):
			l.close(os.NewSyscallError("accept", errno))
			l.cfg.log(slog.LevelError, "tcp: the listener is broken", "listener", l.Addr(), "error", errno)
			return nil
		case !isConnectionError(errno):
			return os.NewSyscallError("accept", errno)
		}
	}
	if !some { // n failed connections in a row: the error may be a lasting one
		return os.NewSyscallError("accept", last)
	}
	return nil
}

// takeBacklog accepts the connections in the kernel's backlog, so that a listener that
// closes in order does not reset them. It returns false if a worker's queue is full, and
// the rest has to wait for room. Loop only.
func (l *Listener) takeBacklog() bool {
	err := l.accept(l.cfg.backlog + 1) // Linux queues one more than the backlog
	if err != nil && err != core.ErrQueueFull {
		l.accepting = true      // the logger may call Close
		defer l.close(l.ending) // or not return
		l.cfg.log(slog.LevelWarn, "tcp: accept failed, the connections that wait are reset", "listener", l.Addr(), "error", err)
	}
	return err != core.ErrQueueFull
}

// handOff offers the current connection to the workers. If the queue of a worker is full,
// it keeps the connection and returns false. If every worker refuses the connection, handOff
// closes it. In both other cases there is room again, and the next pause is the first. Loop only.
func (l *Listener) handOff() bool {
	err := l.offer(l.current)
	if errors.Is(err, core.ErrQueueFull) {
		return false
	}
	l.hasCurrent, l.delay = false, firstAcceptDelay
	if err != nil {
		l.drop(l.current.fd, err)
	}
	return true
}

// offer offers c to the next worker, and skips workers that were shut down: if boss and
// workers are shut down together, idle workers end first, and the round robin still picks
// them. It does not skip a worker with a full queue, which will have room again. Loop only.
func (l *Listener) offer(c accepted) error {
	err := l.offerTo(l.workers.next(), c)
	if endsOffer(err) || l.workers.group == nil {
		return err
	}
	ours := false
	for worker := range l.workers.group.All() {
		ours = ours || worker == core.EventExecutor(l.boss)
		if err = l.offerTo(l.workers.next(), c); endsOffer(err) {
			return err
		}
	}
	if ours { // other users of the group may have advanced the round robin past our own loop
		return l.offerTo(l.boss, c)
	}
	return err
}

// endsOffer reports whether err is a result of offerTo after which no other worker is tried.
func endsOffer(err error) bool { return err == nil || errors.Is(err, core.ErrQueueFull) }

// offerTo offers c to one worker. Loop only.
func (l *Listener) offerTo(worker *core.EventLoop, c accepted) error {
	adopt := func() { l.adopt(worker, c) }
	if worker != l.boss {
		// Not Execute: a rejected-handler would block our loop.
		return worker.TryExecute(adopt)
	}
	// Not a task: tasks would fill our own bounded queue, since none of them begins before
	// this body ends. Posted work is bounded too: by the accepts of one readiness event.
	if !l.registration().Post(adopt) {
		return ErrListenerClosed
	}
	return nil
}

// adopt makes c a channel of worker. It runs on worker.
func (l *Listener) adopt(worker *core.EventLoop, c accepted) {
	adopted := false
	var why error = ErrHandlerFailed // stays so if newHandler panics
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

// drop counts and logs a refused connection, and then closes it: as soon as it is closed
// its peer may read the counters.
func (l *Listener) drop(fd int, why error) {
	defer func() { _ = sysClose(nil, fd) }() // also if the logger calls runtime.Goexit
	l.logRefusal(l.refused.Add(1), why)
}

// logRefusal logs the nth refused connection, if n is a power of two.
func (l *Listener) logRefusal(n int64, why error) {
	if n&(n-1) == 0 {
		l.cfg.log(slog.LevelWarn, "tcp: a connection was accepted and had to be closed", "listener", l.Addr(), "error", why, "so far", n)
	}
}

// pause stops accepting for a while. Without it a lasting error of accept would make the
// loop spin: the descriptor stays ready, and each accept fails. Loop only.
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
	l.accepting = true // if the logger calls Close, resume closes
	defer func() { l.accepting = false }()
	_ = reg.Modify(0) // if the poller panics, the timer is set already
	l.cfg.log(level, "tcp: the listener pauses", "listener", l.Addr(), "error", why, "pause", delay)
}

// resume ends a pause, or continues closeInOrder if the listener is closing. It accepts
// at once: no readiness event reports the current connection, which the kernel has handed
// out already. Loop only.
func (l *Listener) resume() {
	if l.CloseCause() != nil {
		return
	}
	err := l.accept(mostAccepts)
	if err == nil && l.CloseCause() == nil {
		err = l.registration().Modify(core.Readable)
	}
	l.afterAccept(err)
}
