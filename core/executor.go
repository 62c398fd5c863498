package core

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"eventide/core/internal/tasks"

	"github.com/petermattis/goid"
)

// Executor is a single-goroutine executor without I/O, for all systems. It has the
// methods of EventExecutor, and others such as AddShutdownHook. All of them may be called
// from any goroutine. Make one with NewExecutor: the zero Executor is not usable.
//
// Its fields are grouped by the goroutines that may access them. One mutex guards
// admission, the queues and the announcement of a sleep, on purpose: no task can be queued
// between the last check of the queue and the sleep, nor between the close of admission and the
// final drain. The heap of timers and the progress of the turn need no lock: only the loop's
// goroutine accesses them.
type Executor struct {
	setup

	// Atomic.
	state     atomic.Int32 // moved with mu held
	lastState atomic.Int32 // the state before Terminated
	owner     atomic.Int64 // id of the loop's goroutine; 0: none
	body      atomic.Int64 // the running body, see beginBody; not set for tasks: the queue knows that one is running
	ctxEnded  sync.Once    // reports the end of ctx to the parent
	news      atomic.Bool  // pollOrSleep has to drain the inbox; written with mu held
	stopBatch atomic.Bool  // the batch must stop: an internal task waits, or the state has moved; written with mu held

	// Producers write the fields below; the fields above are mostly read. The padding puts mu
	// at the beginning of a cache line. Execute writes only that line and the slot of the task, and watch at
	// the backlogs that it checks.
	// TestExecuteWritesFewCacheLines fails if a field above grows.
	_ [108]byte

	mu sync.Mutex
	shared

	_ [64]byte

	turn
}

// setup is set once, by the constructor.
type setup struct {
	self       EventExecutor // the result of Current: the executor, or the type that embeds it
	timerOwner timerOwner    // the executor or pool itself, for its timers
	parent     *Group
	cfg        config
	poller     Poller
	epoch      time.Time
	term       *Termination
	ctx        context.Context
	cancel     context.CancelCauseFunc
	onBegin    lazyContext // ShutdownContext; atomic
	io         *loopIO     // of an EventLoop; nil in an Executor
	fastLimit  int         // Execute may take its fast path while queued < fastLimit: the queue cannot be full then
}

// shared is accessed by callers and the loop, guarded by Executor.mu. Its methods require
// mu. Exceptions: only the loop accesses some parts of the queues (see tasks.Queue), and panicked is
// atomic.
type shared struct {
	gate          gate
	inSleep       bool // the loop sleeps, or is about to
	asleep        bool // inSleep, and no caller has claimed the wake-up
	queued        int  // tasks in the segments of both queues
	tasks         tasks.Queue
	watch         backlogWatch
	outside       bool // goroutines other than the loop have let the backlog grow since the last takeBatch: see gather
	tails         tasks.Queue
	internalTasks []func() // calls of listeners, and other internal work
	hooks         hookList
	timers        timerInbox
	shutdown      shutdownRecord
	starting      *launch // the first start, while it is in progress
	moving        *launch // a move to another goroutine, while it is in progress
	parks         int64
	wakes         int64
	panicked      atomic.Int64
	meters        []*Meter

	rejected     int64 // calls refused before Done
	rejectedLate int64 // calls refused after Done
}

// counts returns the sum of the counts of both queues, as of one instant.
func (s *shared) counts() tasks.Counts {
	c := s.tasks.Counts()
	c.Add(s.tails.Counts())
	return c
}

// turn is accessed only by the loop's goroutine. Its methods are called only there.
type turn struct {
	heap          timerHeap
	internalBatch []func() // internal tasks taken from the inbox; those from internalPos on have not begun
	internalPos   int
	step          turnStep // of this turn
	upTo          int64    // this step may begin tasks until Begun() of its queue equals upTo
	timersLeft    int      // how many timers this step may still begin
	current       currentBody
	panics        []*PanicError // recovered, not yet reported
	seen          State         // the state at the last pollOrSleep
	purged        int64         // the horizon at the last purge of the heap
	finished      bool
	owed          bool   // a body that is no internal task has ended since settle took what was posted
	batches       int    // taken since the last sleep that other goroutines let grow: see takeBatch
	gathers       int    // for how many steps the loop gathers before it takes the next batch
	noise         uint64 // the result of the last compute
	alone         bool   // there was one processor as the goroutine of the loop began: nobody submits while it gathers
	sleeping      bool   // has traced EventPark, and not yet EventUnpark
	broken        error  // why the loop failed; from then on the loop does not wait on the poller
	lastEnd       int64  // end of the last body; recorded only while the quiet period may depend on it (see bodiesEnded)
	locals        map[any]any
	bodies        int64 // bodies other than tasks that have begun
	probeAt       int64 // number of tasks begun at which the loop must call takeSamples; noDeadline: never
}

