package core

import "eventide/core/internal/epoll"

// newEpollPoller returns the poller that the options select.
func newEpollPoller(cfg config) (IOPoller, error) {
	if cfg.blocking {
		p, err := epoll.NewBlocking(cfg.clock, epoll.System())
		if err != nil {
			return nil, err // not p: an interface with a nil pointer in it is not nil
		}
		return p, nil
	}
	p, err := epoll.NewNetpoll(cfg.clock, cfg.spin, epoll.System())
	if err != nil {
		return nil, err
	}
	return p, nil
}
