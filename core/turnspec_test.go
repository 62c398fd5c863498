package core_test

import (
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/internal/tasks"

	"pgregory.net/rapid"
)

// turnPost posts n bodies of one kind to the loop. A body of an earlier post posts them, the last one of
// that post; or the first body of the program does, or a goroutine that has found the loop asleep. The last of
// the n bodies ends as end says.
type turnPost struct {
	by   int    // index of the post, -1: the beginning
	kind string // task, tail, timer or listener
	n    int
	end  string // return, panic or exit; listeners return
}

// turnBody is body number of a post.
type turnBody struct{ post, number int }

// TestPropG13Turns compares the order of the bodies of a loop with a specification of its turns: a batch of
// tasks, which is at most 64, then at most 64 timers, then the tail tasks, and behind each of these bodies the
// listeners that were posted before it ended, but not those that these listeners post (G9, G13). It also
// counts how often the loop reads the clock of the user: once for a batch of tasks without a listener, and
// not once for each task (R51).
func TestPropG13Turns(t *testing.T) {
	sizes := rapid.SampledFrom([]int{1, 1, 1, 1, 2, 3, 63, 64, 65, 130, 255, 256, 257, 600})
	rapid.Check(t, func(rt *rapid.T) {
		program := make([]turnPost, rapid.IntRange(1, 12).Draw(rt, "posts"))
		abrupt := rapid.Bool().Draw(rt, "some end abruptly")
		for i := range program {
			p := turnPost{
				by:   rapid.IntRange(-1, i-1).Draw(rt, "by"),
				kind: rapid.SampledFrom([]string{"task", "tail", "timer", "listener"}).Draw(rt, "kind"),
				n:    sizes.Draw(rt, "n"), end: "return",
			}
			if abrupt && p.kind != "listener" {
				p.end = rapid.SampledFrom([]string{"return", "panic", "exit"}).Draw(rt, "end")
			}
			program[i] = p
		}
		outside := rapid.Bool().Draw(rt, "a goroutine begins")
		checkInBubble(t, rt, func(t *testing.T) string { return runTurnSpec(t, program, outside) })
	})
}

// heldPoller delays the return of the Wait that finds something while there is a gate.
type heldPoller struct {
	core.Poller
	gate atomic.Pointer[chan struct{}]
}

func (p *heldPoller) Wait(until core.Deadline) error {
	err := p.Poller.Wait(until)
	if gate := p.gate.Swap(nil); gate != nil {
		<-*gate
	}
	return err
}

// runTurnSpec returns a description of the first difference, or "".
func runTurnSpec(t *testing.T, program []turnPost, outside bool) string {
	spec := turnSpec{program: program}
	spec.run(outside)
	clock := newManualClock()
	poller := &heldPoller{Poller: core.NewParkPoller(clock)}
	counting, reads, readsAtLast := false, 0, 0
	clock.onNow = func() {
		if counting {
			reads++
		}
	}
	ex := coretest.NewExecutor(t, core.WithClock(clock), core.WithPoller(poller), core.WithPanicHandler(func(*core.PanicError) {}))
	var order []turnBody
	var post func(by int)
	body := func(i, k int) func() {
		return func() {
			order, readsAtLast = append(order, turnBody{i, k}), reads
			if p := program[i]; k == p.n-1 {
				post(i)
				switch p.end {
				case "panic":
					panic("the last body of a post")
				case "exit":
					runtime.Goexit()
				}
			}
		}
	}
	post = func(by int) {
		counting = false // Schedule reads the clock too
		defer func() { counting = true }()
		for i, p := range program {
			for k := range p.n {
				if p.by == by {
					postBody(t, ex, p.kind, body(i, k))
				}
			}
		}
	}
	coretest.OnLoop(t, ex, func() {})
	synctest.Wait() // the loop sleeps
	if outside {
		gate := make(chan struct{})
		poller.gate.Store(&gate)
		post(-1)
		close(gate)
	} else {
		coretest.MustExecute(t, ex, func() { post(-1) })
	}
	synctest.Wait()
	counting = false
	ex.Shutdown()
	coretest.AwaitDone(t, ex)
	if i := firstDifference(order, spec.order); i >= 0 {
		return fmt.Sprintf("G9, G13: body %d of %+v, from outside %v: the loop runs %v, want %v", i, program, outside, near(order, i), near(spec.order, i))
	}
	if readsAtLast > spec.readsAtLast {
		return fmt.Sprintf("the loop has read the clock %d times before the last body of %+v, want at most %d", readsAtLast, program, spec.readsAtLast)
	}
	return ""
}

