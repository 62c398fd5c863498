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
