package props

import (
	"runtime"
	"time"

	"eventide/core"
	"eventide/props/history"
)

// body returns the function for a script, which records its begin and end.
func (h *harness) body(kind history.Body, s Step) func() {
	return func() {
		if h.gaveUp.Load() {
			select {} // a periodic timer that is never cancelled would keep virtual time advancing
		}
		h.mu.Lock()
		h.runs[s.ID]++
		run := h.runs[s.ID]
		h.mu.Unlock()
		ev := history.Event{Kind: history.Begin, Body: kind, ID: s.ID, InLoop: h.ex.InEventLoop()}
		if kind == history.BodyTimer {
			ev.Run = run
		}
		h.rec.log.Add(ev)
		h.rec.bodyBegins(kind)
		h.looped.Store(true)
		h.beginsBody(kind)
		h.lookAtGoroutine()
		h.lookAtContext()
		if kind == history.BodyTimer {
			h.lookAtTimer(s.ID)
		}
		end := h.play(s.Body, run)
		h.lookAtClose()
		ev.Kind, ev.Outcome, ev.InLoop = history.End, end, h.ex.InEventLoop()
		h.rec.log.Add(ev)
		h.rec.bodyEnds(end)
		finish(end)
	}
}

// lookAtClose stores at the end of a body whether admission is closed. The state is published before the rest of
// the close. Stats waits for that: it takes the lock.
func (h *harness) lookAtClose() {
	if !h.closed.Load() && h.single() != nil && h.ex.State() >= core.StateShutdown {
		h.closed.Store(h.ex.Stats().State >= core.StateShutdown)
	}
}

// lookAtContext compares Context with the close at the begin of a body: if admission was closed at the end of
// the body before, the loop has found that out in between, and has ended Context (G11). In a pool the two bodies
// may be those of two workers.
func (h *harness) lookAtContext() {
	if h.closed.Load() && h.ex.Context().Err() == nil {
		h.blame("G11: a body begins, admission was closed when the one before ended, and Context has not ended")
	}
}

// play runs a script, and returns how the body has to end.
func (h *harness) play(s *Script, run int) history.Outcome {
	if s.Await {
		h.awaitContext()
	}
	if s.Sleep > 0 {
		time.Sleep(s.Sleep)
	}
	if run == 1 {
		h.steps(s.Steps, false)
	}
	if s.Again > 0 {
		next := h.extraTask()
		next.Body.Again = s.Again - 1
		h.call(next)
	}
	if s.End == 0 || s.LastRun > 0 && run != s.LastRun {
		return history.Normal
	}
	return s.End
}

// awaitContext waits for the end of Context. If a timeout has ended it, the body has run since before that
// timeout, and finds itself in the report (G11).
func (h *harness) awaitContext() {
	open := h.ex.State() < core.StateShutdown
	<-h.ex.Context().Done()
	if !open || h.othersEnd {
		return
	}
	if r := h.ex.Termination().Report(); r.TimedOut && r.Running == "" {
		h.blame("G11: a body that waited for Context finds no running body in the report of the timeout")
	}
}

// endOf is play for a listener. A listener that runs inside a call, or on a goroutine that is not the
// executor's, does not end by Goexit, which would end the goroutine of an actor or the body that calls. A listener
// on the loop takes no time: there it does not restart the quiet period and delays everything else.
func (h *harness) endOf(s *Script, inside bool) history.Outcome {
	script := *s
	if inside {
		script.Sleep = 0
	}
	if end := h.play(&script, 1); end != history.Exited || (inside || h.onGoroutineOfLoop()) && !h.rec.calling() {
		return end
	}
	return history.Normal
}

func finish(end history.Outcome) {
	switch end {
	case history.Panicked:
		panic(plannedPanic)
	case history.Exited:
		runtime.Goexit()
	}
}

func (h *harness) listener(s Step, n int) {
	script := s.Body.Listener
	if script == nil {
		script = &Script{}
	}
	ev := history.Event{Kind: history.Begin, Body: history.BodyListener, ID: s.ID, Run: n, InLoop: h.ex.InEventLoop()}
	h.rec.log.Add(ev)
	end := h.endOf(script, ev.InLoop)
	ev.Kind, ev.Outcome = history.End, end
	h.rec.log.Add(ev)
	finish(end)
}
