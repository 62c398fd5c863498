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

// poolSpec specifies a pool, one step at a time: a queue, the running tasks, and their maximum.
type poolSpec struct {
	size            int
	queue, running  []int
	accepted, ended int
	closed          bool
}

// settle lets every task begin that may.
func (s *poolSpec) settle() {
	for len(s.queue) > 0 && len(s.running) < s.size {
		s.running = append(s.running, s.queue[0])
		s.queue = s.queue[1:]
	}
}

// A pool beside its specification: after each step, when nothing moves any more, the same
// tasks run and the same wait.
func TestPropPool(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.IntRange(0, 99), 1, 60).Draw(rt, "steps")
		size := rapid.IntRange(1, 4).Draw(rt, "size")
		var failed string
		synctest.Test(t, func(t *testing.T) { failed = runPoolSpec(t, size, steps) })
		if failed != "" {
			rt.Fatal(failed)
		}
	})
}

// runPoolSpec returns a description of the first difference, or "".
func runPoolSpec(t *testing.T, size int, steps []int) (wrong string) {
	p, err := core.NewPool(size)
	coretest.Must(t, err)
	spec := &poolSpec{size: size}
	began, gates := make(chan int, 1000), map[int]chan struct{}{}
	var running []int
	defer func() {
		p.Shutdown()
		for _, gate := range gates {
			close(gate)
		}
		<-p.Termination().Done()
	}()
	for i, step := range steps {
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
			spec.closed = true
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
		case s.Workers > int64(max(spec.size, len(spec.running))):
			return fmt.Sprintf("step %d: %d workers for a size of %d", i, s.Workers, spec.size)
		case (s.State == core.StateTerminated) != (spec.closed && s.Pending == 0):
			return fmt.Sprintf("step %d: state %v with %d tasks pending, closed %v", i, s.State, s.Pending, spec.closed)
		}
	}
	return ""
}
