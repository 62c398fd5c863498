package tcp

import (
	"context"
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

	// A listener that has run out of descriptors pauses, longer each time.
	firstAcceptDelay = 5 * time.Millisecond
	mostAcceptDelay  = time.Second
)

// Ready is core.Channel's: accept until there is nothing to accept.
func (s *listenerLoopSide) Ready(core.Readiness) {
	l := (*Listener)(s)
	for i := 0; i < mostAccepts && l.CloseCause() == nil; i++ {
		fd, remote, errno := sysAccept(l.cfg.faults, l.fd)
		switch errno {
		case 0:
			l.delay = firstAcceptDelay
			l.accepted.Add(1)
			l.handOver(fd, remote)
		case syscall.EAGAIN:
			return
		case syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM:
			l.pause(errno)
			return
		case syscall.EBADF, syscall.EINVAL, syscall.ENOTSOCK:
			l.cfg.logger.Error("tcp: the listener is broken", "address", l.Addr(), "error", errno)
			l.close(os.NewSyscallError("accept", errno))
			return
		default: // of the connection, which is gone: ECONNABORTED, and what accept(2) lists besides
		}
	}
}

// takeBacklog accepts what the kernel has accepted by now: a listener that ends in
// order does not reset those who came before. Loop only.
func (l *Listener) takeBacklog() {
	for range l.cfg.backlog + 1 { // Linux queues one more than it was asked for
		fd, remote, errno := sysAccept(l.cfg.faults, l.fd)
		switch errno {
		case 0:
			l.accepted.Add(1)
			l.handOver(fd, remote)
		case syscall.EAGAIN, syscall.EBADF, syscall.EINVAL, syscall.ENOTSOCK:
			return
		case syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM:
			l.cfg.logger.Warn("tcp: accept failed, the connections that wait are reset", "listener", l.Addr(), "error", errno)
			return
		default: // of the connection, which is gone, as in Ready
		}
	}
}

// handOver gives a connection to the next worker. From here on it is that loop's:
// one that has terminated, or whose queue is full, refuses it, and it is closed.
func (l *Listener) handOver(fd int, remote netip.AddrPort) {
	worker := l.workers.next()
	if err := worker.Execute(func() { l.adopt(worker, fd, remote) }); err != nil {
		l.drop(fd, err)
	}
}

// adopt runs on the worker.
func (l *Listener) adopt(worker *core.EventLoop, fd int, remote netip.AddrPort) {
	adopted := false
	var why error = ErrHandlerFailed // if newHandler panics
	defer func() {
		if !adopted {
			l.drop(fd, why)
		}
	}()
	h := l.newHandler()
	if h == nil {
		why = argumentError("Listen", "newHandler returned nil, want a Handler")
		return
	}
	sysTune(l.cfg, fd)
	c := &Channel{loop: worker, handler: h, cfg: l.cfg, fd: fd, remote: remote, local: sysLocalAddr(fd)}
	if why = c.register(); why != nil {
		return
	}
	adopted = true
	c.activate()
}

// drop closes a connection that nobody took, and says so before: of many not each
// time. Its peer may look at the books as soon as it is closed.
func (l *Listener) drop(fd int, why error) {
	if n := l.refused.Add(1); n&(n-1) == 0 {
		l.cfg.logger.Warn("tcp: a connection was accepted and had to be closed", "listener", l.Addr(), "error", why, "so far", n)
	}
	_ = sysClose(nil, fd)
}

// pause stops accepting for a while. The connection is still in the backlog, so
// that the descriptor would be reported, and accept fail, without end.
func (l *Listener) pause(errno syscall.Errno) {
	reg := l.registration()
	_ = reg.Modify(0)
	level := slog.LevelWarn
	if l.paused.Add(1) > 1 && l.delay < mostAcceptDelay {
		level = slog.LevelDebug
	}
	l.cfg.logger.Log(context.Background(), level, "tcp: accept failed, pausing", "listener", l.Addr(), "error", errno, "pause", l.delay)
	l.retry = time.AfterFunc(l.delay, func() { reg.Post(l.resume) })
	l.delay = min(2*l.delay, mostAcceptDelay)
}

func (l *Listener) resume() {
	if l.CloseCause() != nil {
		return
	}
	if err := l.registration().Modify(core.Readable); err != nil {
		l.retry = time.AfterFunc(l.delay, func() { l.registration().Post(l.resume) })
	}
}
