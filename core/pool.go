package core

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"

	"eventide/core/internal/tasks"

	"github.com/petermattis/goid"
)

// Pool runs bodies on up to n goroutines, its workers, which share one queue: a task that blocks
// does not delay other tasks while another worker is free. Like an Executor, a Pool ends without
// losing a task.
//
//	pool, err := core.NewPool(8)
//	if err != nil {
//		return err
//	}
//	for _, file := range files {
//		if err := pool.Execute(func() { compress(file) }); err != nil {
//			return err // not accepted: it will never run
//		}
//	}
//	return pool.Close() // everything accepted has run
//
// A Pool implements EventExecutor. All its methods may be called from many goroutines at
// once, and from inside its bodies. Submit, InvokeAll, InvokeAny, NewPromise and Current
// take a Pool like any executor.
//
// # Guarantees
//
// Bodies of a Pool may overlap. So a Pool does not keep G2, and keeps only the parts of G4 and
// G7 below. A Pool of size 1 that is not resized keeps every guarantee of an Executor.
//
//	G1        kept
//	G2        not kept: bodies overlap. InEventLoop is true on the goroutines of the workers,
//	          and false elsewhere
//	G3        kept
//	G4        tasks leave the queue in the order of G4; two tasks that two workers have
//	          taken may begin in either order
//	G5        kept
//	G6        kept: hooks run one at a time, in order, once every task that was accepted
//	          before the shutdown call has ended
//	G7        never early; due timers leave the heap in the order of G7, and may then overlap
//	G8, G9    kept
//	G10       kept, for the pool as a whole
//	G11       kept; Report.Running names each running body, with its running time and stack
//	G12       kept, for each worker
//	G13       kept: a ready hook goes first. After a task a worker prefers a listener or due
//	          timer, and after any other body a task. Between two rounds of hooks a queued
//	          task runs
//	G14       kept: a worker continues after a panic, and on a new goroutine after Goexit
//	G15, G16  kept
//	G17       kept: the first use starts the first worker. Another worker starts when work
//	          waits and no worker is idle. If the spawner refuses to start it, no task is
//	          refused
//	G18       kept: a body that waits for its own pool gets ErrInEventLoop, even if another
//	          worker is free: if every worker ran a body that waits, all these bodies would
//	          wait for ever
//	G19, G20  kept, with one bound and one count for the whole pool
//	G21-G23   do not apply: a pool has no children, and so no Next, and no channels
//	G24       kept
//
// # Where bodies run
//
// Tasks, timers, hooks, listeners of futures and the panic handler all run on workers. Each
// worker has its own values of a Local. Listeners of the Termination run on the goroutine
// of the last worker. A body that never returns occupies its worker for ever, and Done is never
// closed. Context is cancelled when admission closes: bodies can watch it to return in time.
// Report and Running name the bodies that still run.
//
// An idle worker costs its goroutine and does not poll. Of the idle workers the one that parked
// last is woken first. A woken worker that leaves work in the queue wakes the next one.
//
// Make one with NewPool: the zero Pool is not usable.
type Pool struct {
	setup

	// Atomic.
	state     atomic.Int32 // moved with mu held
	lastState atomic.Int32 // the state before Terminated
	failed    atomic.Bool  // the clock or the source of jitter has panicked; workers call neither any more
	ctxEnded  sync.Once

	owners sync.Map // goroutine id -> *worker

	_ [64]byte // keeps the fields above off the cache line of mu, which every call writes

	mu sync.Mutex
	poolShared
}

// poolShared is guarded by Pool.mu. Its methods require mu.
type poolShared struct {
	gate     gate
	size     int   // the largest number of workers
	live     int   // workers that exist, including those about to start
	leaving  int   // workers that run no more bodies, and whose goroutine has not ended
	starting int   // live workers that have not called next yet
	busy     int   // workers that run a body
	bodies   int64 // bodies that have begun
	meters   []*Meter
	first    *launch   // the start of the first worker, while it is in progress
	launches []*launch // in progress: starts of workers, and moves to another goroutine
	over     bool      // no work is left: workers end
	workers  []*worker // live and started

	sleepers
	queue    tasks.Shared
	watch    backlogWatch
	internal internalQueue
	heap     timerHeap
	timers   timerCounts
	doomed   []*Timer // removed from the heap by the shutdown, not cancelled yet
	purged   int64    // horizon up to which the heap has been purged
	hooks    hookList
	hookRuns bool // a hook is running
	gaveWay  bool // a worker has taken a task since the last round of hooks

	shutdown   shutdownRecord
	earlyTasks int   // tasks accepted before the shutdown call that have not ended
	lastEnd    int64 // when the last body that restarts the quiet period ended
	failure    error // errors of the clock and of the source of jitter
	unclosed   error // errors of closing workers' pollers

	parks, wakes           int64
	panicked               int64
	rejected, rejectedLate int64
}

