package core

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestPropG24EndedExecutorsKeepNoMemory: however many tasks and timers an executor or a pool had, it keeps no memory for them
// after its end, although the caller keeps the executor (G24).
func TestPropG24EndedExecutorsKeepNoMemory(t *testing.T) {
	some := rapid.SampledFrom([]int{0, 1, 2, 100, 300, 1000})
	rapid.Check(t, func(t *rapid.T) {
		e, err := NewExecutor()
		if err != nil {
			t.Fatal(err)
		}
		p, err := NewPool(rapid.IntRange(1, 2).Draw(t, "size"))
		if err != nil {
			t.Fatal(err)
		}
		queued, timers, tails := some.Draw(t, "tasks"), some.Draw(t, "timers"), some.Draw(t, "tail tasks")
		for _, ex := range []EventExecutor{e, p} {
			for range timers {
				if _, err := ex.Schedule(time.Hour, func() {}); err != nil {
					t.Fatal(err)
				}
			}
			for range queued {
				if err := ex.Execute(func() {}); err != nil {
					t.Fatal(err)
				}
			}
		}
		for range tails {
			if err := e.ExecuteAfterIteration(func() {}); err != nil {
				t.Fatal(err)
			}
		}
		<-e.Shutdown().Done()
		<-p.Shutdown().Done()
		if e.heap.entries != nil || e.internalBatch != nil || hasSegments(&e.tasks) || hasSegments(&e.tails) {
			t.Fatalf("G24: the executor keeps room for %d timers and %d internal tasks, and segments: %v, %v", cap(e.heap.entries), cap(e.internalBatch), hasSegments(&e.tasks), hasSegments(&e.tails))
		}
		if p.heap.entries != nil || hasSegments(&p.queue) || len(p.doomed) > 0 {
			t.Fatalf("G24: the pool keeps room for %d timers, %d cancelled ones, and segments: %v", cap(p.heap.entries), len(p.doomed), hasSegments(&p.queue))
		}
	})
}

// hasSegments reports whether a queue has a segment, also a free one.
func hasSegments(queue any) bool {
	s := reflect.ValueOf(queue).Elem().FieldByName("segments")
	return !s.FieldByName("head").IsNil() || !s.FieldByName("free").IsNil()
}

// TestPropG24ABurstOfListenersGivesItsMemoryBack: after a burst of listeners of any size, two more listeners are enough for the
// loop to give back the arrays that the burst has made large (G24).
func TestPropG24ABurstOfListenersGivesItsMemoryBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, err := NewExecutor()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { <-e.Shutdown().Done() }()
		on := func(body func()) { // runs body as a task, and returns after its listeners
			over := make(chan struct{})
			Submit(e, func() (int, error) { body(); return 0, nil }).OnDone(func(int, error) { close(over) })
			<-over
		}
		on(func() {
			for range rapid.SampledFrom([]int{0, 1, 100, 255, 256, 257, 1000}).Draw(t, "listeners") {
				p := NewPromise[int](e)
				p.TrySuccess(1)
				p.Future().OnDone(func(int, error) {})
			}
		})
		for range 2 {
			on(func() {})
		}
		waiting, batch := 0, 0
		on(func() {
			e.mu.Lock()
			waiting, batch = cap(e.internalTasks), cap(e.internalBatch)
			e.mu.Unlock()
		})
		if max(waiting, batch) > keptCapacity {
			t.Fatalf("G24: room for %d waiting listeners and a batch of %d, want no more than %d after a burst", waiting, batch, keptCapacity)
		}
	})
}
