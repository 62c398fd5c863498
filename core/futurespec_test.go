package core_test

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

var errFuture = errors.New("the body of a future failed")

// keeping is an executor that keeps what it accepts.
type keeping struct {
	core.EventExecutor
	kept []func()
}

func (k *keeping) Execute(f func()) error {
	k.kept = append(k.kept, f)
	return nil
}

// futureBodies are the bodies of futures, by how they end.
var futureBodies = map[string]func() (int, error){
	"value":  func() (int, error) { return 7, nil },
	"error":  func() (int, error) { return 0, errFuture },
	"panic":  func() (int, error) { panic(errFuture) },
	"Goexit": func() (int, error) { runtime.Goexit(); return 0, nil },
}

// keptFuture is a future whose task a wrapper keeps, and runs as a task of the executor, inside
// another task, as a task of another executor, or on a goroutine of no executor.
type keptFuture struct {
	end, on   string
	cancelled bool // before its task runs
}

// TestPropG8Futures: wherever a wrapper runs the task of a future, a cancelled one never begins, and any other
// one begins once, completes with its result and cannot be cancelled then. A task counts as cancelled only
// if it is the task of a cancelled future itself, and panics on the executor are reported. Another executor has run the task
// (G3, G8, G14, G20).
func TestPropG8Futures(t *testing.T) {
	ends := sortedKeys(futureBodies)
	futures := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) keptFuture {
		return keptFuture{
			end: rapid.SampledFrom(ends).Draw(t, "end"), on: rapid.SampledFrom([]string{"task", "inside", "another executor", "elsewhere"}).Draw(t, "on"),
			cancelled: rapid.Bool().Draw(t, "cancelled"),
		}
	}), 1, 8)
	rapid.Check(t, func(rt *rapid.T) {
		pool := rapid.Bool().Draw(rt, "pool")
		program := futures.Draw(rt, "futures")
		checkInBubble(t, rt, func(t *testing.T) string { return runFutureSpec(t, pool, program) })
	})
}

func runFutureSpec(t *testing.T, pool bool, program []keptFuture) string {
	var log panicLog
	var k keeping
	if pool {
		k.EventExecutor = coretest.NewPool(t, 1, core.WithPanicHandler(log.handle))
	} else {
		k.EventExecutor = coretest.NewExecutor(t, core.WithPanicHandler(log.handle))
	}
	var want core.Stats
	other, ranByOther := coretest.NewExecutor(t, core.WithPanicHandler(log.handle)), int64(0)
	for i, p := range program {
		begun := 0
		f := core.Submit(&k, func() (int, error) { begun++; return futureBodies[p.end]() })
		if p.cancelled && !f.Cancel() {
			return fmt.Sprintf("G8: future %d, %+v cannot be cancelled", i, p)
		}
		task := k.kept[len(k.kept)-1]
		switch p.on {
		case "task":
			coretest.Must(t, k.EventExecutor.Execute(task))
		case "inside":
			coretest.Must(t, k.EventExecutor.Execute(func() { task() }))
		case "another executor":
			coretest.Must(t, other.Execute(task))
			ranByOther++
		default:
			go task()
		}
		synctest.Wait()
		switch {
		case p.cancelled && p.on == "task":
			want.Cancelled++
		case p.on == "task" || p.on == "inside":
			want.Ran++
			if p.end == "panic" && !p.cancelled {
				want.Panicked++
			}
		}
		v, err := f.Wait(neverEnds)
		if wrong := judgeFuture(p, v, err); wrong != "" || f.Cancel() || (begun == 1) == p.cancelled || begun > 1 {
			return fmt.Sprintf("G8: future %d, %+v began %d times, and has %d, %v %s", i, p, begun, v, err, wrong)
		}
		if s := other.Stats(); s.Ran != ranByOther || s.Cancelled != 0 || s.Panicked != 0 {
			return fmt.Sprintf("G20: after future %d, %+v, another executor has %+v, want %d that ran", i, p, s, ranByOther)
		}
		got := k.Stats()
		if got.Cancelled != want.Cancelled || got.Ran != want.Ran || got.Panicked != want.Panicked || int64(len(log.all())) != want.Panicked {
			return fmt.Sprintf("G20: after future %d, %+v: %d ran, %d were cancelled, %d panicked, %d panics were reported; want %d, %d, %d", i, p,
				got.Ran, got.Cancelled, got.Panicked, len(log.all()), want.Ran, want.Cancelled, want.Panicked)
		}
	}
	return ""
}

// judgeFuture compares the result of a future with what its body did.
func judgeFuture(p keptFuture, v int, err error) string {
	var panicked *core.PanicError
	isPanic := errors.As(err, &panicked) && panicked.Value == errFuture
	switch {
	case p.cancelled && err == core.ErrCancelled && v == 0:
	case p.cancelled:
		return "want ErrCancelled"
	case p.end == "value" && (v != 7 || err != nil), p.end == "error" && err != errFuture,
		p.end == "panic" && !isPanic, p.end == "Goexit" && err != core.ErrGoexit:
		return "want its result"
	}
	return ""
}
