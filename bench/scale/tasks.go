package scale

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"eventide/bench"
)

// tasks measures how many tasks per second so many producers submit to so many executors
// and these run. The producers are divided among the executors.
type tasks struct {
	loops, producers, perSlice int
	open                       func() (bench.Executor, error)
}

// run is one slice, on new executors.
func (t tasks) run() (perSecond float64, err error) {
	all := make([]bench.Executor, t.loops)
	for i := range all {
		if all[i], err = t.open(); err != nil {
			return 0, errors.Join(err, closeAll(all[:i]))
		}
	}
	defer func() { err = errors.Join(err, closeAll(all)) }()
	// The first slice is not counted: it starts goroutines and grows queues.
	if _, err := t.slice(all, t.perSlice/4); err != nil {
		return 0, err
	}
	return t.slice(all, t.perSlice)
}

func (t tasks) slice(all []bench.Executor, n int) (perSecond float64, err error) {
	var each sync.WaitGroup
	slices, errs := make([]bench.Slice, len(all)), make([]error, len(all))
	began := time.Now()
	for i, x := range all {
		producers := t.producers / t.loops
		if i < t.producers%t.loops {
			producers++
		}
		if producers == 0 {
			continue
		}
		each.Go(func() { slices[i], errs[i] = bench.Execute(x, producers, n*producers/t.producers) })
	}
	each.Wait()
	took, ops := time.Since(began), 0
	for _, s := range slices {
		ops += s.Ops
	}
	return float64(ops) / took.Seconds(), errors.Join(errs...)
}

func closeAll(all []bench.Executor) error {
	var errs []error
	for _, x := range all {
		errs = append(errs, x.Close())
	}
	return errors.Join(errs...)
}

// name is that of the curve that a tasks belongs to.
func (t tasks) name(impl string) string {
	return fmt.Sprintf("tasks/impl=%s/loops=%d", impl, t.loops)
}