// hasInternal reports whether an internal task of the batch has not begun.
func (t *turn) hasInternal() bool { return t.internalPos < len(t.internalBatch) }

// release drops everything that the ended loop still refers to.
func (t *turn) release() {
	t.locals, t.internalBatch, t.panics, t.heap = nil, nil, nil, timerHeap{}
}

// keptCapacity is the largest capacity of an emptied slice that is kept for reuse. A
// larger one is left to the garbage collector, because it is the memory of a burst (G24).
const keptCapacity = 256

// gate has the conditions under which Execute takes its slow path. Zero is the common case:
// started, open, not traced.
type gate uint8

const (
	gateNotStarted gate = 1 << iota
	gateClosed
	gateTraced
)

// NewExecutor returns an executor that has no goroutine yet: the first accepted call, or
// a shutdown call, starts it. NewExecutor returns an error for a bad option, or if the
// process has no free descriptors for the network poller of Go's runtime. The loop's first
// timer would open that poller, and the runtime ends the process if it cannot open it. The
// first constructor of a process needs two free descriptors, even if that poller is open
// already.
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

// init initialises e. self is e, or the type that embeds it.
func (e *Executor) init(cfg config, parent *Group, self EventExecutor) {
	e.cfg, e.parent, e.self, e.timerOwner = cfg, parent, self, e
	e.poller, e.gate = cfg.poller, gateNotStarted
	if e.cfg.name == "" {
		e.cfg.name = "executor-" + strconv.FormatUint(executorCount.Add(1), 10)
	}
	if e.poller == nil {
		e.poller = newChanPoller(cfg.clock)
	}
	e.fastLimit = cfg.limit
	if cfg.limit != unbounded {
		// queued does not count the batches in hand: one per queue, each of at most
		// SegmentSize tasks.
		e.fastLimit = cfg.limit - 2*tasks.SegmentSize
		e.tasks.Ordered, e.tails.Ordered = true, true
	}
	if cfg.tracer != nil {
		e.gate |= gateTraced
	}
	e.initLife()
	e.term = newTermination(e.waitError, e.progressReport)
	e.term.onPanic = e.reportOffLoop
	e.timers.horizon, e.purged = noDeadline, noDeadline
	e.probeAt = noDeadline
}

var executorCount atomic.Uint64

// initLife sets the epoch and the Context of an executor.
func (s *setup) initLife() {
	s.epoch = time.Now()
	if s.cfg.clock != nil {
		s.epoch = s.cfg.clock.Now()
	}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
}

// Name returns the name given by WithName, or a generated one.
func (e *Executor) Name() string { return e.cfg.name }

// String returns the name and the state, for logs.
func (e *Executor) String() string { return e.cfg.name + " (" + e.State().String() + ")" }

// Parent returns the group of which this executor is a child, or nil.
func (e *Executor) Parent() *Group { return e.parent }

// InEventLoop reports whether the caller runs on the loop's goroutine: in a body, or in code of
// the user that the loop calls, such as a Clock or a Tracer (G2).
func (e *Executor) InEventLoop() bool {
	owner := e.owner.Load()
	return owner != 0 && owner == goid.Get()
}

// Context returns a context that is cancelled when admission closes. Accepted tasks may still
// run after that. Its cause is ErrShutdown, ErrShutdownTimeout or the error that ended the
// executor (G11). It does not start the loop.
func (e *Executor) Context() context.Context { return e.ctx }

// Termination returns the Termination of this executor, always the same pointer (G15). It
// does not start the loop.
func (e *Executor) Termination() *Termination { return e.term }
