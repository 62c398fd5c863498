package blocking

import (
	"errors"
	"log/slog"
	"net"
	"slices"
	"syscall"
	"time"

	"eventide/core"
)

// Serve accepts connections from ln and registers each with its own handler, until the
// shutdown call of the group, which closes ln; then it returns nil. While the group has
// its maximum of channels, the next connection waits, and later ones stay in the kernel's
// backlog: none is refused.
//
// Serve returns early with an error of ln or of Register, after it has closed ln. If the
// process is out of descriptors, it pauses and accepts again: it pauses for 5 ms, and for twice
// as long after each further failure, up to 1 s, until it accepts a connection. It logs the first
// failure of such a series at Warn. It calls newHandler on its own goroutine. From inside an
// executor of the group, whose channel would wait for Serve, it returns core.ErrInEventLoop at
// once (G18). After a bad argument ln stays open.
func (g *Group) Serve(ln net.Listener, newHandler func() Handler, opts ...Option) error {
	switch {
	case ln == nil:
		return argumentError("Serve", "ln is nil, want a listener")
	case newHandler == nil:
		return argumentError("Serve", "newHandler is nil, want a function")
	case g.InEventLoop():
		return core.ErrInEventLoop
	}
	cfg, err := newConfig(opts)
	if err != nil {
		return err
	}
	s := &service{group: g, ln: ln, newHandler: newHandler, opts: opts, cfg: cfg, stopped: make(chan struct{})}
	defer func() { _ = ln.Close() }()
	if !g.addService(s) {
		return nil
	}
	defer g.removeService(s)
	return s.run()
}

// service is one call of Serve.
type service struct {
	group      *Group
	ln         net.Listener
	newHandler func() Handler
	opts       []Option
	cfg        *config       // made of opts
	stopped    chan struct{} // closed by the group's shutdown, before it closes ln
}

const (
	firstAcceptPause = 5 * time.Millisecond
	lastAcceptPause  = time.Second
)

func (s *service) isStopped() bool {
	select {
	case <-s.stopped:
		return true
	default:
		return false
	}
}

func (s *service) run() error {
	var pause time.Duration
	for {
		conn, err := s.ln.Accept()
		switch {
		case err == nil:
			pause = 0
			err = s.register(conn)
		case isTemporary(err):
			if pause == 0 && !s.isStopped() {
				s.cfg.log(slog.LevelWarn, "blocking: Serve pauses, as accept failed", "listener", s.ln.Addr(), "error", err)
			}
			pause = min(max(2*pause, firstAcceptPause), lastAcceptPause)
			s.rest(pause)
			err = nil
		}
		if s.isStopped() {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// isTemporary reports whether an error of Accept is temporary: there are no descriptors or
// buffers at the moment, or the peer has closed the connection.
func isTemporary(err error) bool {
	for _, errno := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

// rest waits for d, or for the shutdown.
func (s *service) rest(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.stopped:
	}
}

// register makes conn a channel as soon as the group has room for one.
func (s *service) register(conn net.Conn) error {
	taken := false
	defer func() {
		if !taken {
			_ = closeConn(conn) // also if newHandler panics
		}
	}()
	h := s.newHandler()
	for {
		_, err := s.group.register(conn, h, s.opts)
		taken = err == nil
		if !errors.Is(err, ErrTooManyChannels) {
			return err
		}
		s.group.waitForRoom()
	}
}

// waitForRoom returns when the group has room for a channel, or its shutdown has begun.
func (g *Group) waitForRoom() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for !g.shutDown && g.open >= g.max {
		g.room.Wait()
	}
}

// addService adds s, and reports whether the group is open.
func (g *Group) addService(s *service) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shutDown {
		return false
	}
	g.services = append(g.services, s)
	return true
}

func (g *Group) removeService(s *service) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.services = slices.DeleteFunc(g.services, func(x *service) bool { return x == s })
}
