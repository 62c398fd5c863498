package core_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// orderStep is one step of a body: it adds a body, removes a hook, or shuts the pool down.
type orderStep struct {
	op   string // of orderOps
	hook int    // of "remove": which of the hooks that were added before
	body []orderStep
	end  string // of the body that it adds: "", "panic" or "exit"
}

var orderOps = []string{"task", "task", "listener", "timer", "hook", "hook", "remove", "shutdown"}

// orderSteps draws the steps of a body. Bodies that they add have steps of their own, down to a depth.
func orderSteps(depth int) *rapid.Generator[[]orderStep] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) orderStep {
		s := orderStep{op: rapid.SampledFrom(orderOps).Draw(t, "op")}
		switch s.op {
		case "remove":
			s.hook = rapid.IntRange(0, 9).Draw(t, "hook")
		case "shutdown":
		default:
			if depth > 0 {
				s.body = orderSteps(depth-1).Draw(t, "body")
			}
			if s.op != "listener" {
				s.end = rapid.SampledFrom([]string{"", "", "", "panic", "exit"}).Draw(t, "end")
			}
		}
		return s
	}), 0, 5)
}

// TestPropPoolG13OrderOfBodies compares the order in which one worker runs bodies with a specification.
// All bodies are added at one instant, so each timer is due.
func TestPropPoolG13OrderOfBodies(t *testing.T) {
	program := orderSteps(3)
	rapid.Check(t, func(rt *rapid.T) {
		steps := program.Draw(rt, "steps")
		spec := &orderSpec{}
		spec.play(steps)
		want, got := strings.Join(spec.log, " "), ""
		synctest.Test(t, func(t *testing.T) { got = playOrder(t, steps) })
		if got != want {
			rt.Fatalf("G6, G13: the worker ran\n%s\nwant\n%s", got, want)
		}
	})
}

// playOrder makes the steps while a task runs, and returns the log of the bodies that the pool runs
// after it.
func playOrder(t *testing.T, steps []orderStep) string {
	var j coretest.Journal
	p := coretest.NewPool(t, 1, core.WithTimersAtShutdown(core.RunTimersUntilTimeout),
		core.WithPanicHandler(func(*core.PanicError) { j.Add("handler") }))
	var removes []func() bool
	added := 0
	var do func(steps []orderStep)
	do = func(steps []orderStep) {
		for _, s := range steps {
			name := fmt.Sprint(s.op, added)
			body := func() {
				j.Add(name)
				do(s.body)
				switch s.end {
				case "panic":
					panic(name)
				case "exit":
					runtime.Goexit()
				}
			}
			switch s.op {
			case "task":
				coretest.Must(t, p.Execute(body))
			case "listener":
				promise := core.NewPromise[int](p)
				promise.Future().OnDone(func(int, error) { body() })
				promise.TrySuccess(1)
			case "timer":
				mustSchedule(t, p, 0, body)
			case "hook":
				remove, err := p.AddShutdownHook(body)
				coretest.Must(t, err)
				removes = append(removes, remove)
			case "remove":
				if len(removes) > 0 {
					j.Add(fmt.Sprint(removes[s.hook%len(removes)]()))
				}
				continue
			case "shutdown":
				coretest.MustShutdownGracefully(t, p, 0, time.Hour)
				continue
			}
			added++
		}
	}
	release := block(t, p)
	do(steps)
	release()
	synctest.Wait()
	coretest.MustShutdownGracefully(t, p, 0, time.Hour)
	coretest.AwaitDone(t, p)
	return j.String()
}

// orderSpec specifies the order. Hooks are ready from the shutdown call on, once the tasks accepted
// before it have ended. A ready hook goes first. The hooks that wait when a round begins are that
// round; if a task waits at its end, one runs before the next round. After a listener, timer or hook
// comes a task, and after a task a listener or, if there is none, a timer.
type orderSpec struct {
	tasks, listeners, timers, hooks []*orderBody

	added  []*orderBody // hooks, in the order added
	round  int          // of hooks: those left of this round
	fresh  bool         // a task has begun since the last round
	called bool
	early  int        // tasks accepted before the shutdown call that have not ended
	last   string     // op of the last body
	now    *orderBody // it runs
	all    []*orderBody
	log    []string
}

type orderBody struct {
	orderStep
	name  string
	early bool // a task that counts in orderSpec.early
}

// play makes the steps in a task, runs all bodies, and shuts down.
func (s *orderSpec) play(steps []orderStep) {
	s.fresh = true
	s.run(&orderBody{orderStep: orderStep{op: "task", body: steps}})
	s.drain()
	s.shutDown()
	s.drain()
}

func (s *orderSpec) drain() {
	for b := s.next(); b != nil; b = s.next() {
		s.log = append(s.log, b.name)
		s.run(b)
	}
}

// run makes the steps of b, and ends it.
func (s *orderSpec) run(b *orderBody) {
	s.now, s.last = b, b.op
	for _, step := range b.body {
		s.step(step)
	}
	if b.early {
		s.early--
	}
	s.now = nil
	if b.end == "panic" {
		s.log = append(s.log, "handler")
	}
}

func (s *orderSpec) step(step orderStep) {
	switch step.op {
	case "remove":
		s.remove(step.hook)
		return
	case "shutdown":
		s.shutDown()
		return
	}
	b := &orderBody{orderStep: step, name: fmt.Sprint(step.op, len(s.all))}
	s.all = append(s.all, b)
	switch step.op {
	case "task":
		s.tasks = append(s.tasks, b)
	case "listener":
		s.listeners = append(s.listeners, b)
	case "timer":
		s.timers = append(s.timers, b)
	case "hook":
		s.hooks, s.added = append(s.hooks, b), append(s.added, b)
	}
}

func (s *orderSpec) remove(n int) {
	if len(s.added) == 0 {
		return
	}
	i := slices.Index(s.hooks, s.added[n%len(s.added)])
	s.log = append(s.log, fmt.Sprint(i >= 0))
	if i < 0 {
		return
	}
	s.hooks = slices.Delete(s.hooks, i, i+1)
	if i < s.round {
		s.round--
	}
}

func (s *orderSpec) shutDown() {
	if s.called {
		return
	}
	s.called, s.round = true, len(s.hooks)
	for _, b := range append(s.tasks[:len(s.tasks):len(s.tasks)], s.now) {
		if b != nil && b.op == "task" {
			b.early = true
			s.early++
		}
	}
}

// next takes the next body, or returns nil.
func (s *orderSpec) next() *orderBody {
	take := func(from *[]*orderBody) *orderBody {
		b := (*from)[0]
		*from = (*from)[1:]
		return b
	}
	task := len(s.tasks) > 0
	taskFirst := task && s.last != "task"
	switch {
	case len(s.hooks) > 0 && s.called && s.early == 0 && (s.round > 0 || s.fresh || !task):
		if s.round == 0 {
			s.round = len(s.hooks)
		}
		if s.round--; s.round == 0 {
			s.fresh = false
		}
		return take(&s.hooks)
	case !taskFirst && len(s.listeners) > 0:
		return take(&s.listeners)
	case !taskFirst && len(s.timers) > 0:
		return take(&s.timers)
	case task:
		s.fresh = true
		return take(&s.tasks)
	}
	return nil
}
