package core

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"eventide/core/internal/tasks"

	"github.com/petermattis/goid"
)

// Executor is a single-goroutine executor without I/O: the portable one. Its
// methods are those of EventExecutor, and AddShutdownHook and
// ExecuteAfterIteration. All of them may be called from many goroutines at once.
//
// Its fields are grouped by who may touch them. One mutex deliberately makes "closed",
// "accepted" and "asleep" one decision: the close and an enqueue, or the last look at the
// queue and falling asleep, are one step. The loop's goroutine alone knows what runs and
// what is due.
type Executor struct {
	setup

	// Atomic.
	state     atomic.Int32 // moved with mu held
	lastState atomic.Int32 // before Terminated
	owner     atomic.Int64 // id of the loop's goroutine; 0: none
	body      atomic.Int32 // Body that runs now, tasks excepted: they have progress
	ctxEnded  sync.Once    // the parent has been notified of it
	news      atomic.Bool  // pollOrSleep has to drain the inbox; written with mu held
	stopBatch atomic.Bool  // an internal task waits, or a shutdown was called: the batch stops for it; likewise

	_ [64]byte // producers write below, readers of the state above

	mu sync.Mutex
	shared

	_ [64]byte

	turn
}

// setup is what New sets, once.
type setup struct {
	self    EventExecutor // what Current reports
	parent  *Group
	cfg     config
	poller  Poller
	epoch   time.Time
	term    *Termination
	ctx     context.Context
	cancel  context.CancelCauseFunc
	io      *loopIO // of an EventLoop; nil in an Executor
	hasRoom int     // below this many queued tasks a bounded queue need not be counted
}

// shared is what callers and the loop share, guarded by Executor.mu. Its methods require
// mu. The loop-only parts of the queues are the exception: see tasks.Queue.
type shared struct {
	gate          gate
	asleep        bool // the loop waits, or is about to, and nobody has woken it
	queued        int  // tasks in the segments of both queues
	tasks         tasks.Queue
	tails         tasks.Queue
	internalTasks []func() // listeners to be called, and other work of our own
	hooks         hookList
	timers        timerInbox
	shutdown      shutdownRecord
	starting      *launch // the first start, while it is in progress
	moving        *launch // a hand-over, while it is in progress
	parks         int64
	wakes         int64
	panicked      int64

	rejected     int64 // calls refused before Done
	rejectedLate int64 // calls refused after it
}

// counts returns the counts of both queues, as of one instant.
func (s *shared) counts() tasks.Counts { return s.tasks.Counts().Plus(s.tails.Counts()) }

// turn is what the loop's goroutine alone touches. Its methods are called only there.
type turn struct {
	heap          timerHeap
	internalBatch []func() // internal tasks of this turn
	internalPos   int
	step          turnStep // of this turn
	upTo          int64    // this step begins the tasks of its queue up to this number
	timersLeft    int      // this step begins as many
	current       currentBody
	panics        []*PanicError // recovered, not yet reported
	seen          State         // as of the last pollOrSleep
	purged        int64         // horizon up to which the heap has been purged
	finished      bool
	broken        error // why the poller is not used any more
	lastEnd       int64 // end of the last body, as far as the quiet period needs it
	locals        map[any]any
}

// hasInternal reports whether an internal task of this turn has not begun.
func (t *turn) hasInternal() bool { return t.internalPos < len(t.internalBatch) }

// release drops all that a loop which has ended still holds.
func (t *turn) release() {
	t.locals, t.internalBatch, t.panics, t.heap = nil, nil, nil, timerHeap{}
}

// keptCapacity is the largest capacity of an emptied slice that is kept for reuse. A
// larger one is the memory of a burst, and goes back to the garbage collector (G24).
const keptCapacity = 256

// gate is what Execute has to look at besides the queue. Zero is the common
// case: started, open, untraced.
type gate uint8

const (
	gateNotStarted gate = 1 << iota
	gateClosed
	gateTraced
)

// NewExecutor returns an executor that has no goroutine yet: the first accepted
// call, or a shutdown call, starts it. An error is about an option, or says that the
// process has no descriptors for its first timer, without which Go's runtime ends it. The
// first constructor cannot tell whether that timer was set before: it needs two free
// descriptors in any case.
func NewExecutor(opts ...Option) (*Executor, error) {
	cfg, err := newConfig("NewExecutor", opts)
	if err != nil {
		return nil, err
	}
	return newExecutor(cfg, nil), nil
}

func newExecutor(cfg config, parent *Group) *Executor {
	e := &Executor{}
	e.init(cfg, parent, e)
	return e
}

// init makes e what New returns. self is e, or what embeds it.
func (e *Executor) init(cfg config, parent *Group, self EventExecutor) {
	e.cfg, e.parent, e.self = cfg, parent, self
	e.poller, e.gate = cfg.poller, gateNotStarted
	if e.cfg.name == "" {
		e.cfg.name = fmt.Sprintf("executor-%d", executorCount.Add(1))
	}
	if e.poller == nil {
		e.poller = newChanPoller(cfg.clock)
	}
	e.hasRoom = cfg.limit
	if cfg.limit != unbounded {
		// The two batches in hand can hold this many that are not in queued.
		e.hasRoom = cfg.limit - 2*tasks.SegmentSize
	}
	if cfg.tracer != nil {
		e.gate |= gateTraced
	}
	e.epoch = time.Now()
	if cfg.clock != nil {
		e.epoch = cfg.clock.Now()
	}
	e.ctx, e.cancel = context.WithCancelCause(context.Background())
	e.term = newTermination(e.waitError, e.progressReport)
	e.term.onPanic = e.reportOffLoop
	e.timers.horizon, e.purged = noDeadline, noDeadline
}

var executorCount atomic.Uint64

// Name returns the name given by WithName, or one made up.
func (e *Executor) Name() string { return e.cfg.name }

// String returns the name and the state, for logs.
func (e *Executor) String() string { return fmt.Sprintf("%s (%v)", e.cfg.name, e.State()) }

// Parent returns the group this executor is a child of, or nil.
func (e *Executor) Parent() *Group { return e.parent }

// InEventLoop reports whether the caller is a body of this executor (G2).
func (e *Executor) InEventLoop() bool {
	owner := e.owner.Load()
	return owner != 0 && owner == goid.Get()
}

// Context returns a context that is cancelled at the close, before the final
// drain, with ErrShutdown, ErrShutdownTimeout or the loop's error as its cause
// (G11). It does not start the loop.
func (e *Executor) Context() context.Context { return e.ctx }

// Termination returns the one Termination of this executor, the same pointer
// every time (G15). It does not start the loop.
func (e *Executor) Termination() *Termination { return e.term }
