package props

import (
	"context"
	"errors"

	"eventide/core"
	"eventide/props/history"
)

// submit submits the step's body. listen adds a listener to the future; nil: no listener.
func (h *harness) submit(s Step) (out history.Outcome, listen func()) {
	body := h.body(history.BodyTask, s)
	f := core.Submit(h.ex, func() (int, error) { body(); return s.ID, nil })
	if s.Body.Listen {
		listen = func() { h.onDone(s, f) }
	}
	// A future with this error was refused: any other future is not complete yet, or has
	// another error.
	if _, err := f.Wait(expired); errors.Is(err, core.ErrRejected) {
		return answer(h.refusal(err)), listen
	}
	h.mu.Lock()
	h.futures[s.ID] = f
	h.mu.Unlock()
	return history.Accepted, listen
}

// onDone adds a listener to the future.
func (h *harness) onDone(s Step, f *core.Future[int]) {
	h.mu.Lock()
	h.listeners[s.ID]++
	n := h.listeners[s.ID]
	h.mu.Unlock()
	h.rec.call(history.Event{Op: history.OpListen, ID: s.ID}, func() history.Outcome {
		f.OnDone(func(int, error) { h.listener(s, n) })
		return history.Returned
	})
}

// listenLate adds a listener without steps, if the label is that of a future.
func (h *harness) listenLate(id int) {
	h.mu.Lock()
	f := h.futures[id]
	h.mu.Unlock()
	if f != nil {
		h.onDone(Step{ID: id, Body: &Script{}}, f)
	}
}

// expired is a context that has ended, so that Wait returns at once.
var expired = func() context.Context {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	return ctx
}()
