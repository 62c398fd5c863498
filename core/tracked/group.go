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

// ErrLimit is the reason of a refusal by TryGo when the number of running functions has
// reached the limit of SetLimit.
var ErrLimit = errors.New("tracked: the limit of running functions is reached")

// Group is a set of goroutines that shut down together. The zero Group is ready for use,
// has no limit, and logs to slog.Default(); NewGroup takes options. A Group must not be
// copied. All methods may be called from any goroutine. A function of the group may call
// every method except Go at the limit, which then may wait for the caller itself.
type Group struct {
	// Set once: by NewGroup, or else by the first use.
	once  sync.Once
	cfg   config
	term  *core.Termination
	end   func(core.Report, error) bool
	ctx   context.Context // context of the functions: ends at the close
	begun context.Context // ShutdownContext

	closeContext, beginContext context.CancelCauseFunc

	mu sync.Mutex
	shared
}

// shared is guarded by Group.mu.
type shared struct {
	state     core.State // never Terminated: see Group.State
	limit     int        // functions that may run at once; below 0: any number
	running   map[*function]struct{}
	waiting   []*waiter // calls of Go that wait for the limit, in order
	firstErr  error
	firstFrom string // the name of the function that returned firstErr
	counts    counts
	shutdown  shutdown
}

// counts are the counters of the report.
type counts struct{ accepted, ran, rejected, panicked int64 }

// function is an accepted function.
type function struct {
	name      string
	began     time.Time
	goroutine int64 // 0 until it runs
}

// waiter is a call of Go that waits for the limit. over is closed when its function is
// accepted or refused; from then on refused does not change.
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
		// The end of the parent must not end these contexts: it must not interrupt
		// accepted work. See WithContext.
		parent = context.WithoutCancel(parent)
		g.ctx, g.closeContext = context.WithCancelCause(parent)
		g.begun, g.beginContext = context.WithCancelCause(parent)
		g.running = map[*function]struct{}{}
		g.limit = -1
		// Neither argument is nil, so there is no error.
		g.term, g.end, _ = core.NewTermination(g.waitError, g.progress)
	})
}

// waitError returns an error if the caller must not wait for the group, because it is one
// of its functions and would wait for itself (G18).
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

// Go runs f in its own goroutine. At the limit Go waits until a running function returns;
// waiting calls are served in order. A function of the group that calls Go at the limit
// may wait for itself, as with errgroup.
//
// The error is nil if and only if f runs (G3). Otherwise it is a *core.RejectedError, or
// f was nil. The context of f ends when the group closes, with core.ErrShutdown or
// core.ErrShutdownTimeout as its cause. The name is for reports and logs, and need not be
// unique.
func (g *Group) Go(name string, f func(ctx context.Context) error) error {
	return g.admit("Go", name, f, true)
}

// TryGo is like Go but never waits: at the limit it is refused with the reason ErrLimit.
func (g *Group) TryGo(name string, f func(ctx context.Context) error) error {
	return g.admit("TryGo", name, f, false)
}

// Execute is like Go for a function without an error and a context. It has the signature
// of core.Executor.Execute.
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
	case g.belowLimit():
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

// SetLimit sets how many functions may run at once. A negative n means no limit; with 0
// no further function begins. Unlike errgroup's SetLimit, it may be called while
// functions run: they continue, and a lower limit applies to functions that have not
// begun.
func (g *Group) SetLimit(n int) {
	g.init()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.limit = n
	g.acceptWaiting()
}

// ShutdownContext returns a context that ends when the shutdown begins, with
// core.ErrShutdown as its cause: a loop that waits for more work should then return. The
// context has the values of the context given to WithContext.
func (g *Group) ShutdownContext() context.Context {
	g.init()
	return g.begun
}

// Err returns the first error of a function, with its name, or nil. A panic counts as a
// *core.PanicError, a Goexit as core.ErrGoexit. After the end, Termination().Err returns
// the same error. The Error method of a function's error may use the group.
func (g *Group) Err() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.failure()
}

// failure calls no user code, such as the Error method of firstErr. Requires mu.
func (s *shared) failure() error {
	if s.firstErr == nil || s.firstFrom == "" {
		return s.firstErr
	}
	return &functionError{s.firstFrom, s.firstErr}
}

// functionError is the error of a function with a name. It is formatted when it is read.
type functionError struct {
	name string
	err  error
}

func (e *functionError) Error() string { return fmt.Sprintf("tracked: %s: %v", e.name, e.err) }

func (e *functionError) Unwrap() error { return e.err }

// Option configures a group.
type Option func(*config)

// config is set once.
type config struct {
	name    string
	ctx     context.Context
	logger  *slog.Logger
	onError func(name string, err error)
}

// WithName names the group in logs.
func WithName(name string) Option { return func(c *config) { c.name = name } }

// WithContext gives the contexts of the functions the values of ctx. The end of ctx does
// not end these contexts: to shut down when ctx ends, call Shutdown or
// ShutdownGracefully, for example with context.AfterFunc. nil means context.Background().
func WithContext(ctx context.Context) Option { return func(c *config) { c.ctx = ctx } }

// WithLogger sets the logger. It receives errors, panics and Goexits of functions at
// level Error, unless WithErrorHandler is given, and a warning if the timeout passes
// while functions run. nil means slog.Default(). A panic of the logger is ignored.
func WithLogger(logger *slog.Logger) Option { return func(c *config) { c.logger = logger } }

// WithErrorHandler passes each error of a function, with the name of the function, to
// handle instead of the logger. A panic is passed as a *core.PanicError, a Goexit as
// core.ErrGoexit. handle runs on the function's goroutine, before the function counts as
// returned. It may begin the shutdown, so that the group ends with the first error, as an
// errgroup does. nil means the logger.
func WithErrorHandler(handle func(name string, err error)) Option {
	return func(c *config) { c.onError = handle }
}