// NewPool returns a pool of at most size workers, none of them started. size < 1 is an error, and
// so is WithPoller: a poller serves one goroutine. The options are those of NewExecutor;
// WithMaxPendingTasks bounds the one queue that all workers share.
func NewPool(size int, opts ...Option) (*Pool, error) {
	cfg, err := newSharedConfig("NewPool", "goroutine", opts)
	if err != nil {
		return nil, err
	}
	if err := checkSize("NewPool", size); err != nil {
		return nil, err
	}
	p := &Pool{}
	p.cfg, p.self, p.timerOwner = cfg, p, p
	p.gate, p.size = gateNotStarted, size
	if p.cfg.name == "" {
		p.cfg.name = "pool-" + strconv.FormatUint(poolCount.Add(1), 10)
	}
	if cfg.tracer != nil {
		p.gate |= gateTraced
	}
	p.initLife()
	p.term = newTermination(p.waitError, p.progressReport)
	p.term.onPanic = p.reportOffLoop
	p.timers.horizon, p.purged, p.timekeeperUntil = noDeadline, noDeadline, noDeadline
	return p, nil
}

var poolCount atomic.Uint64

func checkSize(call string, size int) error {
	if size < 1 {
		return argumentError(call, "size is %d, want at least 1", size)
	}
	return nil
}

// Resize sets the largest number of workers; it may be called at any time. If work is waiting,
// further workers start at once. Surplus idle workers end at once, and surplus busy ones after
// their current body: no body is interrupted. A size < 1 is an error, and then nothing changes.
// Resize does not wait for bodies or for workers that end; if it starts a worker, it waits for
// the spawner (WithSpawner). After termination it changes only Size.
func (p *Pool) Resize(size int) error {
	if err := checkSize("Resize", size); err != nil {
		return err
	}
	p.mu.Lock()
	p.size = size
	woken := p.claimExcess()
	p.unlockAndWake()
	for _, w := range woken {
		w.poller.Wake()
	}
	return nil
}

// Size returns the largest number of workers, as set by NewPool or the last Resize.
func (p *Pool) Size() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.size
}

// Name returns the name given by WithName, or a generated one.
func (p *Pool) Name() string { return p.cfg.name }

// String returns the name and the state, for logs.
func (p *Pool) String() string { return p.cfg.name + " (" + p.State().String() + ")" }

// InEventLoop reports whether the caller runs on the goroutine of a worker of this pool: in a
// body, or in code of the user that the worker calls.
func (p *Pool) InEventLoop() bool { return p.callingWorker() != nil }

// callingWorker returns the worker on whose goroutine the caller runs, or nil if it runs on no
// worker of p.
func (p *Pool) callingWorker() *worker {
	if v, ok := p.owners.Load(goid.Get()); ok {
		return v.(*worker)
	}
	return nil
}

// Context returns a context that is cancelled when admission closes. Accepted tasks may still
// run after that. Its cause is ErrShutdown, ErrShutdownTimeout or the error that ended the pool
// (G11).
func (p *Pool) Context() context.Context { return p.ctx }

// Termination returns the Termination of this pool, always the same pointer (G15).
func (p *Pool) Termination() *Termination { return p.term }

// loopOf is promoted to types that embed a pool: see Executor.loopOf.
func (p *Pool) loopOf() notifier { return p }

// waitError returns ErrInEventLoop if the caller is a body of the pool (G18), ErrStarting if it is
// the pool's spawner (G17), and otherwise nil: see Executor.waitError.
func (p *Pool) waitError() error {
	if p.InEventLoop() {
		return ErrInEventLoop
	}
	caller := goid.Get()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.launches {
		if l.calledBy(caller) {
			return ErrStarting
		}
	}
	return nil
}

func (p *Pool) lock() {
	if !p.mu.TryLock() {
		lockContended(&p.mu)
	}
}

func (p *Pool) mutex() *sync.Mutex { return &p.mu }

// Execute runs task on a worker. A nil error means that task runs exactly once before Done is
// closed; an error means that it never runs (G3). Execute does not wait for a worker to run it.
// The first use calls the spawner, or waits for it if another call has called it. Any later call
// holds one lock briefly; if the call starts another worker, it also calls the spawner. While the
// queue is full, a WithRejectedHandler may make Execute retry.
func (p *Pool) Execute(task func()) error {
	if task == nil {
		return nilFunc("Execute", "task")
	}
	p.lock()
	if p.gate != 0 || p.queue.Size() >= p.cfg.limit {
		p.mu.Unlock()
		return p.admit(OpExecute, task)
	}
	p.queue.Push(task)
	n := p.queue.Size()
	late := checksAt(n) && p.watch.mustYield(n, p.queue.Begun())
	p.unlockAndWake()
	if late && !p.InEventLoop() {
		p.watch.yield(&p.mu)
	}
	return nil
}

// ExecuteLazy is Execute, but wakes or starts a worker only if the pool is not started or the
// task fills a bounded queue. Otherwise the task runs at the latest after the next wake-up, timer,
// end of a body, end of a quiet period, or shutdown call (G12). The first task starts a worker, which
// may sleep before the task is queued.
func (p *Pool) ExecuteLazy(task func()) error {
	if task == nil {
		return nilFunc("ExecuteLazy", "task")
	}
	return p.admit(OpExecuteLazy, task)
}

// TryExecute is Execute without the WithRejectedHandler: when the queue is full it fails at once,
// with an error that matches ErrQueueFull (G3, G19).
func (p *Pool) TryExecute(task func()) error {
	if task == nil {
		return nilFunc("TryExecute", "task")
	}
	if err := p.tryAdmit(OpExecute, task); err != nil {
		return p.refuse(OpExecute, err)
	}
	return nil
}
