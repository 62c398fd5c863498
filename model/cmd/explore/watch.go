package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"time"
)

// saysEach is the time between two progress lines of a search.
const saysEach = 2 * time.Second

// watch prints the progress of one search. It stops the search when ctx ends or the heap
// exceeds memory.
type watch struct {
	ctx    context.Context
	name   string
	out    io.Writer
	memory uint64 // limit of the heap, in bytes; 0: none
	heap   func() uint64
	now    func() time.Time

	began, said time.Time
	measured    int   // number of states when the heap was last measured
	levels      []int // how many states each level of the search has
	known       int   // sum of levels
	depth       int
	why         string // why stop ended the search; "" if it did not
}

func newWatch(ctx context.Context, name string, memory uint64, out io.Writer) *watch {
	now := time.Now()
	return &watch{ctx: ctx, name: name, out: out, memory: memory, heap: heapInUse, now: time.Now, began: now, said: now}
}

// level is model.Options.Progress.
func (w *watch) level(states, _, depth int) {
	w.levels = append(w.levels, states-w.known)
	w.known, w.depth = states, depth
}

// heapEach is the number of states between two measurements of the heap.
const heapEach = 20_000

// stop is model.Options.Stop.
func (w *watch) stop(states int) bool {
	now := w.now()
	if now.Sub(w.said) >= saysEach {
		w.said = now
		fmt.Fprintf(w.out, "%s: %.0f s, %d states, depth %d; %s\n", w.name, now.Sub(w.began).Seconds(), states, w.depth, w.left(states, now))
	}
	if w.ctx.Err() != nil {
		w.why = "interrupted"
		return true
	}
	if w.memory > 0 && states >= w.measured+heapEach {
		w.measured = states
		if used := w.heap(); used > w.memory {
			w.why = fmt.Sprintf("stopped: %d states take %d MiB, and -memory is %d MiB; %s", states, used>>20, w.memory>>20, w.left(states, now))
			return true
		}
	}
	return false
}

// left estimates the time that the rest of the search takes. The levels of a search grow
// first, and then shrink about as they grew. No estimate is possible while they grow.
func (w *watch) left(states int, now time.Time) string {
	rate := float64(states) / max(now.Sub(w.began).Seconds(), 1e-3)
	n := len(w.levels)
	if n < 2 || w.levels[n-1] >= w.levels[n-2] {
		return "each level of the search is larger than the last, so its end cannot be estimated: smaller bounds end sooner"
	}
	rest := w.levels[n-1]
	for _, size := range w.levels {
		if size >= w.levels[n-1] {
			break
		}
		rest += size
	}
	return fmt.Sprintf("the levels of the search shrink, about %.0f s left", float64(rest)/rate)
}

func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
