package props

import (
	"fmt"
	"strings"
	"time"

	"eventide/core"
	"eventide/props/history"

	"github.com/petermattis/goid"
)

// Metered is what a meter of the run has measured until Done.
type Metered struct {
	Since   time.Duration // of the log, when the meter was made
	Until   time.Duration // when it was read
	Elapsed time.Duration
	Busy    time.Duration
	Oldest  time.Duration
	Running int
}

// meter is a meter of the run.
type meter struct {
	m     *core.Meter
	since time.Time
	reads []MeterRead // guarded by mu of the harness
}

// meterOf returns the meters of an executor or a pool.
type meterOf interface{ NewMeter() *core.Meter }

// askMeter makes a meter at the first call, reads it at the others, and at some of them asks for
// the stack of the caller's own body.
func (h *harness) askMeter() {
	h.mu.Lock()
	if h.meter == nil && !h.real {
		h.meter = &meter{since: time.Now()}
		h.meter.m = h.ex.(meterOf).NewMeter()
		h.mu.Unlock()
		return
	}
	m := h.meter
	h.mu.Unlock()
	if m == nil {
		return
	}
	r := h.readMeter(m)
	passed := time.Since(m.since)
	if wrong := h.wrongReading(r, passed); wrong != "" {
		h.blame("a meter made %v ago: %s: %+v", passed, wrong, r)
	}
	h.askStack(m, r)
}

// wrongReading returns what no reading may say, or "".
func (h *harness) wrongReading(r core.Reading, passed time.Duration) string {
	switch {
	case r.Elapsed != passed:
		return "Elapsed differs from the clock"
	case r.Busy < 0, h.pooled() == nil && r.Busy > r.Elapsed:
		return "Busy is out of bounds"
	case r.Oldest < 0 || r.Oldest > r.Elapsed, r.Oldest > 0 && r.Stats.Pending == 0:
		return "Oldest is out of bounds"
	case h.pooled() == nil && len(r.Running) > 1, r.Stats.State == core.StateTerminated && len(r.Running) > 0:
		return "too many bodies are running"
	case h.pooled() != nil && int64(len(r.Running)) > r.Stats.Busy:
		return "more bodies are running than workers are busy"
	}
	late := passed + max(0, time.Duration(h.clock.shift.Load())) // a timer is late by the executor's clock
	for _, wait := range r.Waits {
		if wait < 0 || wait > late {
			return "a wait is out of bounds"
		}
	}
	return ""
}

// askStack checks what the meter says of the body that asks. A listener inside a call of
// another goroutine is no body of the loop.
func (h *harness) askStack(m *meter, r core.Reading) {
	none := core.RunningBody{Kind: core.BodyTask, Number: -1}
	if stack := m.m.Stack(none); stack != "" {
		h.blame("a meter has the stack %q of a body that there is not", stack)
	}
	if !h.ex.InEventLoop() {
		return
	}
	g, found := goid.Get(), false
	for _, body := range r.Running {
		if body.Goroutine != g {
			continue
		}
		found = true
		if stack := m.m.Stack(body); !strings.Contains(stack, "askStack") {
			h.blame("a body asks a meter for its own stack, and gets %q", stack)
		}
		if other := (core.RunningBody{Kind: body.Kind, Number: body.Number + 1, Goroutine: g}); m.m.Stack(other) != "" {
			h.blame("a meter has a stack of a body that does not run")
		}
	}
	if !found {
		h.blame("a body on goroutine %d reads a meter, and the running bodies are %+v", g, r.Running)
	}
}

// metered reads the meter after Done and closes it. It returns nil if there is none.
func (h *harness) metered() *Metered {
	m := h.meter
	if m == nil {
		return nil
	}
	r := m.m.Read()
	out := &Metered{
		Since: m.since.Sub(h.start), Until: time.Since(h.start),
		Elapsed: r.Elapsed, Busy: r.Busy, Oldest: r.Oldest, Running: len(r.Running),
	}
	m.m.Close()
	m.m.Close()
	if r := m.m.Read(); r.Elapsed != 0 || r.Busy != 0 || len(r.Waits) > 0 || r.Stats.State != core.StateTerminated {
		h.blame("a meter that is closed still measures: %+v", r)
	}
	return out
}

// checkMeter compares the meter with the log: in virtual time only bodies and the panic handler are busy.
func checkMeter(h *history.History, rules history.Rules, f *Final) *history.Violation {
	if f == nil || f.Metered == nil || !rules.Virtual || rules.Spawner {
		return nil
	}
	m := f.Metered
	busy := time.Duration(0)
	begun := map[int64][]*history.Event{}
	for i := range h.Events {
		switch e := &h.Events[i]; {
		case e.Body == history.BodyListener && (e.ID != handlerID || !e.InLoop): // takes no time on the loop
		case e.Kind == history.Begin:
			begun[e.G] = append(begun[e.G], e)
		case e.Kind == history.End:
			open := begun[e.G]
			begin := open[len(open)-1]
			begun[e.G] = open[:len(open)-1]
			if len(open) == 1 {
				busy += max(0, e.At-max(begin.At, m.Since))
			}
		}
	}
	wrong := ""
	switch {
	case m.Elapsed != m.Until-m.Since:
		wrong = fmt.Sprintf("after Done Elapsed is %v, and %v have passed", m.Elapsed, m.Until-m.Since)
	case m.Busy != busy:
		wrong = fmt.Sprintf("after Done Busy is %v, and by the log bodies ran for %v", m.Busy, busy)
	case m.Oldest != 0 || m.Running != 0:
		wrong = fmt.Sprintf("after Done Oldest is %v and %d bodies are running", m.Oldest, m.Running)
	case !rules.Overlap:
		wrong = wrongReads(h.Events, f.Reads)
	}
	if wrong == "" {
		return nil
	}
	return &history.Violation{Guarantee: "G20", Predicate: "Meter", Sentence: "a meter agrees with the log", Text: wrong}
}
