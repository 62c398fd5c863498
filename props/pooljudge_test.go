package props

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventide/props/history"

	"github.com/stretchr/testify/require"
)

// TestPoolCheck: a run of a pool is right, and a change of its log breaks the guarantee.
func TestPoolCheck(t *testing.T) {
	body := func() *Script { return &Script{Sleep: time.Millisecond} }
	program := func(size int, steps ...Step) Program {
		return Program{Pool: size, Actors: []Actor{{Steps: steps}}}
	}
	three := []Step{
		{Op: history.OpExecute, ID: 1, Body: body()}, {Op: history.OpExecute, ID: 2, Body: body()}, {Op: history.OpExecute, ID: 3, Body: body()},
	}
	timer := []Step{{Op: history.OpSchedule, ID: 1, Delay: time.Millisecond, Body: body()}, {Op: history.OpState, Wait: 5 * time.Millisecond}}
	hooks := []Step{
		{Op: history.OpAddHook, ID: 1, Body: body()}, {Op: history.OpAddHook, ID: 2, Body: body()}, {Op: history.OpExecute, ID: 3, Body: body()},
		{Op: history.OpShutdown},
	}
	for _, c := range []struct {
		name    string
		program Program
		judged  Program // as this one; its sizes are those of the check
		change  func([]history.Event) []history.Event
		text    string
	}{
		{name: "a free worker", program: program(2, three...), judged: program(3, three...), text: "task 3 waits until 1ms, and 2 of 3 workers"},
		{name: "too many bodies", program: program(3, three...), judged: program(2, three...), text: "3 bodies run at once on 2 workers"},
		{name: "a timer that waits", program: program(2, timer...), judged: program(2, timer...), change: later(history.BodyTimer, 1, 2*time.Millisecond), text: "timer 1, due at 1ms, waits until 3ms"},
		{name: "out of order", program: program(1, three...), judged: program(1, three...), change: swapLabels(1, 3), text: "task 1 waits, and a task submitted after it"},
		{name: "hooks at once", program: program(2, hooks...), judged: program(2, hooks...), change: early(2), text: "hook 2 begins, and hook 1 runs"},
		{name: "a hook beside a task", program: program(2, hooks...), judged: program(2, hooks...), change: early(1), text: "hook 1 begins, and task 3 has not ended"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out Recording
			synctest.Test(t, func(*testing.T) { out = Run(c.program) })
			v, err := Judge(c.program, out)
			require.NoError(t, err)
			require.Empty(t, v.Violations, "the run is right")
			events := out.Events
			if c.change != nil {
				events = c.change(events)
			}
			wrong := checkPool(events, RulesOf(c.judged), c.judged, out.Resized)
			require.NotNil(t, wrong)
			require.Contains(t, wrong.Text, c.text)
		})
	}
}

// TestPoolCheckCancelledTask: a cancel has its effect before it returns, so a hook may begin before.
func TestPoolCheckCancelledTask(t *testing.T) {
	for answer, wrong := range map[string]string{"true": "", "false": "hook 2 begins, and task 1 has not ended"} {
		trace := parseTrace(t, `
g1 invoke submit 1
g1 return submit 1 accepted
g2 invoke shutdown
g2 admit shutdown true
g2 return shutdown returned
g1 invoke cancel 1
loop begin hook 2
loop end hook 2
g1 return cancel 1 `+answer)
		p := Program{Pool: 2}
		switch v := checkPool(trace.Events, RulesOf(p), p, nil); {
		case wrong == "":
			require.Nil(t, v, "cancel %s", answer)
		default:
			require.NotNil(t, v, "cancel %s", answer)
			require.Contains(t, v.Text, wrong)
		}
	}
}

// TestPoolCheckCancelledBeforeTheReturn: another goroutine may cancel a task whose call has not returned.
func TestPoolCheckCancelledBeforeTheReturn(t *testing.T) {
	for answer, wrong := range map[string]string{"true": "", "false": "task 1 waits until 1ms, and 0 of 2 workers"} {
		trace := parseTrace(t, `
g1 invoke submit 1
g2 invoke cancel 1
g2 return cancel 1 `+answer+`
g1 return submit 1 accepted
@1ms g1 invoke state
g1 return state Started`)
		p := Program{Pool: 2}
		v := checkPool(trace.Events, RulesOf(p), p, nil)
		if wrong == "" {
			require.Nil(t, v, "cancel %s", answer)
			continue
		}
		require.NotNil(t, v, "cancel %s", answer)
		require.Contains(t, v.Text, wrong)
	}
}

// TestPoolCheckMovedBeforeTheReturn: another goroutine may cancel or move a timer whose call has not
// returned.
func TestPoolCheckMovedBeforeTheReturn(t *testing.T) {
	for call, wrong := range map[string]string{
		"cancel 1": "", "reset 1 delay=20ms": "", "state": "timer 1, due at 10ms, waits until 11ms, and 0 of 2 workers",
	} {
		result := map[bool]string{true: "Started", false: "true"}[call == "state"]
		name, _, _ := strings.Cut(call, " delay=")
		trace := parseTrace(t, `
g1 invoke schedule 1 delay=10ms
g2 invoke `+call+`
g2 return `+name+` `+result+`
g1 return schedule 1 accepted
@11ms g1 invoke state
g1 return state Started`)
		p := Program{Pool: 2}
		v := checkPool(trace.Events, RulesOf(p), p, nil)
		if wrong == "" {
			require.Nil(t, v, call)
			continue
		}
		require.NotNil(t, v, call)
		require.Contains(t, v.Text, wrong)
	}
}

// later delays all events from the begin of a body on.
func later(body history.Body, id int, by time.Duration) func([]history.Event) []history.Event {
	return func(events []history.Event) []history.Event {
		found := false
		for i := range events {
			found = found || events[i].Kind == history.Begin && events[i].Body == body && events[i].ID == id
			if found {
				events[i].At += by
			}
		}
		return events
	}
}

// swapLabels exchanges the bodies of two tasks.
func swapLabels(a, b int) func([]history.Event) []history.Event {
	return func(events []history.Event) []history.Event {
		for i := range events {
			if e := &events[i]; e.Kind == history.Begin || e.Kind == history.End {
				switch e.ID {
				case a:
					e.ID = b
				case b:
					e.ID = a
				}
			}
		}
		return events
	}
}

// early moves the begin of a body before the end of the body that ended before it.
func early(id int) func([]history.Event) []history.Event {
	return func(events []history.Event) []history.Event {
		end := 0
		for i := range events {
			switch e := events[i]; {
			case e.Kind == history.End:
				end = i
			case e.Kind == history.Begin && e.ID == id:
				copy(events[end+1:i+1], events[end:i])
				events[end] = e
				return events
			}
		}
		return events
	}
}
