package core_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"eventide/core"
	"eventide/core/internal/coretest"

	"github.com/petermattis/goid"
	"pgregory.net/rapid"
)

// TestPropMeterNamesEachRun: in a body, a meter of its executor names one run: its kind, its goroutine, and a
// number that no other run of the kind has. Between bodies it names none. An executor numbers from 1, in the
// order of the runs: its tasks, its tail tasks, those that were cancelled included, and its other bodies.
// Running names the same body, with its stack (G11).
func TestPropMeterNamesEachRun(t *testing.T) {
	kinds := map[string]core.Body{
		"task": core.BodyTask, "tail": core.BodyTail, "timer": core.BodyTimer, "listener": core.BodyListener,
		"hook": core.BodyHook, "cancelled": core.BodyNone,
	}
	program := rapid.SliceOfN(rapid.SampledFrom([]string{"task", "tail", "timer", "listener", "hook", "cancelled"}), 1, 20)
	rapid.Check(t, func(rt *rapid.T) {
		steps, together, pool := program.Draw(rt, "steps"), rapid.Bool().Draw(rt, "posted together"), rapid.Bool().Draw(rt, "pool")
		checkInBubble(t, rt, func(t *testing.T) (wrong string) {
			var ex interface {
				metered
				Running() string
			}
			if pool {
				ex = coretest.NewPool(t, 1, core.WithName("bakery"))
			} else {
				ex = coretest.NewExecutor(t, core.WithName("bakery"))
			}
			if text := ex.Running(); text != "" {
				wrong = fmt.Sprintf("G11: before the first body Running is %q", text)
			}
			m, seen := ex.NewMeter(), map[core.RunningBody]bool{}
			tasks, tails, others := int64(0), int64(0), int64(0)
			check := func(kind string) func() {
				number := int64(-1)
				switch kind {
				case "task":
					tasks++
					number = tasks
				case "tail":
					tails++
					number = tails
				}
				return func() {
					if number < 0 {
						others++
					}
					running := m.Read().Running
					if len(running) != 1 || running[0].Kind != kinds[kind] || running[0].Goroutine != goid.Get() {
						wrong = fmt.Sprintf("in a body, a %s, of %v, the meter has %v", kind, steps, running)
						return
					}
					if text, stack, _ := strings.Cut(ex.Running(), "\n"); text != runningText(kinds[kind], pool) || !strings.Contains(stack, "TestPropMeterNamesEachRun") {
						wrong = fmt.Sprintf("G11: in a body, a %s, of %v, Running is %q and a stack %q", kind, steps, text, stack)
						return
					}
					run := running[0]
					run.Goroutine = 0
					want := number
					if want < 0 {
						want = others
					}
					if !pool && run.Number != want {
						wrong = fmt.Sprintf("a %s of %v is run %d, want %d", kind, steps, run.Number, want)
					}
					if seen[run] {
						wrong = fmt.Sprintf("two bodies of %v are the run %v", steps, run)
					}
					seen[run] = true
				}
			}
			coretest.OnLoop(t, ex, check("task"))
			post := func(kind string) {
				switch loop, _ := ex.(*core.Executor); {
				case kind == "cancelled":
					tasks++
					core.Submit(ex, func() (int, error) { return 0, nil }).Cancel()
				case kind == "hook":
					_, err := ex.(hooked).AddShutdownHook(check(kind))
					coretest.Must(t, err)
				case kind == "timer":
					mustSchedule(t, ex, 0, check(kind))
				case kind == "listener":
					p := core.NewPromise[int](ex)
					p.Future().OnDone(func(int, error) { check(kind)() })
					p.TrySuccess(1)
				case kind == "tail" && loop != nil:
					mustTail(t, loop, check(kind))
				default:
					coretest.MustExecute(t, ex, check("task"))
				}
			}
			if together {
				tasks++
				coretest.OnLoop(t, ex, func() {
					for _, kind := range steps {
						post(kind)
					}
				})
			} else {
				for _, kind := range steps {
					post(kind)
				}
			}
			synctest.Wait()
			if running := m.Read().Running; len(running) != 0 && wrong == "" {
				wrong = fmt.Sprintf("behind the bodies of %v the meter has %v", steps, running)
			}
			if text := ex.Running(); text != "" && wrong == "" {
				wrong = fmt.Sprintf("G11: behind the bodies of %v Running is %q", steps, text)
			}
			ex.Shutdown()
			coretest.AwaitDone(t, ex)
			return wrong
		})
	})
}

// runningText is the first line of Running in a body.
func runningText(kind core.Body, pool bool) string {
	noun := kind.String()
	if kind == core.BodyTail {
		noun = "tail task"
	}
	if pool {
		return "bakery: a " + noun + " has been running for 0s:"
	}
	return "bakery: a " + noun + " is running:"
}
