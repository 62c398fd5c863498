package tracked

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"eventide/core"

	"github.com/petermattis/goid"
)

// ErrLimit is the reason of a refusal by TryGo when as many functions run as SetLimit allows.
var ErrLimit = errors.New("tracked: as many functions run as the limit allows")

// Group is a number of goroutines that end together. The zero Group is ready for use, has no
// limit, and logs to slog.Default; NewGroup takes options. A Group must not be copied. All
// methods may be called from many goroutines at once and from inside its functions, but
// where a method says that it waits.
type Group struct {
	// Set once: by NewGroup, or else by the first use.
	once  sync.Once
	cfg   config
	term  *core.Termination
	end   func(core.Report, error) bool
	ctx   context.Context // of the functions: ends at the close
	begun context.Context // ShutdownContext

	closeContext, beginContext context.CancelCauseFunc

	mu sync.Mutex
	shared
}

// shared is guarded by Group.mu.
type shared struct {
	state     core.State // never Terminated: see Group.State
	limit     int        // functions that may run at once; below 0: any number
	limited   bool       // limit was set
	running   map[*function]struct{}
	waiting   []*waiter // calls of Go that the limit holds up, in their order
	firstErr  error
	firstFrom string // the name of the function that returned firstErr
	counts    counts
	shutdown  shutdown
}

// counts are the figures of the report.
type counts struct{ accepted, ran, rejected, panicked int64 }

// function is one that was accepted.
type function struct {
	name      string
	began     time.Time
	goroutine int64 // 0 until it runs
}

// waiter is a call of Go that the limit holds up. over is closed when its function is
// accepted or refused; then the rest is final.
type waiter struct {
	f       *function
	over    chan struct{}
	refused error
}

// NewGroup returns a group. Nil options are ignored.
func NewGroup(opts ...Option) *Group {
	g := &Group{}
	for _, o := range opts {
		if o != nil {
			o(&g.cfg)
		}
	}
	g.init()
	return g
}

func (g *Group) init() {
	g.once.Do(func() {
		parent := g.cfg.ctx
		if parent == nil {
			parent = context.Background()
		}
		// The end of the parent does not end the contexts: accepted work is not cut by
		// what merely asks for the end. See WithContext.
		parent = context.WithoutCancel(parent)
		g.ctx, g.closeContext = context.WithCancelCause(parent)
		g.begun, g.beginContext = context.WithCancelCause(parent)
		g.running = map[*function]struct{}{}
		if !g.limited {
			g.limit = -1
		}
		// Neither argument is nil, so there is no error.
		g.term, g.end, _ = core.NewTermination(g.waitError, g.progress)
	})
}

// waitError says why the caller must not wait for the group: it is one of its functions,
// and would wait for itself (G18).
func (g *Group) waitError() error {
	caller := goid.Get()
	g.mu.Lock()
	defer g.mu.Unlock()
	for f := range g.running {
		if f.goroutine == caller {
			return core.ErrInEventLoop
		}
	}
	return nil
}

// Go runs f in a goroutine of its own. If as many functions run as the limit allows, it
// waits for one of them to return, in the order of the calls; a function that makes such a
// call may wait for itself, as with errgroup.
//
// The error is nil if and only if f runs (G3). Otherwise it is a *core.RejectedError, or is
// about a nil f. ctx ends when the group closes, with core.ErrShutdown or
// core.ErrShutdownTimeout as its cause. The name is for people: it may be used several times.
func (g *Group) Go(name string, f func(ctx context.Context) error) error {
	return g.admit("Go", name, f, true)
}

// TryGo is Go, but never waits: the limit is a refusal with the reason ErrLimit.
func (g *Group) TryGo(name string, f func(ctx context.Context) error) error {
	return g.admit("TryGo", name, f, false)
}

// Execute is Go for a function that neither fails nor hears of the end, so that a Group can
// stand where a core.Executor does.
func (g *Group) Execute(f func()) error {
	if f == nil {
		return nilFunc("Execute")
	}
	return g.admit("Execute", "", func(context.Context) error { f(); return nil }, true)
}

func nilFunc(call string) error {
	return fmt.Errorf("tracked: %s: f is nil, want a function", call)
}

func (g *Group) admit(call, name string, f func(context.Context) error, wait bool) error {
	if f == nil {
		return nilFunc(call)
	}
	g.init()
	one := &function{name: name}
	g.mu.Lock()
	err := g.refusal()
	switch {
	case err != nil:
	case g.hasRoom():
		g.accept(one)
	case !wait:
		err = g.refuse(ErrLimit)
	default:
		w := &waiter{f: one, over: make(chan struct{})}
		g.waiting = append(g.waiting, w)
		g.mu.Unlock()
		<-w.over
		if w.refused != nil {
			return w.refused
		}
		go g.run(one, f)
		return nil
	}
	g.mu.Unlock()
	if err == nil {
		go g.run(one, f)
	}
	return err
}

// SetLimit sets how many functions may run at once; below 0 it is any number, and with 0 none
// begins. Unlike errgroup's it may be called at any time: a lower limit holds for functions
// that have not begun.
func (g *Group) SetLimit(n int) {
	g.init()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.limit, g.limited = n, true
	g.acceptWaiting()
}

// ShutdownContext returns the context that ends when the shutdown begins, with
// core.ErrShutdown as its cause: a loop that waits for more work ends by it. It has the
// values of WithContext's.
func (g *Group) ShutdownContext() context.Context {
	g.init()
	return g.begun
}

// Err returns the first error that a function returned, or what a panic or Goexit made of
// one, with the name of the function; nil while there is none. It is Termination().Err after
// the end.
func (g *Group) Err() error {
	g.init()
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.failure()
}

// failure requires mu.
func (s *shared) failure() error {
	if s.firstErr == nil || s.firstFrom == "" {
		return s.firstErr
	}
	return fmt.Errorf("tracked: %s: %w", s.firstFrom, s.firstErr)
}

// Option changes how a group behaves.
type Option func(*config)

// config is set once.
type config struct {
	name    string
	ctx     context.Context
	logger  *slog.Logger
	onError func(name string, err error)
}

// WithName names the group in logs and reports.
func WithName(name string) Option { return func(c *config) { c.name = name } }

// WithContext makes the contexts of the functions carry the values of ctx. Its end does not
// end them: call Shutdown or ShutdownGracefully, for example by context.AfterFunc. nil means
// context.Background.
func WithContext(ctx context.Context) Option { return func(c *config) { c.ctx = ctx } }

// WithLogger sets where failures of functions are logged that no WithErrorHandler gets: each
// error, panic and Goexit, at level Error. nil means slog.Default.
func WithLogger(logger *slog.Logger) Option { return func(c *config) { c.logger = logger } }

// WithErrorHandler makes handle get each error of a function, with its name, in place of the
// log. handle runs on the function's goroutine, before the function counts as returned; it
// may begin the shutdown, which makes a group one of errgroup's kind. A panic is a
// *core.PanicError, a runtime.Goexit is core.ErrGoexit. nil means the log.
func WithErrorHandler(handle func(name string, err error)) Option {
	return func(c *config) { c.onError = handle }
}
