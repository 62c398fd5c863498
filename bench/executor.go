package bench

import (
	"runtime"
	"slices"
	"time"

	"eventide/core"
)

// An Executor has the methods that all implementations have in common.
type Executor interface {
	// Execute hands task to the one goroutine that runs tasks, in order. It may
	// be called from many goroutines at once, and from a task, but not after Close.
	Execute(task func()) error

	// Close returns when all accepted tasks have run.
	Close() error
}

// bound is the queue bound of impl=core-bounded.
const bound = 1 << 20

// NewCore returns an executor of package core without options.
func NewCore() (Executor, error) { return newCore() }

// NewCoreBounded returns one with a bounded queue. A producer that finds it full
// yields and tries again.
func NewCoreBounded() (Executor, error) {
	return newCore(
		core.WithMaxPendingTasks(bound),
		core.WithRejectedHandler(func(int, *core.RejectedError) (time.Duration, bool) { return 0, true }),
	)
}

// newCore does not return a nil *core.Executor inside an Executor.
func newCore(opts ...core.Option) (Executor, error) {
	ex, err := core.NewExecutor(opts...)
	if err != nil {
		return nil, err
	}
	return ex, nil
}

// An implementation is an executor with the name it has in benchmarks.
type implementation struct {
	impl string
	open func() (Executor, error)
}

// executors are the implementations that run tasks and do no I/O.
var executors = []implementation{
	{"core", NewCore},
	{"core-bounded", NewCoreBounded},
	{"channel", NewChannel},
	{"mutex", NewMutex},
}

// An Opener opens executors of the implementation that has the name in benchmarks.
type Opener struct {
	Impl string
	Open func() (Executor, error)
}

// Throughput returns the implementations whose throughput is compared on many processors.
func Throughput() []Opener {
	var all []Opener
	for _, x := range withLoops() {
		if x.impl == "core" || x.impl == "loop" || x.impl == "channel" {
			all = append(all, Opener{x.impl, x.open})
		}
	}
	return all
}

// withBare are all implementations, and a queue without a lock and without guarantees.
func withBare() []implementation {
	return append(withLoops(), implementation{"bare", NewBare})
}

// withLoops are the executors, and the event loops where there are any.
func withLoops() []implementation { return slices.Concat(executors, loops) }

// settleYields lets a goroutine that has nothing to do fall asleep.
const settleYields = 32

func settle() {
	for range settleYields {
		runtime.Gosched()
	}
}
