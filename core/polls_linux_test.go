package core

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"eventide/core/internal/epoll"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// mostTasksBetweenPolls is the bound in the doc comment of WithIORatio (G13).
const mostTasksBetweenPolls = 1024

// tally counts the tasks, tail tasks included, that begin between two polls of an epoll
// poller.
type tally struct {
	since, most, tasks, polls atomic.Int64
}

func (c *tally) task() {
	c.tasks.Add(1)
	if n := c.since.Add(1); n > c.most.Load() {
		c.most.Store(n)
	}
}

// calls returns the calls of the kernel, with the polls counted.
func (c *tally) calls() epoll.Calls {
	k := epoll.System()
	polled := func() {
		c.polls.Add(1)
		c.since.Store(0)
	}
	poll, wait := k.Poll, k.Wait
	k.Poll = func(fd int, events []unix.EpollEvent) (int, error) { polled(); return poll(fd, events) }
	k.Wait = func(fd int, events []unix.EpollEvent) (int, error) { defer polled(); return wait(fd, events) }
	return k
}

// wrong describes what differs from the bound, or is "".
func (c *tally) wrong() string {
	if most := c.most.Load(); most > mostTasksBetweenPolls {
		return fmt.Sprintf("G13: %d tasks and tail tasks began between two polls, want %d or fewer", most, mostTasksBetweenPolls)
	}
	if tasks, polls := c.tasks.Load(), c.polls.Load(); polls < tasks/mostTasksBetweenPolls {
		return fmt.Sprintf("G13: %d polls in %d tasks, want %d or more", polls, tasks, tasks/mostTasksBetweenPolls)
	}
	return ""
}

// countingLoop returns an event loop whose polls c counts, and which ends with the test.
func countingLoop(t *testing.T, c *tally, blocking bool, opts ...Option) *EventLoop {
	t.Helper()
	var p IOPoller
	var err error
	if blocking {
		p, err = epoll.NewBlocking(nil, c.calls())
	} else {
		p, err = epoll.NewNetpoll(nil, 0, c.calls())
	}
	if err != nil {
		t.Fatal(err)
	}
	return loopWith(t, p, opts...)
}

func loopWith(t *testing.T, p IOPoller, opts ...Option) *EventLoop {
	t.Helper()
	l, err := NewEventLoop(append(opts, WithPoller(p), WithIORatio(100))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { <-l.Shutdown().Done() })
	return l
}

// TestPropG13TasksAndTailsBetweenTwoPolls: programs of tasks and tail tasks that add tasks and tail tasks never begin more
// than that number of them between two polls.
func TestPropG13TasksAndTailsBetweenTwoPolls(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		blocking := rapid.Bool().Draw(rt, "blocking")
		tails := rapid.SampledFrom([]int{0, 1, 5, 20, 50, 80, 95, 100}).Draw(rt, "percent of tail tasks")
		width := rapid.IntRange(1, 600).Draw(rt, "most that a body adds")
		left := rapid.SampledFrom([]int{1500, 3000, 6000}).Draw(rt, "bodies")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		var c tally
		l := countingLoop(t, &c, blocking)
		defer func() { <-l.Shutdown().Done() }()
		var body func()
		add := func() {
			left--
			if rng.IntN(100) < tails {
				_ = l.ExecuteAfterIteration(body)
			} else {
				_ = l.Execute(body)
			}
		}
		pending := 0
		over := make(chan struct{})
		body = func() {
			c.task()
			pending--
			n := 1
			if pending < 2000 && rng.IntN(50) == 0 {
				n = width
			}
			for range min(n, left) {
				pending++
				add()
			}
			if pending == 0 {
				close(over)
			}
		}
		_ = l.Execute(func() {
			c.task()
			for range 300 {
				pending++
				add()
			}
		})
		<-over
		if wrong := c.wrong(); wrong != "" {
			rt.Fatal(wrong)
		}
		l.mu.Lock()
		queued, tasks, tailTasks := l.queued, l.tasks.Size(), l.tails.Size()
		l.mu.Unlock()
		if queued != tasks+tailTasks { // Execute yields by it, and may take it for the bound
			rt.Fatalf("queued is %d with %d tasks and %d tail tasks in the segments, want the sum", queued, tasks, tailTasks)
		}
	})
}

