package props

import (
	"sync/atomic"

	"eventide/core"
	"eventide/props/history"
)

// closeNotice is the listener of the harness for the end of the registration of a step. It runs the script of the
// step's listener.
func (h *harness) closeNotice(s Step, err error) {
	ev := history.Event{Kind: history.Begin, Body: history.BodyListener, ID: s.ID, InLoop: h.ex.InEventLoop()}
	h.rec.log.Add(ev)
	out, end := history.Normal, history.Normal
	if err != nil {
		out = history.Errored
	}
	h.rec.log.Add(history.Event{Kind: history.Complete, ID: s.ID, Outcome: out})
	if l := s.listener(); l != nil {
		end = h.endOf(l, ev.InLoop)
	}
	ev.Kind, ev.Outcome = history.End, end
	h.rec.log.Add(ev)
	finish(end)
}

// onClose adds one more listener to a registration, which has a script. It is called once, on the loop unless that
// has ended, and only when the registration has ended.
func (h *harness) onClose(id int, r *registration, script *Script) {
	r.mu.Lock()
	reg := r.reg
	r.mu.Unlock()
	h.endings.Add(1)
	var called atomic.Bool
	reg.OnClose(func(error) {
		if called.Swap(true) {
			h.blame("a listener of registration %d was called twice", id)
			return
		}
		defer h.endings.Done()
		inside := h.ex.InEventLoop()
		if state := h.ex.State(); !inside && state < core.StateShutdown {
			h.blame("a listener of registration %d runs outside of the loop in state %v", id, state)
		}
		if open := reg.Post(func() {}); open {
			h.blame("a listener of registration %d is called, and the registration is open", id)
		}
		h.userFunction(closeListenerID, script)
	})
}
