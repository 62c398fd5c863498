package props

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"eventide/core"
	"eventide/props/history"

	"github.com/petermattis/goid"
)

// An Aside is a stretch of a run in which a goroutine made calls from a function that the log
// does not show: to the predicates they are calls of that goroutine like any other.
type Aside struct {
	Context   string
	Goroutine int64
	From, To  int // events in the log before and after it
}

// The contexts of asides.
const (
	inSpawner   = "spawner"
	onOtherLoop = "other loop"
)

// has reports whether the event is part of the aside.
func (a *Aside) has(e *history.Event) bool {
	return a.Goroutine == e.G && a.From < e.N && e.N <= a.To
}

// Labels of functions of the user as listeners of the log. Like a listener they do not restart the quiet
// period, and unless the loop has ended they run on it.
const (
	handlerID     = 1 << 28 // the panic handler
	postID        = handlerID + 1
	endListenerID = handlerID + 2 // the function of Termination.OnDone

	closeListenerID = handlerID + 3 // a second function of Registration.OnClose
)

// aside runs f as an aside.
func (h *harness) aside(context string, f func()) {
	a := Aside{Context: context, Goroutine: goid.Get(), From: h.rec.log.Len()}
	h.mu.Lock()
	if h.spawning == nil {
		h.spawning = map[int64]int{}
	}
	h.spawning[a.Goroutine] += one(context == inSpawner)
	h.mu.Unlock()
	defer func() {
		a.To = h.rec.log.Len()
		h.mu.Lock()
		defer h.mu.Unlock()
		h.spawning[a.Goroutine] -= one(context == inSpawner)
		h.asides = append(h.asides, a)
	}()
	f()
}

