package core_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// TestPropG9PromiseMethods compares what the methods of a promise and of its future return with a specification, for each home:
// none, an executor, a pool or a group that runs, has not started or has ended. Each channel that Done returns is closed when
// the future is complete and not before; each listener is called once with the result, in order (G8, G9, G18).
func TestPropG9PromiseMethods(t *testing.T) {
	ops := rapid.SliceOfN(rapid.SampledFrom([]string{
		"done", "done", "wait", "wait", "cancel", "succeed", "fail", "fail with nil", "uncancellable", "listen", "listen", "listen with nil",
	}), 1, 15)
	rapid.Check(t, func(rt *rapid.T) {
		home := rapid.SampledFrom([]string{"none", "executor", "pool", "group"}).Draw(rt, "home")
		state := rapid.SampledFrom([]string{"runs", "runs", "not started", "ended"}).Draw(rt, "state")
		program := ops.Draw(rt, "operations")
		checkInBubble(t, rt, func(t *testing.T) string { return (&promisePlay{}).run(t, homeOf(t, home, state), program) })
	})
}

// homeOf returns an executor of a kind, in a state; "none" is a nil one.
func homeOf(t *testing.T, kind, state string) (ex core.EventExecutor) {
	switch kind {
	case "none":
		return nil
	case "executor":
		ex = coretest.NewExecutor(t)
	case "pool":
		ex = coretest.NewPool(t, 1)
	case "group":
		ex = coretest.NewExecutorGroup(t, 1)
	}
	if state != "not started" {
		coretest.OnLoop(t, ex, func() {})
	}
	if state == "ended" {
		ex.Shutdown()
		coretest.AwaitDone(t, ex)
	}
	return ex
}

// promisePlay has the promise and what its specification says.
type promisePlay struct {
	over, uncancellable bool
	value               int
	err                 error
	channels            []<-chan struct{}
	listeners           int
	called              []int
	wrong               string
}

// complete specifies a call that completes the promise unless it is complete.
func (p *promisePlay) complete(v int, err error) (completes bool) {
	if completes = !p.over; completes {
		p.over, p.value, p.err = true, v, err
	}
	return completes
}

// run returns a description of the first difference, or "".
func (p *promisePlay) run(t *testing.T, home core.EventExecutor, program []string) string {
	promise := core.NewPromise[int](home)
	f := promise.Future()
	ended, cancel := context.WithCancelCause(context.Background())
	cancel(errFuture)
	for i, op := range program {
		got, want := false, false
		switch op {
		case "done":
			p.channels = append(p.channels, f.Done())
		case "wait": // the context has ended: a complete future must not lose against it
			v, err := f.Wait(ended)
			if p.over && (v != p.value || err != p.err) || !p.over && (v != 0 || err != errFuture) {
				return fmt.Sprintf("step %d of %v: Wait returns %d, %v; want %d, %v if it is complete: %v", i, program, v, err, p.value, p.err, p.over)
			}
		case "cancel":
			want = !p.uncancellable && p.complete(0, core.ErrCancelled)
			got = f.Cancel()
		case "succeed":
			want = p.complete(i+1, nil)
			got = promise.TrySuccess(i + 1)
		case "fail":
			want = p.complete(0, fmt.Errorf("failure %d", i))
			got = promise.TryFailure(errorOf(p, want))
		case "fail with nil":
			got = promise.TryFailure(nil)
		case "uncancellable":
			want = !p.over || p.err != core.ErrCancelled
			p.uncancellable = true
			got = promise.SetUncancellable()
		case "listen":
			p.listen(f)
		default:
			f.OnDone(nil)
		}
		synctest.Wait()
		if got != want {
			return fmt.Sprintf("G8: step %d of %v returns %v, want %v", i, program, got, want)
		}
		if wrong := p.differs(f); wrong != "" {
			return fmt.Sprintf("step %d of %v: %s", i, program, wrong)
		}
	}
	return ""
}

// errorOf returns the error that the specification has just taken, or another one.
func errorOf(p *promisePlay, taken bool) error {
	if taken {
		return p.err
	}
	return errors.New("too late")
}

func (p *promisePlay) listen(f *core.Future[int]) {
	n := p.listeners
	p.listeners++
	f.OnDone(func(v int, err error) {
		p.called = append(p.called, n)
		if v != p.value || err != p.err {
			p.wrong = fmt.Sprintf("G9: listener %d gets %d, %v; want %d, %v", n, v, err, p.value, p.err)
		}
	})
}

func (p *promisePlay) differs(f *core.Future[int]) string {
	for i, done := range p.channels {
		closed := false
		select {
		case <-done:
			closed = true
		default:
		}
		if closed != p.over {
			return fmt.Sprintf("G9: channel %d of Done is closed: %v, want %v", i, closed, p.over)
		}
	}
	called := 0
	if p.over {
		called = p.listeners
	}
	if !slices.Equal(p.called, firstNumbers(called)) {
		return fmt.Sprintf("G9: the listeners %v were called, want 0 to %d", p.called, called-1)
	}
	return p.wrong
}
