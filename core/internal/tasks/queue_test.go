package tasks

import (
	"testing"

	"pgregory.net/rapid"
)

// TestPropQueue: a Queue against a slice: the order, and the four counts, which both keep
// independently. The steps are those of the loop, in any legal order.
func TestPropQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q Queue
		if q.Progress() != 0 {
			t.Fatalf("progress is %d before the first batch, want 0", q.Progress())
		}
		var oracle []int // pushed and not ended
		inHand := 0      // of them taken
		next, ran, cancelled, last := 0, int64(0), int64(0), -1
		ranBefore := int64(0) // in earlier batches
		isRunning := false
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				for range rapid.SampledFrom([]int{1, 2, 255, 256, 257, 600}).Draw(t, "n") {
					k := next
					next++
					q.Push(func() { last = k })
					oracle = append(oracle, k)
				}
			},
			"take": func(t *rapid.T) {
				if q.Left() > 0 {
					return // the batch in hand is not spent
				}
				before := q.size
				inHand, ranBefore = q.Take(), ran
				if inHand < min(before, 1) || inHand > SegmentSize || q.size != before-inHand {
					t.Fatalf("take: got %d tasks, size %d to %d", inHand, before, q.size)
				}
			},
			"begin": func(t *rapid.T) {
				if inHand == 0 || isRunning {
					return // nothing to begin
				}
				progress := q.Progress()
				q.Resume()
				if q.Progress() == progress {
					t.Fatalf("progress is %d before and after the begin of a task", progress)
				}
				q.Next()()
				isRunning = true
				if last != oracle[0] {
					t.Fatalf("G4: task %d began, want %d", last, oracle[0])
				}
			},
			"end": func(t *rapid.T) {
				if !isRunning {
					return // none is running
				}
				nextBegins, progress := rapid.Bool().Draw(t, "goes on"), q.Progress()
				switch how := rapid.SampledFrom([]string{"cancelled", "ran", "ran and begin"}).Draw(t, "how"); {
				case how == "cancelled":
					q.End(Cancelled, nextBegins)
					cancelled++
				case how == "ran and begin" && inHand > 1: // there is a next task
					q.EndAndBegin()
					ran, nextBegins = ran+1, true
				default:
					q.End(Ran, nextBegins)
					ran++
				}
				if q.Progress() == progress {
					t.Fatalf("progress is %d before and after the end of a task", progress)
				}
				oracle, inHand = oracle[1:], inHand-1
				if isRunning = nextBegins && inHand > 0; isRunning {
					q.Next()()
				}
			},
			"release": func(t *rapid.T) {
				if len(oracle) > 0 {
					return // the queue is not empty
				}
				q.Release()
				inHand, ranBefore = 0, ran
				if q.batch != nil || q.head != nil || q.tail != nil || q.free != nil || q.nfree != 0 {
					t.Fatalf("G24: a released queue keeps segments: %+v", q.segments)
				}
			},
			"": func(t *rapid.T) {
				want := Counts{
					Accepted: int64(next), Ran: ran, Cancelled: cancelled,
					Pending: len(oracle), NotBegun: len(oracle), Running: isRunning,
				}
				if isRunning {
					want.NotBegun--
				}
				if got := q.Counts(); got != want {
					t.Fatalf("G20: counts are %+v, want %+v", got, want)
				}
				begun := int64(next - want.NotBegun)
				if q.Left() != inHand || q.Begun() != begun {
					t.Fatalf("left %d, begun %d; want %d, %d", q.Left(), q.Begun(), inHand, begun)
				}
				if q.Size() != len(oracle)-inHand || q.Accepted() != int64(next) || q.Ran() != ran-ranBefore {
					t.Fatalf("size %d, accepted %d, ran of the batch %d; want %d, %d, %d",
						q.Size(), q.Accepted(), q.Ran(), len(oracle)-inHand, next, ran-ranBefore)
				}
			},
		})
	})
}

// Between two tasks that follow one another directly a task counts as running at every
// moment: the transition must not look like room in the queue (G19).
func TestTaskQueueEndLeadsIntoTheNextBegin(t *testing.T) {
	var q Queue
	for range 3 {
		q.Push(func() {})
	}
	q.Take()
	q.Resume()
	for left := 2; left >= 0; left-- {
		q.Next()
		if c := q.Counts(); c.NotBegun != left || !c.Running {
			t.Errorf("G19: a task runs, %d behind it: %+v", left, c)
		}
		q.End(Ran, true)
	}
	if c := q.Counts(); c.Running || c.Pending != 0 || c.Ran != 3 {
		t.Errorf("G20: after the last: %+v", c)
	}
}

// A batch that stops after a task, for a listener or the end of the turn, has begun
// nothing more: a bounded queue has no more room than that. Were "none is running"
// published only after the end, a producer in between would get one place too many,
// which the interleave lane found.
func TestG19ABatchThatStopsHasBegunNothingMore(t *testing.T) {
	var q Queue
	for range 3 {
		q.Push(func() {})
	}
	q.Take()
	q.Resume()
	q.Next()
	q.End(Ran, false)
	if c := q.Counts(); c.Running || c.NotBegun != 2 || c.Pending != 2 {
		t.Errorf("G19: after the first of three, and no further: %+v", c)
	}
}

func TestTaskQueueGivesSegmentsBackAndClearsSlots(t *testing.T) {
	var q Queue
	const n = 100 * SegmentSize
	for range n {
		q.Push(func() {})
	}
	for q.size > 0 || q.Left() > 0 {
		if q.Left() == 0 {
			q.Take()
		}
		q.Resume()
		q.Next()
		q.End(Ran, false)
	}
	q.Take()
	kept := 0
	for s := q.free; s != nil; s = s.next {
		kept++
		for i, task := range s.tasks {
			if task != nil {
				t.Fatalf("G24: slot %d of a spent segment still holds its task", i)
			}
		}
	}
	if kept == 0 || kept > maxFreeSegments || q.batch != nil || q.head != nil || q.tail != nil {
		t.Errorf("G24: %d segments kept after a burst of 100, want 1 to %d", kept, maxFreeSegments)
	}
	q.Push(func() {}) // so that a spent segment is in hand
	q.Take()
	q.Resume()
	q.Next()
	q.End(Ran, false)
	if q.Release(); q.free != nil || q.nfree != 0 || q.batch != nil {
		t.Error("G24: release kept segments")
	}
	if c := q.Counts(); c.Accepted != n+1 || c.Ran != n+1 {
		t.Errorf("G20: %+v, want %d accepted and ran", c, n+1)
	}
}