// mustNotWait returns the error of a call that would wait for the executor on a goroutine for which the executor
// waits, or nil.
func (h *harness) mustNotWait() error {
	if h.ex.InEventLoop() {
		return core.ErrInEventLoop
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.spawning[goid.Get()] > 0 {
		return core.ErrStarting
	}
	return nil
}

// waited is the outcome of a call that waits for the end. A worker that starts another one calls the spawner between two
// bodies, where the log does not show that it is on the loop.
func (h *harness) waited(err error) history.Outcome {
	if want := h.mustNotWait(); want != nil && !errors.Is(err, want) && !isClosed(h.ex.Termination().Done()) {
		h.blame("G18: a call that waits for the end, on a goroutine for which the executor waits, returns %v, want %v", err, want)
	}
	out := waited(err)
	if out != history.RefusedInLoop || h.rec.insideBody() {
		return out
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.spawning[goid.Get()] > 0 {
		return history.RefusedStarting
	}
	return out
}

// elsewhere makes the calls of a step in a body of another executor, and waits for it. To the executor of the
// run the loop of the other one is a goroutine like any other.
func (h *harness) elsewhere(s Step) {
	if h.mustNotWait() != nil || h.onOther() {
		return // the other loop may wait for this goroutine
	}
	h.mu.Lock()
	other := h.other.Load()
	if other == nil {
		var err error
		if other, err = core.NewExecutor(core.WithLogger(slog.New(slog.DiscardHandler))); err != nil {
			panic(err) // there is no option that could be wrong
		}
		h.other.Store(other)
	}
	h.mu.Unlock()
	done := core.Submit(other, func() (int, error) {
		growStack(false)
		h.aside(onOtherLoop, func() { h.steps(s.Body.Steps, false) })
		return 0, nil
	})
	if _, err := done.Wait(context.Background()); err != nil {
		h.blame("a body of another executor that makes calls ends with %v", err)
	}
}

// onOther reports whether the caller is a body of the other executor.
func (h *harness) onOther() bool {
	other := h.other.Load()
	return other != nil && other.InEventLoop()
}

// stopOther ends the other executor, if there is one.
func (h *harness) stopOther() {
	if other := h.other.Load(); other != nil {
		_ = other.Close() // its bodies have ended, so it ends in time
	}
}

// askWait waits for a future with a context that is open. On a goroutine for which the executor waits Wait returns
// at once.
func (h *harness) askWait(s Step) {
	f := h.futureOf(s.Target)
	ctx, stop := context.WithTimeout(context.Background(), s.Delay)
	defer stop()
	refused, done, from := h.mustNotWait(), isClosed(f.Done()), time.Now()
	_, err := f.Wait(ctx)
	took := time.Since(from)
	complete := isClosed(f.Done())
	late := errors.Is(err, context.DeadlineExceeded)
	switch {
	case errors.Is(err, core.ErrInEventLoop), errors.Is(err, core.ErrStarting):
		if done || refused == nil || !errors.Is(err, refused) {
			h.blame("Wait of future %d returns %v, want %v; done: %v", s.Target, err, refused, done)
		}
	case late && (done || refused != nil), !late && !complete:
		h.blame("Wait of future %d returns %v; done before: %v, and after: %v", s.Target, err, done, complete)
	case h.real:
	case late && took != s.Delay, done && took != 0, took > s.Delay:
		h.blame("Wait of future %d with a context that ends after %v returns %v after %v; done before: %v", s.Target, s.Delay, err, took, done)
	}
	if refused != nil && took != 0 && !h.real {
		h.blame("Wait of future %d takes %v on a goroutine for which the executor waits", s.Target, took)
	}
}

// futureOf returns the future of a Submit or of a promise, or nil.
func (h *harness) futureOf(id int) *core.Future[int] {
	h.mu.Lock()
	f := h.futures[id]
	h.mu.Unlock()
	if p := h.promises.of(id); f == nil && p != nil {
		return p.p.Future()
	}
	return f
}

// askInvoke calls InvokeAll and InvokeAny. On a goroutine for which the executor waits they return at once, and submit
// nothing. Elsewhere they get no functions: the programs of Invocation make the other calls.
func (h *harness) askInvoke() {
	refused := h.mustNotWait()
	var fs []func() (int, error)
	if refused != nil {
		fs = append(fs, func() (int, error) {
			h.blame("a function of InvokeAll or InvokeAny runs, and the call was refused with %v", refused)
			return 0, nil
		})
	}
	futures, err := core.InvokeAll(context.Background(), h.ex, fs...)
	if !errors.Is(err, refused) || len(futures) > 0 {
		h.blame("InvokeAll of %d functions returns %d futures and %v, want %v", len(fs), len(futures), err, refused)
	}
	_, err = core.InvokeAny(context.Background(), h.ex, fs...)
	if refused != nil && !errors.Is(err, refused) || refused == nil && (err == nil || !strings.Contains(err.Error(), "got 0 functions")) {
		h.blame("InvokeAny of %d functions returns %v, want %v", len(fs), err, refused)
	}
}

// askRunning compares Running with the body that calls it.
func (h *harness) askRunning() {
	own, ended := h.rec.insideBody(), h.ex.State() == core.StateTerminated
	switch text := h.ex.Running(); {
	case own && !strings.Contains(text, "askRunning"):
		h.blame("a body calls Running, and its stack is not in %q", text)
	case ended && text != "":
		h.blame("the executor has terminated, and Running is %q", text)
	}
}

// userFunction runs the script of a function of the user that the log has as a listener.
func (h *harness) userFunction(id int, script *Script) {
	if script == nil {
		return
	}
	ev := history.Event{Kind: history.Begin, Body: history.BodyListener, ID: id, InLoop: h.ex.InEventLoop()}
	h.rec.log.Add(ev)
	end := h.endOf(script, ev.InLoop)
	if id == endListenerID {
		h.lastCalls.Store(true)
	}
	ev.Kind, ev.Outcome = history.End, end
	h.rec.log.Add(ev)
	finish(end)
}

// waitForListeners waits for the listeners that are called after Done: one that is never called leaves the program
// blocked (G24). If one has a script, its panic is counted after it has ended, and the listeners of a promise that
// it completes run behind it and take time.
func (h *harness) waitForListeners() {
	h.endings.Wait()
	if h.lastCalls.Load() {
		time.Sleep(patience)
	}
}
