package main

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"eventide/model"
)

// Every number of the command line has a bound: a search of fewer than none is complete
// at once and says nothing.
func TestNegativeBoundsAreRefused(t *testing.T) {
	for _, name := range []string{"producers", "tasks", "tails", "timers", "periodic", "hooks", "fds", "channels", "limit", "max", "memory"} {
		var stdout, stderr strings.Builder
		if code := run([]string{"-" + name + "=-1"}, &stdout, &stderr); code != 2 {
			t.Errorf("-%s=-1: got exit code %d, want 2", name, code)
		}
		match(t, "stdout", stdout.String(), `^$`)
		match(t, "stderr", stderr.String(), `^explore: -`+name+` is -1, want at least 0; -h lists the flags\n$`)
	}
}

// ticking is a clock that goes on by a step with each look.
func ticking(w *watch, step time.Duration) {
	now := w.began
	w.now = func() time.Time { now = now.Add(step); return now }
}

// A search says every two seconds how far it is: how long it takes only once that can
// be estimated.
func TestProgress(t *testing.T) {
	var out strings.Builder
	w := newWatch(context.Background(), "given bounds", 0, &out)
	ticking(w, time.Second)
	states := 1
	for depth, more := range []int{10, 100, 1000, 100, 50} {
		states += more
		w.level(states, 0, depth)
		if w.stop(states) {
			t.Fatal("it stopped by itself")
		}
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("got %q, want two lines in five seconds", lines)
	}
	match(t, "growing", lines[0], `^given bounds: 2 s, 111 states, depth 1; each level .* larger than the last, so its end cannot be estimated`)
	match(t, "shrinking", lines[1], `^given bounds: 4 s, 1211 states, depth 3; the levels of the search shrink, about 0 s left$`)
}

// The estimate is what lies before it on the other side of the largest level.
func TestEstimate(t *testing.T) {
	w := newWatch(context.Background(), "", 0, nil)
	states := 0
	for depth, size := range []int{100, 200, 700, 3000, 600} {
		states += size
		w.level(states, 0, depth)
	}
	got := w.left(states, w.began.Add(46*time.Second)) // 100 states a second; 600 in hand, 300 to come
	if want := "the levels of the search shrink, about 9 s left"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A search that would take all memory ends before, and says so.
func TestMemory(t *testing.T) {
	var out strings.Builder
	w := newWatch(context.Background(), "given bounds", 8<<20, &out)
	w.heap = func() uint64 { return 9 << 20 }
	if w.stop(heapEach-1) || !w.stop(heapEach) {
		t.Error("want the heap measured after so many states, and the search ended")
	}
	match(t, "why", w.why, `^stopped: 20000 states take 9 MiB, and -memory is 8 MiB; each level`)
}

// An interrupt ends a search that has no end, with what was seen.
func TestInterrupt(t *testing.T) {
	var stdout, stderr strings.Builder
	told := make(chan int, 1)
	go func() { told <- run([]string{"-tasks=99"}, &stdout, &interrupting{out: &stderr}) }()
	if code := <-told; code != exitInterrupted {
		t.Errorf("got exit code %d, want %d", code, exitInterrupted)
	}
	match(t, "stdout", stdout.String(), `^given bounds: states=\d+ edges=\d+ depth=\d+ incomplete\n$`)
	match(t, "stderr", stderr.String(), `(?m)^given bounds: \d+ s, \d+ states, depth \d+; each level[^\n]*\n(given bounds: [^\n]*\n)*given bounds: interrupted\n$`)
}

// interrupting is a user who reads one line and has seen enough.
type interrupting struct {
	out  *strings.Builder
	done bool
}

func (u *interrupting) Write(p []byte) (int, error) {
	if !u.done {
		u.done = true
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Signal(os.Interrupt)
		}
		if err != nil {
			return 0, err
		}
	}
	return u.out.Write(p)
}

// Stop is asked before every state.
func TestStopIsAsked(t *testing.T) {
	asked := 0
	r := model.Explore(model.DefaultBounds(), model.Options{Stop: func(int) bool { asked++; return asked == 5 }})
	if asked != 5 || r.Complete || r.Violation != nil || r.States == 0 {
		t.Errorf("asked %d times, got %+v; want an incomplete result at once", asked, r)
	}
}
