package stress

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"eventide/core"
)

// Executors made by TestNothingLeaks.
const (
	leakExecutors      = 10_000
	leakExecutorsShort = 2_000
)

// bytesPerExecutor is how much the heap may have grown per executor that is gone.
// Anything that an executor left behind costs more: the least there is, a slot in
// a map or a list, is a key and a pointer, 16 bytes, and both maps of core keep a
// node of 48 bytes for it. What the runtime itself keeps (spare goroutines, timer
// heaps, statistics) does not grow with their number: it is there after warm-up.
const bytesPerExecutor = 16

// TestNothingLeaks makes executors, uses them and shuts them down, and finds the
// process as it was before: goroutines, and memory (G24).
func TestNothingLeaks(t *testing.T) {
	n := leakExecutors
	if testing.Short() {
		n = leakExecutorsShort
	}
	used, err := leaked(n, hangGuard, useExecutor)
	t.Log(used)
	if err != nil {
		t.Errorf("G24: %v", err)
	}
}

// TestLeaksAreSeen plants the smallest leaks there are.
func TestLeaksAreSeen(t *testing.T) {
	var kept []*core.Termination
	held := make(map[int]struct{})
	release := make(chan struct{})
	cases := []struct {
		name string
		use  func(int) error
		want string
	}{
		{"terminations kept", func(int) error {
			ex := must(core.NewExecutor())
			kept = append(kept, ex.Shutdown())
			<-kept[len(kept)-1].Done()
			return nil
		}, "heap"},
		{"an entry in a map", func(int) error { held[len(held)] = struct{}{}; return nil }, "heap"},
		{"a goroutine each", func(int) error { go func() { <-release }(); return nil }, "goroutines"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			used, err := leaked(leakExecutorsShort, time.Millisecond, c.use)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v (%v), want an error about %s", err, used, c.want)
			}
		})
	}
	close(release)
	runtime.KeepAlive(kept)
	runtime.KeepAlive(held)
}

// useExecutor is one life: tasks, a timer, a hook, a future, and, in turn, each
// way to end, one of them never started.
func useExecutor(i int) error {
	ex, err := core.NewExecutor()
	if err != nil {
		return err
	}
	if i%4 > 0 {
		for range i % 300 {
			if err := ex.Execute(nothing); err != nil {
				return err
			}
		}
		if _, err := ex.Schedule(longTime, nothing); err != nil {
			return err
		}
		if _, err := ex.AddShutdownHook(nothing); err != nil {
			return err
		}
		core.Submit(ex, func() (int, error) { return i, nil }).OnDone(func(int, error) {})
	}
	if i%2 == 0 {
		_, err = ex.ShutdownGracefully(0, longTime)
	} else {
		ex.Shutdown()
	}
	if err == nil && !ended(ex) {
		err = fmt.Errorf("executor %d never terminated", i)
	}
	return err
}

// usage is what a process holds at rest.
type usage struct {
	goroutines int
	heap       uint64
}

// growth is what n uses have left behind.
type growth struct {
	n             int
	before, after usage
}

func (g growth) String() string {
	return fmt.Sprintf("%d uses: goroutines %d -> %d, heap %d -> %d bytes, %.2f bytes per use",
		g.n, g.before.goroutines, g.after.goroutines, g.before.heap, g.after.heap,
		(float64(g.after.heap)-float64(g.before.heap))/float64(g.n))
}

// leaked calls use, a tenth of n times to warm up and then n times, and returns
// what was left behind, and an error if that is more than nothing. Goroutines have
// until settle to be gone.
func leaked(n int, settle time.Duration, use func(i int) error) (growth, error) {
	g := growth{n: n}
	goroutines := runtime.NumGoroutine()
	if err := repeat(n/10, use); err != nil {
		return g, err
	}
	g.before = rest(goroutines, settle)
	if err := repeat(n, use); err != nil {
		return g, err
	}
	g.after = rest(goroutines, settle)
	switch {
	case g.after.goroutines > goroutines:
		return g, fmt.Errorf("goroutines left behind: %v", g)
	case g.after.heap > g.before.heap+uint64(n*bytesPerExecutor):
		return g, fmt.Errorf("heap has grown by more than %d bytes per use: %v", bytesPerExecutor, g)
	}
	return g, nil
}

func repeat(n int, use func(i int) error) error {
	for i := range n {
		if err := use(i); err != nil {
			return err
		}
	}
	return nil
}

// rest waits until no more goroutines than that are left, as one that has closed
// Done has a few instructions to go, and collects garbage: twice, as what has a
// cleanup goes in the second pass.
func rest(goroutines int, settle time.Duration) usage {
	for end := time.Now().Add(settle); runtime.NumGoroutine() > goroutines && time.Now().Before(end); {
		runtime.Gosched()
	}
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return usage{goroutines: runtime.NumGoroutine(), heap: m.HeapAlloc}
}
