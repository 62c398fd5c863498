package core

import (
	"fmt"
	"strconv"
	"sync/atomic"
	"time"
)

// EventLoop is an Executor that watches descriptors. It has the same guarantees, and
// sleeps in its own epoll instance. Handlers of ready descriptors run before the tasks of
// a turn. Without WithPoller it needs Linux; the rest of the package is portable. Make one with
// NewEventLoop: the zero EventLoop is not usable.
type EventLoop struct {
	Executor
}

// NewEventLoop returns an event loop that has no goroutine yet. The loop holds two
// descriptors, or three with WithBlockingEpoll, until it terminates; with WithClock it holds
// one less. NewEventLoop returns an error for a bad option, or if the operating system
// refuses a descriptor. Only Linux has epoll: on other systems the call fails without
// WithPoller.
//
// A poller given by WithPoller must be an IOPoller.
func NewEventLoop(opts ...Option) (*EventLoop, error) {
	cfg, err := newConfig("NewEventLoop", opts)
	if err != nil {
		return nil, err
	}
	return newEventLoop("NewEventLoop", cfg, nil)
}

func newEventLoop(call string, cfg config, parent *Group) (*EventLoop, error) {
	var poller IOPoller
	if cfg.poller != nil {
		var ok bool
		if poller, ok = cfg.poller.(IOPoller); !ok {
			return nil, argumentError(call, "WithPoller has a %T, want an IOPoller: it has to watch descriptors", cfg.poller)
		}
	} else {
		var err error
		if poller, err = newEpollPoller(cfg); err != nil {
			return nil, fmt.Errorf("core: %s: %w", call, err)
		}
		cfg.poller = poller
	}
	if cfg.name == "" {
		cfg.name = "loop-" + strconv.FormatUint(loopCount.Add(1), 10)
	}
	l := &EventLoop{}
	l.Executor.init(cfg, parent, l)
	l.io = newLoopIO(poller, cfg.ioRatio)
	return l, nil
}

// NewGroup returns a group of n event loops. Otherwise it is like NewExecutorGroup. For
// most servers, as many loops as processors (runtime.GOMAXPROCS(0)) are right; a second
// group of one loop, for the listeners, corresponds to Netty's boss group.
func NewGroup(n int, opts ...Option) (*Group, error) {
	cfg, err := newSharedConfig("NewGroup", "executor", opts)
	if err != nil {
		return nil, err
	}
	return newGroup("NewGroup", n, func(g *Group, i int) (*Executor, error) {
		child := cfg
		if cfg.name != "" {
			child.name = fmt.Sprintf("%s-%d", cfg.name, i)
		}
		l, err := newEventLoop("NewGroup", child, g)
		if err != nil {
			return nil, err
		}
		return &l.Executor, nil
	})
}

// WithSpin sets for how long a loop that has run out of work polls for more before it
// parks. Work that arrives during the spin costs no park, and its wake-up only sets a flag;
// but the spin costs processor time. If spins find no work, the loop spins less and less
// often. d is at most 10 ms; 0 turns spinning off; the default is DefaultSpin.
func WithSpin(d time.Duration) Option {
	return func(c *config) error {
		if d < 0 || d > maxSpin {
			return argumentError("WithSpin", "d is %v, want 0 to %v", d, maxSpin)
		}
		c.spin = d
		return nil
	}
}

// DefaultSpin, 50 µs, is for how long a loop spins before it parks, unless WithSpin sets another time.
// A shorter spin would often end before a fast peer has answered.
const DefaultSpin = 50 * time.Microsecond

const maxSpin = 10 * time.Millisecond

// WithBlockingEpoll makes the loop block its thread in epoll_wait, woken by a write to an
// eventfd, instead of parking its goroutine in Go's network poller. Each wake-up then costs a
// system call and a switch of threads. The option is for a process whose processors are all
// busy with computation: there the runtime polls the network only every 10 ms, and a thread
// that blocks in epoll_wait usually gets readiness earlier. Measure before you use it. The
// option has no effect on an Executor.
func WithBlockingEpoll() Option {
	return func(c *config) error {
		c.blocking = true
		return nil
	}
}

var loopCount atomic.Uint64