// postBody posts one body of a kind to ex.
func postBody(t *testing.T, ex *core.Executor, kind string, body func()) {
	switch kind {
	case "task":
		coretest.MustExecute(t, ex, body)
	case "tail":
		mustTail(t, ex, body)
	case "timer":
		mustSchedule(t, ex, 0, body)
	case "listener":
		p := core.NewPromise[int](ex)
		p.Future().OnDone(func(int, error) { body() })
		p.TrySuccess(1)
	}
}

// firstDifference returns the first index at which a and b differ, or -1.
func firstDifference[T comparable](a, b []T) int {
	if slices.Equal(a, b) {
		return -1
	}
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// near returns the elements of s near index i.
func near[T any](s []T, i int) []T { return s[min(len(s), max(0, i-1)):min(len(s), i+3)] }

// turnSpec is the specification of a loop on a clock that stands still.
type turnSpec struct {
	program []turnPost

	tasks, tails, timers, listeners []turnBody // that wait

	order              []turnBody
	reads, readsAtLast int // readings of the clock, the most that the loop may make
}

// mostOfATurn is how many tasks and how many timers a turn runs at most.
const mostOfATurn = 64

func (s *turnSpec) post(by int) {
	for i, p := range s.program {
		queue := map[string]*[]turnBody{"task": &s.tasks, "tail": &s.tails, "timer": &s.timers, "listener": &s.listeners}[p.kind]
		for k := range p.n {
			if p.by == by {
				*queue = append(*queue, turnBody{i, k})
			}
		}
	}
}

// call runs one body, and reports whether it returns.
func (s *turnSpec) call(b turnBody) (end string) {
	s.order, s.readsAtLast = append(s.order, b), s.reads
	p := s.program[b.post]
	if b.number < p.n-1 {
		return "return"
	}
	s.post(b.post)
	return p.end
}

// take removes the first n of a queue, or all if there are fewer.
func take(queue *[]turnBody, n int) (taken []turnBody) {
	n = min(n, len(*queue))
	taken, *queue = (*queue)[:n:n], (*queue)[n:]
	return taken
}

// round runs the listeners that wait, but not those that they post.
func (s *turnSpec) round() {
	for _, l := range take(&s.listeners, len(s.listeners)) {
		s.call(l)
	}
}

// run runs the first body, or what a goroutine posts, and then turns until nothing waits.
func (s *turnSpec) run(outside bool) {
	s.post(-1)
	if !outside {
		s.reads++
		s.round()
	}
	var batch, tails, timers []turnBody // the loop has taken them
	drain := func() {
		if len(tails) == 0 {
			tails = take(&s.tails, tasks.SegmentSize)
		}
		timers = append(timers, take(&s.timers, len(s.timers))...)
	}
	drain() // for the rest of the turn of the first body
	for first := !outside; first || len(s.tasks)+len(s.tails)+len(s.timers)+len(s.listeners)+len(batch)+len(tails)+len(timers) > 0; first = false {
		if !first {
			if len(batch) == 0 {
				batch = take(&s.tasks, tasks.SegmentSize)
			}
			drain()
			if len(batch)+len(tails)+len(s.listeners) == 0 {
				s.reads++ // the poller finds out that a timer is due
			}
			s.round()
			s.batch(take(&batch, mostOfATurn))
			drain()
		}
		if len(timers) > 0 {
			s.reads++
		}
		for _, b := range take(&timers, mostOfATurn) {
			s.reads++ // at the end of the body
			if s.call(b) == "exit" {
				s.reads++ // another goroutine goes on with the timers
			}
			s.round()
		}
		s.batch(take(&tails, len(tails)))
	}
}

// batch runs tasks or tail tasks. The loop reads the clock at the end of the batch, and wherever it
// interrupts it: for a body that ends abruptly, or for listeners.
func (s *turnSpec) batch(bodies []turnBody) {
	for i, b := range bodies {
		end := s.call(b)
		switch {
		case end == "panic":
			s.reads += 2
		case end == "exit" || len(s.listeners) > 0 || i == len(bodies)-1:
			s.reads++
		}
		s.round()
	}
}
