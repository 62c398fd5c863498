package core

import (
	"log/slog"
	"sync"

	"github.com/petermattis/goid"
)

// trampoline calls listeners that cannot run on a loop: the loop has ended or was not
// started, it refused the task, or there is no executor. Each listener runs on the goroutine
// that completed the future, or that added the listener after that (G9). Plain calls would nest
// without bound if each listener completed the next future. So the outermost call of offLoop on
// a goroutine owns a trampoline, and calls inside it only append to it.
type trampoline struct {
	calls []offLoopCall // accessed by its goroutine only
}

type offLoopCall struct {
	call    func()
	onPanic func(*PanicError)
}

var trampolines sync.Map // goroutine id -> *trampoline

// offLoop makes calls in order on the calling goroutine: now, or, if a trampoline already
// runs on this goroutine, after the calls that it holds. A panic is recovered and passed
// to onPanic, or logged if onPanic is nil.
func offLoop(onPanic func(*PanicError), calls ...func()) {
	id := goid.Get()
	var t *trampoline
	v, inside := trampolines.Load(id)
	if inside {
		t = v.(*trampoline)
	} else {
		t = new(trampoline)
	}
	for _, call := range calls {
		t.calls = append(t.calls, offLoopCall{call, onPanic})
	}
	if !inside && len(t.calls) > 0 {
		trampolines.Store(id, t)
		t.run(id)
	}
}

// resumeOffLoop queues call in front of the remaining calls of the running trampoline, and
// returns true. It returns false, and has no effect, if no trampoline runs on this goroutine.
func resumeOffLoop(onPanic func(*PanicError), call func()) bool {
	v, inside := trampolines.Load(goid.Get())
	if inside {
		t := v.(*trampoline)
		t.calls = append([]offLoopCall{{call, onPanic}}, t.calls...)
	}
	return inside
}

// run makes all calls. If a call ends the goroutine by runtime.Goexit, the deferred call
// makes the others, so that each listener is called exactly once.
func (t *trampoline) run(id int64) {
	defer func() {
		if len(t.calls) > 0 {
			t.run(id)
			return
		}
		trampolines.Delete(id)
	}()
	for len(t.calls) > 0 {
		c := t.calls[0]
		t.calls = t.calls[1:]
		c.do()
	}
}

func (c offLoopCall) do() {
	defer func() {
		v := recover()
		switch {
		case v == nil:
		case c.onPanic != nil:
			c.onPanic(newPanicError(v))
		default:
			logListenerPanic(newPanicError(v))
		}
	}()
	c.call()
}

// logListenerPanic logs the panic of a listener that has no executor, and so no panic
// handler. It ignores a panic of the logger.
func logListenerPanic(p *PanicError) {
	defer func() { _ = recover() }()
	slog.Error("panic in a listener", "panic", p.Value, "stack", string(p.Stack))
}
