package props

import (
	"context"
	"errors"

	"eventide/core"
	"eventide/props/history"
)

// submit submits the step's body. listen, unless it is nil, gives its future a listener.
func (h *harness) submit(s Step) (out history.Outcome, listen func()) {
	body := h.body(history.BodyTask, s)
	f := core.Submit(h.ex, func() (int, error) { body(); return s.ID, nil })
	if s.Body.Listen {
		listen = func() { h.onDone(s, f) }
	}
	// Only a refused future is complete with this error.
	if _, err := f.Wait(expired); errors.Is(err, core.ErrRejected) {
		return answer(err), listen
	}
	h.mu.Lock()
	h.futures[s.ID] = f
	h.mu.Unlock()
	return history.Accepted, listen
}

// onDone gives the future a listener.
func (h *harness) onDone(s Step, f *core.Future[int]) {
	h.mu.Lock()
	h.notes[s.ID]++
	n := h.notes[s.ID]
	h.mu.Unlock()
	h.rec.call(history.Event{Op: history.OpListen, ID: s.ID}, func() history.Outcome {
		f.OnDone(func(int, error) { h.listener(s, n) })
		return history.Returned
	})
}

// listenLate gives a future, if it is one, a listener with nothing to do.
func (h *harness) listenLate(id int) {
	h.mu.Lock()
	f := h.futures[id]
	h.mu.Unlock()
	if f != nil {
		h.onDone(Step{ID: id, Body: &Script{}}, f)
	}
}

// expired is a context that has ended: Wait with it looks and does not wait.
var expired = func() context.Context {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	return ctx
}()