// G13: a loop polls at least once in busyTurns turns, also if each turn has a single task, so that the tasks between two polls are few.
func TestG13TurnsBetweenTwoPolls(t *testing.T) {
	for name, blocking := range map[string]bool{"netpoll": false, "blocking epoll": true} {
		var c tally
		l := countingLoop(t, &c, blocking)
		left, over := 100*busyTurns, make(chan struct{})
		var body func()
		body = func() {
			c.task()
			if left--; left == 0 {
				close(over)
				return
			}
			_ = l.Execute(body) // for the next turn
		}
		_ = l.Execute(body)
		<-over
		if most := c.most.Load(); most > busyTurns {
			t.Errorf("G13: %s: %d turns between two polls, want %d or fewer", name, most, busyTurns)
		}
	}
}

// unasleep is a poller whose every Wait finds a wake-up, and new tasks, before it parks.
type unasleep struct {
	*epoll.NetpollPoller
	before func()
}

func (p unasleep) Wait(until Deadline) error {
	p.before()
	p.Wake()
	return p.NetpollPoller.Wait(until)
}

// A Wait that returns for a pending wake-up has not polled: the tasks before and after it
// are of one share.
func TestG13AWaitWithoutAPollKeepsTheShare(t *testing.T) {
	var c tally
	inner, err := epoll.NewNetpoll(nil, 0, c.calls())
	if err != nil {
		t.Fatal(err)
	}
	var l *EventLoop
	bursts, over := 0, make(chan struct{})
	l = loopWith(t, unasleep{inner, func() {
		if bursts++; bursts > 100 {
			return
		}
		for range 14 * turnTasks {
			_ = l.ExecuteLazy(c.task)
		}
		if bursts == 100 {
			_ = l.ExecuteLazy(func() { close(over) })
		}
	}})
	_ = l.Execute(c.task)
	<-over
	if wrong := c.wrong(); wrong != "" {
		t.Error(wrong)
	}
}

// onOneProcessor runs f with a goroutine beside it that runs whenever f yields, and then
// calls disturb once.
func onOneProcessor(t *testing.T, disturb func(), f func()) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var stop atomic.Bool
	var other sync.WaitGroup
	other.Go(func() {
		for !stop.Load() {
			disturb()
			runtime.Gosched()
		}
	})
	f()
	stop.Store(true)
	other.Wait()
}

// A wake-up found by spinning hides readiness as a pending one does: after a bounded
// number of such returns Wait still polls.
func TestG13AWakeUpFoundBySpinningCounts(t *testing.T) {
	var c tally
	p, err := epoll.NewNetpoll(nil, maxSpin, c.calls())
	if err != nil {
		t.Fatal(err)
	}
	r, w := pipe(t)
	defer r.Close()
	defer w.Close()
	if err := p.Add(int(r.Fd()), Readable, 1<<32); err != nil {
		t.Fatal(err)
	}
	onOneProcessor(t, p.Wake, func() {
		for range 40 * busyTurns {
			c.task() // counts a call of Wait here
			if err := p.Wait(Deadline{}); err != nil {
				t.Fatal(err)
			}
		}
	})
	if most := c.most.Load(); most > busyTurns+1 {
		t.Errorf("G13: Wait returned %d times in a row without a poll, want %d or fewer", most, busyTurns+1)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}

// The same on a loop: tasks that are added each time the loop yields do not keep it from
// polling.
func TestG13ASpinningLoopPollsItsDescriptors(t *testing.T) {
	l, err := NewEventLoop(WithSpin(maxSpin))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { <-l.Shutdown().Done() }()
	r, w := pipe(t)
	defer r.Close()
	defer w.Close()
	var called atomic.Bool
	const most = 20_000
	tasks := 0
	onOneProcessor(t, func() { _ = l.Execute(func() { tasks++ }) }, func() {
		if _, err := l.Register(int(r.Fd()), Readable, func(Readiness) { called.Store(true) }); err != nil {
			t.Fatal(err)
		}
		for l.Stats().Accepted < 1000 { // until the loop is in the rhythm
			runtime.Gosched()
		}
		if _, err := w.Write([]byte{1}); err != nil {
			t.Fatal(err)
		}
		for l.Stats().Accepted < most && !called.Load() {
			runtime.Gosched()
		}
	})
	if !called.Load() {
		t.Errorf("G13: a spinning loop ran %d tasks and did not call the handler of a ready descriptor", most)
	}
}

// pipe returns a pipe whose reading end does not block.
func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return r, w
}
