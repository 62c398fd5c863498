// Package bare drives core without a Tracer. With a Tracer, Execute takes the slow path
// through admission; these programs take the fast path, like users. Without events
// there is no history, so the checks use only what a caller can see.
package bare

import (
	"fmt"
	"sync"
	"time"

	"eventide/core"
	"eventide/props/interleave/control"
)

// Config is a program: producers that execute tasks, beside a shutdown.
type Config struct {
	Producers int  `json:"producers"`
	Tasks     int  `json:"tasks"`            // of each
	Nested    bool `json:"nested,omitempty"` // each task executes another
	Graceful  bool `json:"graceful,omitempty"`
	Await     bool `json:"await,omitempty"` // each producer waits for each of its tasks, and the shutdown for the producers
	Hook      bool `json:"hook,omitempty"`
	Warm      bool `json:"warm,omitempty"` // the loop sleeps when the producers begin
	Main      bool `json:"main,omitempty"` // the last producer is the goroutine that shuts down, afterwards
}

// String names the program in a few words, such as "2x1 nested graceful": producers x
// tasks of each, and what is true of it.
func (c Config) String() string {
	name := fmt.Sprintf("%dx%d", c.Producers, c.Tasks)
	for _, word := range []struct {
		holds bool
		name  string
	}{
		{c.Nested, "nested"}, {c.Graceful, "graceful"}, {c.Await, "await"}, {c.Hook, "hook"}, {c.Warm, "warm"}, {c.Main, "main"},
	} {
		if word.holds {
			name += " " + word.name
		}
	}
	return name
}

// task is one task and its outcome. It has no lock: core's own promises must order the
// goroutines that use it, which a -race build checks.
type task struct {
	producer, n int
	err         error
	runs        int
}

// Breach is a guarantee that did not hold, and how.
type Breach struct{ Guarantee, Text string }

// Run runs the program and returns what it broke.
func Run(c Config) []Breach {
	ex, err := core.NewExecutor()
	if err != nil {
		panic(err) // there are no options
	}
	r := &run{c: c, ex: ex}
	hooks, hooked := 0, false
	if c.Hook {
		_, err := ex.AddShutdownHook(func() { hooks++ })
		hooked = err == nil
	}
	if c.Warm {
		if err := ex.Execute(func() {}); err != nil {
			panic(err) // nothing has shut it down
		}
		time.Sleep(time.Millisecond)
	}
	var producers sync.WaitGroup
	others := c.Producers
	if c.Main {
		others--
	}
	for p := range others {
		producers.Go(func() { r.produce(p) })
	}
	if c.Main {
		r.produce(others)
	}
	if c.Await {
		producers.Wait()
	}
	if c.Graceful {
		if _, err := ex.ShutdownGracefully(time.Millisecond, time.Second); err != nil {
			panic(err)
		}
	} else {
		ex.Shutdown()
	}
	<-ex.Termination().Done()
	report := ex.Termination().Report()
	producers.Wait()
	r.judge(report)
	if hooked && hooks != 1 {
		r.blame("G6", "the hook ran %d times, want once", hooks)
	}
	if s := ex.Stats(); s.Wakes > s.Parks {
		r.blame("G12", "%d wakes for %d sleeps", s.Wakes, s.Parks)
	}
	return r.broken
}

type run struct {
	c      Config
	ex     *core.Executor
	mu     control.Mutex
	tasks  []*task
	order  []*task // as they began
	broken []Breach
}

func (r *run) blame(guarantee, format string, args ...any) {
	r.broken = append(r.broken, Breach{guarantee, fmt.Sprintf(format, args...)})
}

func (r *run) produce(p int) {
	for n := range r.c.Tasks {
		r.execute(p, n, r.c.Nested)
	}
}

func (r *run) execute(p, n int, nested bool) {
	t := &task{producer: p, n: n}
	ran := make(chan struct{})
	err := r.ex.Execute(func() {
		t.runs++
		if t.runs == 1 {
			close(ran)
		}
		r.order = append(r.order, t) // bodies do not overlap (G2)
		if nested {
			r.execute(p+r.c.Producers, n, false)
		}
	})
	if r.c.Await && err == nil && p < r.c.Producers { // the loop makes nested calls, and must not wait for itself
		<-ran
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t.err = err
	r.tasks = append(r.tasks, t)
}

func (r *run) judge(report core.Report) {
	accepted := 0
	for _, t := range r.tasks {
		switch {
		case t.err == nil && t.runs != 1:
			r.blame("G3", "task %d of producer %d was accepted and ran %d times", t.n, t.producer, t.runs)
		case t.err != nil && t.runs != 0:
			r.blame("G3", "task %d of producer %d was refused (%v) and ran %d times", t.n, t.producer, t.err, t.runs)
		}
		if t.err == nil {
			accepted++
		}
	}
	if r.c.Warm {
		accepted++
	}
	if int(report.Accepted) != accepted || report.Ran != report.Accepted {
		r.blame("G20", "the report says %d accepted and %d ran, but %d calls returned nil", report.Accepted, report.Ran, accepted)
	}
	last := map[int]int{}
	for _, t := range r.order {
		if before, ok := last[t.producer]; ok && before > t.n {
			r.blame("G4", "task %d of producer %d began after task %d", t.n, t.producer, before)
		}
		last[t.producer] = t.n
	}
}
