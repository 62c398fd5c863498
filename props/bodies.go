package props

import (
	"runtime"
	"time"

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
		if kind == history.BodyTimer {
			h.lookAtTimer(s.ID)
		}
		end := h.play(s.Body, run)
		ev.Kind, ev.Outcome, ev.InLoop = history.End, end, h.ex.InEventLoop()
		h.rec.log.Add(ev)
		h.rec.bodyEnds(end)
		finish(end)
	}
}

// play runs a script, and returns how the body has to end.
func (h *harness) play(s *Script, run int) history.Outcome {
	if s.Await {
		<-h.ex.Context().Done()
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

// endOf is play for a listener. A listener that runs outside the loop, or inside a call,
// does not end by Goexit, which would end the goroutine of an actor or the body that calls. A listener
// on the loop takes no time: there it does not restart the quiet period and delays everything else.
func (h *harness) endOf(s *Script, inside bool) history.Outcome {
	script := *s
	if inside {
		script.Sleep = 0
	}
	if end := h.play(&script, 1); end != history.Exited || inside && !h.rec.calling() {
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
