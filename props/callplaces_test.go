package props

import (
	"eventide/props/history"
)

// A place is where a call is made: the context of the caller, and the state of the executor.
type place struct {
	context string
	state   history.State
}

// callsSeen count the calls of programs by place.
type callsSeen map[string]map[place]int

func (s callsSeen) add(call string, at place, n int) {
	if s[call] == nil {
		s[call] = map[place]int{}
	}
	s[call][at] += n
}

// The contexts, in the order of the table.
var contexts = []string{
	"goroutine", inSpawner, "task", "tail", "timer", "hook", "listener", "readiness", "channel",
	"panic handler", "post", "close listener", "end listener", onOtherLoop,
}

var contextOf = map[history.Body]string{
	history.BodyTask: "task", history.BodyTail: "tail", history.BodyTimer: "timer", history.BodyHook: "hook",
	history.BodyListener: "listener", history.BodyReadiness: "readiness", history.BodyDrain: "channel", history.BodyAbort: "channel",
}

// contextOfListener has the functions of the user that the log has as listeners.
var contextOfListener = map[int]string{handlerID: "panic handler", postID: "post", endListenerID: "end listener", closeListenerID: "close listener"}

// callOf are the calls that the log tells as an Op.
var callOf = map[history.Op]string{
	history.OpExecute: "Executor.Execute", history.OpExecuteLazy: "Executor.ExecuteLazy", history.OpSubmit: "Submit",
	history.OpAfterIteration: "Executor.ExecuteAfterIteration", history.OpSchedule: "Executor.Schedule",
	history.OpFixedRate: "Executor.ScheduleAtFixedRate", history.OpFixedDelay: "Executor.ScheduleWithFixedDelay",
	history.OpAddHook: "Executor.AddShutdownHook", history.OpCancel: "Timer.Cancel", history.OpReset: "Timer.Reset",
	history.OpShutdownGracefully: "Executor.ShutdownGracefully", history.OpShutdown: "Executor.Shutdown",
	history.OpClose: "Executor.Close", history.OpAwait: "Executor.AwaitTermination", history.OpState: "Executor.State",
	history.OpRegister: "EventLoop.Register", history.OpRegisterChannel: "EventLoop.RegisterChannel",
	history.OpModify: "Registration.Modify", history.OpEnd: "Registration.Close", history.OpListen: "Future.OnDone",
}

// callsByMore are the calls that places tells apart by more than the Op.
var callsByMore = []string{"Executor.Stats", "Executor.ScheduleTimer", "Executor.TryExecute", "Future.Cancel", "Registration.End", "Meter.Read"}

// alongWith are calls that the harness makes in each call of another one: lookAround in that of State, askMeter
// in each but the first of NewMeter, and the function that answers each Ask.
var alongWith = map[string]string{
	"Executor.InEventLoop": "Executor.State", "Executor.Name": "Executor.State",
	"Executor.String": "Executor.State", "Executor.Parent": "Executor.State", "Executor.Context": "Executor.State", "Executor.ShutdownContext": "Executor.State",
	"Executor.Termination": "Executor.State", "Termination.Done": "Executor.State", "Termination.Report": "Executor.State",
	"Current": "Executor.State", "Pool.Size": "Pool.Resize", "InvokeAny": "InvokeAll", "Meter.Stack": "Meter.Read",
	"Timer.Done": "Timer.Err", "Local.Set": "Local.Get", "Local.Remove": "Local.Get", "NewLocal": "Local.Get",
}

// steps has the facts about a program that places needs.
type stepsOf struct {
	tries, own map[int]bool
	pool       bool
}

func readSteps(p Program) stepsOf {
	of := stepsOf{map[int]bool{}, map[int]bool{}, p.Pool > 0}
	p.AnyStep(func(s *Step) bool {
		of.tries[s.ID] = of.tries[s.ID] || s.Try
		of.own[s.ID] = of.own[s.ID] || s.Own
		return false
	})
	return of
}

// callReader finds the calls of a run and their places.
type callReader struct {
	stepsOf
	asides        []Aside
	seen          callsSeen
	state         history.State
	inside        map[int64][]openBody
	timers        map[int]bool
	registrations map[int]history.Op
	metered       bool
}

type openBody struct {
	context string
	at      int
}

// places are where the calls of a run were made.
func places(p Program, out Recording) callsSeen {
	r := callReader{
		stepsOf: readSteps(p), asides: out.Asides, seen: callsSeen{}, state: history.NotStarted,
		inside: map[int64][]openBody{}, timers: map[int]bool{}, registrations: map[int]history.Op{},
	}
	for i := range out.Events {
		switch e := &out.Events[i]; e.Kind {
		case history.Transit:
			r.state = e.To
		case history.Begin:
			r.inside[e.G] = append(r.inside[e.G], openBody{r.contextOf(e), e.N})
		case history.End:
			r.inside[e.G] = r.inside[e.G][:len(r.inside[e.G])-1]
		case history.Sample:
			r.add(e, "Executor.Stats")
		case history.Invoke:
			r.invoke(e)
		}
	}
	return r.seen
}

func (r *callReader) contextOf(e *history.Event) string {
	if e.Body != history.BodyListener {
		return contextOf[e.Body]
	}
	if context := contextOfListener[e.ID]; context != "" {
		return context
	}
	if r.registrations[e.ID] != 0 {
		return "close listener"
	}
	return "listener"
}

// context returns the context in which the goroutine of the event is.
func (r *callReader) context(e *history.Event) string {
	context, at := "goroutine", 0
	if open := r.inside[e.G]; len(open) > 0 {
		context, at = open[len(open)-1].context, open[len(open)-1].at
	}
	for _, a := range r.asides {
		if a.has(e) && a.From >= at {
			context, at = a.Context, a.From
		}
	}
	return context
}

func (r *callReader) add(e *history.Event, call string) {
	if r.pool {
		call = ofPool(call)
	}
	r.seen.add(call, place{r.context(e), r.state}, 1)
}

func (r *callReader) invoke(e *history.Event) {
	call := callOf[e.Op]
	switch {
	case e.Note == "panics": // see recorder.events
		return
	case e.Note == string(AskMeter) && r.metered:
		call = "Meter.Read"
	case e.Note == string(AskCancel):
		r.add(e, "Future.Cancel")
		call = e.Note
	case e.Note != "": // see harness.ask
		r.metered = r.metered || e.Note == string(AskMeter)
		call = e.Note
	case e.Op.Registers():
		r.registrations[e.ID] = e.Op
	case e.Op.Timers():
		r.timers[e.ID] = true
		if r.own[e.ID] {
			call = "Executor.ScheduleTimer"
		}
	case e.Op == history.OpExecute && r.tries[e.ID]:
		call = "Executor.TryExecute"
	case e.Op == history.OpCancel && !r.timers[e.ID]:
		call = "Future.Cancel"
	case e.Op == history.OpListen && r.registrations[e.ID] != 0:
		call = "Registration.OnClose"
	case e.Op == history.OpEnd && r.registrations[e.ID] == history.OpRegisterChannel:
		call = "Registration.End"
	}
	if call != "" {
		r.add(e, call)
	}
}
