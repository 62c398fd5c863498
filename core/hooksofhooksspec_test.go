package core_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// A hookStep is a step of a hook: it adds a hook, or closes admission if add is nil.
type hookStep struct{ add *[]hookStep }

func hookSteps(depth int) *rapid.Generator[[]hookStep] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) (s hookStep) {
		if rapid.IntRange(0, 4).Draw(t, "closes") == 1 {
			return s
		}
		s.add = new([]hookStep)
		if depth > 0 {
			*s.add = hookSteps(depth-1).Draw(t, "steps")
		}
		return s
	}), 0, 3)
}

// TestPropG6HooksOfHooks compares which hooks of an executor or a pool may be added by hooks, and their order, with a
// specification: until admission closes each may be added, and then only by a hook that was added before (G5, G6).
func TestPropG6HooksOfHooks(t *testing.T) {
	program := hookSteps(4)
	rapid.Check(t, func(rt *rapid.T) {
		hooks, pool := []hookStep{}, rapid.Bool().Draw(rt, "pool")
		for range rapid.IntRange(1, 3).Draw(rt, "hooks") {
			steps := program.Draw(rt, "steps")
			hooks = append(hooks, hookStep{&steps})
		}
		checkInBubble(t, rt, func(t *testing.T) string {
			got, want := playHooks(t, pool, hooks), specOfHooks(hooks)
			if got != want {
				return fmt.Sprintf("G6: pool %v: the hooks are\n%s\nwant\n%s", pool, got, want)
			}
			return ""
		})
	})
}

// playHooks returns the log of the hooks.
func playHooks(t *testing.T, pool bool, hooks []hookStep) string {
	var ex interface {
		core.EventExecutor
		AddShutdownHook(func()) (func() bool, error)
	} = coretest.NewExecutor(t)
	if pool {
		ex = coretest.NewPool(t, 1)
	}
	var j coretest.Journal
	added := 0
	var do func(steps []hookStep)
	do = func(steps []hookStep) {
		for _, s := range steps {
			if s.add == nil {
				ex.Shutdown()
				continue
			}
			n := added
			added++
			if _, err := ex.AddShutdownHook(func() { j.Add(fmt.Sprint("hook", n)); do(*s.add) }); err != nil {
				coretest.WantErr(t, "the error of a hook that is refused", err, core.ErrShutdown)
				j.Add(fmt.Sprint("no", n))
			}
		}
	}
	do(hooks)
	coretest.MustShutdownGracefully(t, ex, time.Second, time.Hour)
	coretest.AwaitDone(t, ex)
	return j.String()
}

// specOfHooks returns what playHooks must return.
func specOfHooks(hooks []hookStep) string {
	type hook struct {
		n     int
		steps []hookStep
		late  bool
	}
	var log []string
	var waiting []hook
	closed, added := false, 0
	do := func(steps []hookStep, late bool) {
		for _, s := range steps {
			switch n := added; {
			case s.add == nil:
				closed = true
				continue
			case closed && late:
				log = append(log, fmt.Sprint("no", n))
			default:
				waiting = append(waiting, hook{n, *s.add, closed})
			}
			added++
		}
	}
	for do(hooks, false); len(waiting) > 0; {
		h := waiting[0]
		waiting = waiting[1:]
		log = append(log, fmt.Sprint("hook", h.n))
		do(h.steps, h.late)
	}
	return strings.Join(log, " ")
}
