package core_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// quietStep posts something to the loop at a time: a body that returns or panics, a submitted function that is
// cancelled at once, or a listener.
type quietStep struct {
	at, takes time.Duration
	kind      string // body, panic, cancelled or listener
}

// handlerTakes is what the panic handler of the property takes.
const handlerTakes = 350 * time.Millisecond

// TestPropG10QuietPeriod compares when a graceful shutdown closes admission with a specification: quiet after the
// call and after the end of the last body, and not while the loop runs something. Neither a listener, nor the
// panic handler, nor a function that was cancelled restarts the quiet period.
func TestPropG10QuietPeriod(t *testing.T) {
	millis := func(t *rapid.T, label string, most int) time.Duration {
		return time.Duration(rapid.IntRange(0, most).Draw(t, label)) * 100 * time.Millisecond
	}
	rapid.Check(t, func(rt *rapid.T) {
		kind := rapid.SampledFrom([]string{"task", "tail", "timer", "hook"}).Draw(rt, "kind of the bodies")
		pool := (kind == "task" || kind == "timer") && rapid.Bool().Draw(rt, "pool of one worker")
		call, quiet := millis(rt, "call", 9), millis(rt, "quiet", 12)
		if kind == "hook" {
			call = 0 // hooks wait for it
		}
		steps := make([]quietStep, rapid.IntRange(0, 8).Draw(rt, "steps"))
		at, listeners := time.Duration(0), 0
		for i := range steps {
			at += millis(rt, "later", 8) + time.Microsecond // no two at one instant
			s := quietStep{at, millis(rt, "takes", 6) + time.Duration(i*97), rapid.SampledFrom([]string{"body", "panic", "cancelled", "listener"}).Draw(rt, "kind")}
			if s.kind == "listener" || pool && s.kind == "cancelled" { // a listener cancels the function
				if listeners++; listeners > 1 { // the order of two depends on how the bodies are batched, and a pool runs a task between them
					s.kind = "body"
				}
			}
			steps[i] = s
		}
		owned := rapid.Bool().Draw(rt, "clock of the user")
		checkInBubble(t, rt, func(t *testing.T) string {
			got, want := playQuiet(t, kind, call, quiet, owned, pool, steps), closeOfQuiet(call, quiet, steps)
			if got != want {
				return fmt.Sprintf("G10: a call at %v with a quiet period of %v closes at %v, want %v: %s, %v", call, quiet, got, want, kind, steps)
			}
			return ""
		})
	})
}

// playQuiet returns when admission is closed.
func playQuiet(t *testing.T, kind string, call, quiet time.Duration, owned, pool bool, steps []quietStep) time.Duration {
	opts := []core.Option{
		core.WithTimersAtShutdown(core.RunTimersUntilTimeout),
		core.WithPanicHandler(func(*core.PanicError) { time.Sleep(handlerTakes) }),
	}
	if owned {
		opts = append(opts, core.WithClock(slowAlarms{}))
	}
	var ex core.EventExecutor
	if pool {
		ex = coretest.NewPool(t, 1, opts...)
	} else {
		ex = coretest.NewExecutor(t, opts...)
	}
	coretest.OnLoop(t, ex, func() {})
	synctest.Wait()
	start := time.Now()
	time.AfterFunc(call, func() { coretest.MustShutdownGracefully(t, ex, quiet, time.Hour) })
	for _, s := range steps {
		time.AfterFunc(s.at, func() { // what comes too late is refused
			listen := func(listener func()) {
				p := core.NewPromise[int](ex)
				p.Future().OnDone(func(int, error) { listener() })
				if ex.Context().Err() == nil {
					p.TrySuccess(1)
				}
			}
			switch body := sleeper(s.takes); {
			case s.kind == "listener":
				listen(body)
			case s.kind == "cancelled": // on the loop, or the function could begin before Cancel
				listen(func() { core.Submit(ex, func() (int, error) { return 0, nil }).Cancel() })
			case s.kind == "panic":
				_ = postQuiet(ex, kind, func() { body(); panic("a body") })
			default:
				_ = postQuiet(ex, kind, body)
			}
		})
	}
	<-ex.Context().Done()
	closed := time.Since(start)
	coretest.AwaitDone(t, ex)
	coretest.Must(t, ex.Termination().Err())
	time.Sleep(time.Hour)
	return closed
}

func postQuiet(ex core.EventExecutor, kind string, body func()) (err error) {
	switch kind {
	case "tail":
		err = ex.(*core.Executor).ExecuteAfterIteration(body)
	case "timer":
		_, err = ex.Schedule(0, body)
	case "hook":
		_, err = ex.(*core.Executor).AddShutdownHook(body)
	default:
		err = ex.Execute(body)
	}
	return err
}

// closeOfQuiet returns what playQuiet must return.
func closeOfQuiet(call, quiet time.Duration, steps []quietStep) time.Duration {
	var bodies, listeners []quietStep // that wait
	now, last := time.Duration(0), time.Duration(0)
	post := func() {
		for len(steps) > 0 && steps[0].at <= now {
			switch s := steps[0]; s.kind {
			case "listener":
				listeners = append(listeners, s)
			case "body", "panic":
				bodies = append(bodies, s)
			}
			steps = steps[1:]
		}
	}
	listen := func() {
		post()
		for _, l := range listeners {
			now += l.takes
		}
		listeners = nil
		post()
	}
	for {
		listen()
		if len(bodies) > 0 {
			b := bodies[0]
			bodies = bodies[1:]
			now += b.takes
			last = now
			if b.kind == "panic" {
				now += handlerTakes
			}
			continue
		}
		closes := max(now, max(call, last)+quiet)
		if len(steps) == 0 || steps[0].at >= closes {
			return closes
		}
		now = max(now, steps[0].at)
	}
}
