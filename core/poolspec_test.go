package core_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// poolSpec specifies a pool, one step at a time: a queue, the running tasks, their maximum, and the
// workers, of which those without a task sleep.
type poolSpec struct {
	size, workers   int
	queue, running  []int
	accepted, ended int
	begun           int // tasks that have begun in this step
	woken           int // sleepers that the tasks of this step have woken
	closed          bool
}

// settle lets surplus workers leave that run no task, and then every task begin that may: on a worker
// that sleeps, or else on a new one.
func (s *poolSpec) settle() {
	s.begun, s.woken = 0, 0
	s.workers = max(len(s.running), min(s.workers, s.size))
	for len(s.queue) > 0 && len(s.running) < s.size {
		if s.workers > len(s.running) {
			s.woken++
		} else {
			s.workers++
		}
		s.running = append(s.running, s.queue[0])
		s.queue = s.queue[1:]
		s.begun++
	}
	if s.closed && len(s.running)+len(s.queue) == 0 {
		s.workers = 0
	}
}

// close closes the pool. The call wakes a worker, or starts one, which may have to end the pool.
func (s *poolSpec) close() {
	if !s.closed && s.workers == len(s.running) && s.workers < s.size {
		s.workers++
	}
	s.closed = true
}

// A pool beside its specification: after each step, when nothing moves any more, the same tasks run
// and the same wait, and there are as many workers (G17). A task wakes a worker that sleeps, and no
// other (G12). A meter has a value of its own for each run.
func TestPropPool(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.IntRange(0, 99), 1, 60).Draw(rt, "steps")
		size := rapid.IntRange(1, 4).Draw(rt, "size")
		checkInBubble(t, rt, func(t *testing.T) string { return runPoolSpec(t, size, steps) })
	})
}

// runPoolSpec returns a description of the first difference, or "".
func runPoolSpec(t *testing.T, size int, steps []int) (wrong string) {
	p, err := core.NewPool(size)
	coretest.Must(t, err)
	spec := &poolSpec{size: size}
	began, gates := make(chan int, 1000), map[int]chan struct{}{}
	var running []int
	meter, metered, seen := p.NewMeter(), []core.RunningBody(nil), map[core.RunningBody]bool{}
	defer func() {
		p.Shutdown()
		for _, gate := range gates {
			close(gate)
		}
		<-p.Termination().Done()
	}()
	for i, step := range steps {
		wakes := p.Stats().Wakes
		exact := step < 50 && spec.workers > 0 // the first worker may sleep before the first task is queued
		switch {
		case step < 50: // a task that blocks
			gate := make(chan struct{})
			err := p.Execute(func() { began <- i; <-gate })
			if (err == nil) == spec.closed {
				return fmt.Sprintf("step %d: Execute of a pool that is closed (%v): %v", i, spec.closed, err)
			}
			if err == nil {
				gates[i], spec.queue = gate, append(spec.queue, i)
				spec.accepted++
			}
		case step < 85 && len(spec.running) > 0: // one of those that run returns
			k := step % len(spec.running)
			task := spec.running[k]
			close(gates[task])
			delete(gates, task)
			spec.running = slices.Delete(spec.running, k, k+1)
			running = slices.DeleteFunc(running, func(n int) bool { return n == task })
			spec.ended++
		case step < 97:
			spec.size = step%4 + 1
			coretest.Must(t, p.Resize(spec.size))
		default:
			p.Shutdown()
			spec.close()
		}
		spec.settle()
		synctest.Wait()
		for len(began) > 0 {
			running = append(running, <-began)
		}
		slices.Sort(running)
		want := slices.Sorted(slices.Values(spec.running))
		if !slices.Equal(running, want) {
			return fmt.Sprintf("step %d, size %d: tasks %v run, want %v: the oldest of those that wait", i, spec.size, running, want)
		}
		s := p.Stats()
		switch {
		case int(s.Accepted) != spec.accepted || int(s.Ran) != spec.ended || int(s.Pending) != len(spec.queue)+len(spec.running):
			return fmt.Sprintf("step %d: G20: %+v, want accepted %d, ran %d, pending %d", i, s, spec.accepted, spec.ended, len(spec.queue)+len(spec.running))
		case int(s.Busy) != len(spec.running):
			return fmt.Sprintf("step %d: %d workers are busy, want %d", i, s.Busy, len(spec.running))
		case int(s.Workers) != spec.workers:
			return fmt.Sprintf("step %d: G17: %d workers, want %d: size %d, running %v", i, s.Workers, spec.workers, spec.size, running)
		case exact && int(s.Wakes-wakes) != spec.woken:
			return fmt.Sprintf("step %d: G12: Execute has woken %d workers, want %d", i, s.Wakes-wakes, spec.woken)
		case (s.State == core.StateTerminated) != (spec.closed && s.Pending == 0):
			return fmt.Sprintf("step %d: state %v with %d tasks pending, closed %v", i, s.State, s.Pending, spec.closed)
		}
		was := metered
		metered = meter.Read().Running
		fresh := slices.DeleteFunc(slices.Clone(metered), func(b core.RunningBody) bool { return slices.Contains(was, b) })
		for _, b := range fresh {
			if seen[b] || b.Kind != core.BodyTask {
				return fmt.Sprintf("step %d: the meter has %+v again, or of another kind", i, b)
			}
			seen[b] = true
		}
		if len(metered) != len(running) || len(fresh) != spec.begun {
			return fmt.Sprintf("step %d: the meter has the bodies %+v after %+v, want %d, of which %d have begun", i, metered, was, len(running), spec.begun)
		}
	}
	return ""
}
