package props

import (
	"context"
	"time"

	"eventide/core"
	"eventide/internal/vocabulary"
	"eventide/props/history"
)

// extraIDs is the first label of tasks that are not part of the program.
const extraIDs = 1 << 20

// extraTask returns a task of the harness itself.
func (h *harness) extraTask() Step {
	return Step{Op: history.OpExecute, ID: int(extraIDs + h.extra.Add(1)), Body: &Script{}}
}

// steps makes the calls of an actor, or of a body.
func (h *harness) steps(steps []Step, wait bool) {
	for _, s := range steps {
		if wait && s.Wait > 0 {
			time.Sleep(s.Wait)
		}
		h.call(s)
		for i := 1; i < s.Times; i++ {
			again := s
			again.ID = h.extraTask().ID
			if s.FD != 0 {
				again.FD += i
			}
			h.call(again)
		}
		h.sample()
	}
}

// call makes one call and records it.
func (h *harness) call(s Step) {
	inv := history.Event{
		Op: s.Op, ID: max(s.ID, s.Target), Delay: s.Delay, Period: s.Period, Quiet: s.Quiet, Timeout: s.Timeout,
	}
	if s.Op == history.OpClose {
		inv.Timeout = core.DefaultShutdownTimeout
	}
	switch {
	case s.Env != "":
		h.apply(s)
		return
	case s.Ask != "":
		h.ask(s)
		return
	case s.Op == history.OpEnd:
		h.closeRegistration(s.Target)
		return
	case s.Op == history.OpListen:
		h.listenLate(s.Target)
		return
	case s.Op == history.OpModify:
		h.modify(s)
		return
	case s.Op == history.OpAfterIteration && h.single() == nil:
		return // a pool has no turns
	case s.Op.Registers() && h.fds.loop == nil:
		return // minimising may have removed the event loop
	case s.Op == history.OpState:
		h.observeState()
		return
	case s.Op == history.OpCancel || s.Op == history.OpReset || s.Op == history.OpRemoveHook:
		if !h.claim(s) {
			return // not submitted yet, or refused: there is nothing to cancel
		}
		defer h.release(s)
	}
	var listen func() // added after the call: a refused future calls it at once
	h.rec.call(inv, func() (out history.Outcome) {
		if s.Op == history.OpSubmit {
			out, listen = h.submit(s)
			return out
		}
		return h.do(s)
	})
	if listen != nil {
		listen()
	}
	if s.Op.Registers() {
		h.listen(s)
	}
}

func (h *harness) observeState() {
	n := h.rec.log.Add(history.Event{Kind: history.Invoke, Op: history.OpState})
	state := h.ex.State()
	h.rec.log.Add(history.Event{Kind: history.Return, Op: history.OpState, Call: n, To: state, Outcome: history.Returned})
	h.look()
}

func (h *harness) do(s Step) history.Outcome {
	switch s.Op {
	case history.OpExecute:
		if s.Try {
			return answer(h.refusal(h.ex.TryExecute(h.body(history.BodyTask, s))))
		}
		return answer(h.refusal(h.ex.Execute(h.body(history.BodyTask, s))))
	case history.OpExecuteLazy:
		return answer(h.refusal(h.ex.ExecuteLazy(h.body(history.BodyTask, s))))
	case history.OpAfterIteration:
		return answer(h.refusal(h.single().ExecuteAfterIteration(h.body(history.BodyTail, s))))
	case history.OpSchedule, history.OpFixedRate, history.OpFixedDelay:
		return h.schedule(s)
	case history.OpAddHook:
		return h.addHook(s)
	case history.OpRegister, history.OpRegisterChannel:
		return h.register(s)
	case history.OpRemoveHook:
		return h.removeHook(s.Target)
	case history.OpCancel:
		return h.cancel(s.Target)
	case history.OpReset:
		return h.reset(s)
	case history.OpShutdownGracefully:
		_, err := h.ex.ShutdownGracefully(s.Quiet, s.Timeout)
		return answer(err)
	case history.OpShutdown:
		h.ex.Shutdown()
		return history.Returned
	case history.OpClose:
		return h.waited(h.ex.Close())
	case history.OpAwait:
		ctx, stop := context.WithTimeout(context.Background(), s.Delay)
		defer stop()
		return h.waited(h.ex.AwaitTermination(ctx))
	}
	panic("props: no such step: " + s.Op.String())
}

func (h *harness) schedule(s Step) history.Outcome {
	var t *core.Timer
	var err error
	body := h.body(history.BodyTimer, s)
	switch {
	case s.Own:
		t = h.ownTimer(s.From)
		err = h.ex.ScheduleTimer(t, s.Delay, body)
	case s.Op == history.OpSchedule:
		t, err = h.ex.Schedule(s.Delay, body)
	case s.Op == history.OpFixedRate:
		t, err = h.ex.ScheduleAtFixedRate(s.Delay, s.Period, body)
	case s.Op == history.OpFixedDelay:
		t, err = h.ex.ScheduleWithFixedDelay(s.Delay, s.Period, body)
	}
	if err == nil {
		h.mu.Lock()
		h.timers[s.ID] = t
		h.oneShots[s.ID] = s.Op == history.OpSchedule
		h.mu.Unlock()
	}
	return answer(err)
}

func (h *harness) addHook(s Step) history.Outcome {
	remove, err := h.ex.AddShutdownHook(h.body(history.BodyHook, s))
	if err == nil {
		h.mu.Lock()
		h.removes[s.ID] = remove
		h.mu.Unlock()
	}
	return answer(err)
}

func (h *harness) removeHook(id int) history.Outcome {
	h.mu.Lock()
	remove := h.removes[id]
	h.mu.Unlock()
	return vocabulary.Truth(remove())
}

func (h *harness) cancel(id int) history.Outcome {
	h.mu.Lock()
	f, t := h.futures[id], h.timers[id]
	h.mu.Unlock()
	if f != nil {
		return vocabulary.Truth(f.Cancel())
	}
	cancelled := t.Cancel()
	if cancelled {
		h.lookAtCancelled(id, t)
	}
	return vocabulary.Truth(cancelled)
}

func (h *harness) reset(s Step) history.Outcome {
	h.mu.Lock()
	t := h.timers[s.Target]
	h.mu.Unlock()
	return vocabulary.Truth(t.Reset(s.Delay))
}
