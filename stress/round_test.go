package stress

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"eventide/core"
)

// producers is how many goroutines offer tasks at full speed.
const producers = 64

// subject is what a round puts under load.
type subject interface {
	core.EventExecutor
	AddShutdownHook(hook func()) (remove func() bool, err error)
}

// round is one executor, from New to rest.
type round struct {
	plan         plan
	ex           subject
	waitsForIdle bool // it ends when producers pause
	ready        sync.WaitGroup
	loaded       sync.Once
	underLoad    chan struct{} // the first producer has made its plan.load attempts
	calling      atomic.Bool
	called       atomic.Bool
	witnessed    chan struct{} // the witness has made its attempt

	producers []producer
	witness   producer // makes one attempt, after the call
	gate      producer // submits the task that keeps the loop busy during the call
	observer  observer
	extras    extras
	bodies    bodies

	removed, cancelled bool // answers of the calls that race with the end
}

// newRound makes the executor with newSubject and adds its hooks and timers.
func newRound(p plan, newSubject func(...core.Option) (subject, error)) (*round, error) {
	r := &round{
		plan: p, waitsForIdle: p.kind == quietPeriod || p.kind == drained,
		underLoad: make(chan struct{}), witnessed: make(chan struct{}), producers: make([]producer, producers),
	}
	ex, err := newSubject(p.options(r.witnessed)...)
	if err != nil {
		return nil, err
	}
	r.ex = ex
	if p.extras {
		return r, r.addExtras()
	}
	return r, nil
}

// run runs the round and returns its books, or an error if it never ended.
func (r *round) run() (books, error) {
	var running sync.WaitGroup
	r.ready.Add(producers)
	for i := range r.producers {
		running.Go(func() { r.producers[i].run(r) })
	}
	running.Go(func() { r.observer.run(r.ex) })
	<-r.underLoad
	if err := r.shutDown(); err != nil {
		r.ex.Shutdown() // or the producers go on
		return books{}, err
	}
	if r.plan.extras {
		r.removed, r.cancelled = r.extras.remove(), r.extras.cancel.Cancel()
	}
	if !ended(r.ex) {
		return books{}, fmt.Errorf("G15: the executor never terminated; stats %+v", r.ex.Stats())
	}
	report, bodies := r.ex.Termination().Report(), r.bodies.total
	running.Wait()
	return r.balance(report, bodies), nil
}

// shutDown makes the call while a task keeps the loop busy, and has the witness
// offer a task after the call has returned and before that task ends. So a
// graceful shutdown cannot have closed admission: the witness must be accepted.
func (r *round) shutDown() error {
	result := make(chan error, 1)
	call := func() {
		r.calling.Store(true)
		err := r.plan.kind.call(r.ex)
		r.called.Store(true)
		result <- err
	}
	r.gate.offerAnd(r, func() {
		if r.plan.inside {
			call()
		}
		<-r.witnessed
	})
	defer close(r.witnessed)
	if r.gate.refused > 0 {
		return errors.New("G5: a task was refused before any shutdown call")
	}
	if !r.plan.inside {
		call()
	}
	select {
	case err := <-result:
		r.witness.offer(r)
		return err
	case <-time.After(hangGuard):
		return errors.New("G3: a task that was accepted before any shutdown call never ran")
	}
}

// newExecutor makes the subject that the tests are about.
func newExecutor(opts ...core.Option) (subject, error) { return core.NewExecutor(opts...) }
