package interleave

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"eventide/props"
	"eventide/props/history"
	"eventide/props/interleave/inprocess"

	"github.com/stretchr/testify/require"
)

// told is a call of g1 that is answered, with what happens before it returns.
func told(call, answer, meanwhile string) string {
	name, _, _ := strings.Cut(call, " delay=")
	return fmt.Sprintf("g1 invoke %s\ng1 admit %s %s\n%sg1 return %s %s\n", call, name, answer, meanwhile, name, answer)
}

// TestG12Unwoken: who brings news wakes the sleeping loop before his call returns, and
// who brings none does not.
func TestG12Unwoken(t *testing.T) {
	const (
		wakes = "g1 wake\n"
		park  = "loop park Started until=never next=never queued=0\n"
		till  = "loop park Started until=9ms next=9ms queued=0\n"
		down  = "g2 state Started->ShuttingDown\n"
	)
	timers := told("schedule 1 delay=9ms", "accepted", "") + told("schedule 2 delay=9ms", "accepted", "")
	var lazy strings.Builder
	for id := 1; id < leastBound; id++ {
		lazy.WriteString(told(fmt.Sprint("lazy ", id), "accepted", ""))
	}
	for name, c := range map[string]struct{ text, want string }{
		"nothing":                            {park, ""},
		"a task":                             {park + told("execute 1", "accepted", wakes), ""},
		"a task, not told":                   {park + told("execute 1", "accepted", ""), "which queues a task"},
		"a tail task, not told":              {park + told("tail 1", "accepted", ""), "which queues a task"},
		"a task that is refused":             {park + told("execute 1", "refused", ""), ""},
		"the loop is awake":                  {park + "loop unpark\n" + told("execute 1", "accepted", ""), ""},
		"somebody has woken it":              {park + told("execute 1", "accepted", wakes) + told("execute 2", "accepted", ""), ""},
		"it wakes by itself meanwhile":       {park + told("execute 1", "accepted", "loop unpark\n"), ""},
		"a lazy task":                        {park + told("lazy 1", "accepted", ""), ""},
		"a lazy task, told":                  {park + told("lazy 1", "accepted", wakes), "which adds a lazy task"},
		"the last room":                      {park + lazy.String() + told("lazy 99", "accepted", wakes), ""},
		"the last room, not told":            {park + lazy.String() + told("lazy 99", "accepted", ""), "which takes the last room"},
		"an earlier timer":                   {till + told("schedule 1 delay=8ms", "accepted", wakes), ""},
		"an earlier timer, not told":         {till + told("schedule 1 delay=8ms", "accepted", ""), "which schedules a timer for 8ms"},
		"one at the same time":               {till + told("schedule 1 delay=9ms", "accepted", ""), ""},
		"one at the same time, told":         {till + told("schedule 1 delay=9ms", "accepted", wakes), "woken from a sleep until 9ms"},
		"moved to an earlier time":           {timers + till + told("reset 1 delay=8ms", "true", wakes), ""},
		"moved to an earlier time, not told": {timers + till + told("reset 1 delay=8ms", "true", ""), "which moves a timer to 8ms"},
		"moved to a later time":              {timers + till + told("reset 1 delay=9ms", "true", ""), ""},
		"moved to a later time, told":        {timers + till + told("reset 1 delay=10ms", "true", wakes), "which moves a timer to 10ms"},
		"too late to move":                   {timers + till + told("reset 1 delay=8ms", "false", ""), ""},
		"one of two timers cancelled":        {timers + till + told("cancel 1", "true", ""), ""},
		"both cancelled":                     {timers + till + told("cancel 1", "true", "") + told("cancel 2", "true", wakes), ""},
		"both cancelled, not told":           {timers + till + told("cancel 1", "true", "") + told("cancel 2", "true", ""), "which cancels number 2 of the 2"},
		"too late to cancel":                 {timers + till + told("cancel 1", "true", "") + told("cancel 2", "false", ""), ""},
		"one that it does not know of":       {till + told("schedule 1 delay=9ms", "accepted", "") + told("cancel 1", "true", ""), ""},
		"one that has run":                   {timers + "loop begin timer 1 run=1\nloop end timer 1 run=1\n" + till + told("cancel 2", "true", ""), "which cancels number 1 of the 1"},
		"a hook":                             {park + told("hook 1", "accepted", ""), ""},
		"a hook in a shutdown":               {down + park + told("hook 1", "accepted", ""), "which gives the shutdown more to do"},
		"a shutdown":                         {park + told("shutdown", "true", ""), "which shuts it down"},
		"a shutdown after another":           {park + told("shutdown", "false", ""), ""},
	} {
		t.Run(name, func(t *testing.T) {
			trace := parseTrace(t, c.text)
			v := unwoken(props.Program{Limit: leastBound}, trace.Events)
			require.Equal(t, c.want != "", v != nil, "%v", v)
			if v != nil {
				require.Contains(t, v.String(), c.want)
			}
			require.Nil(t, unwoken(props.Program{Starts: []props.Start{props.StartSlow}}, trace.Events), "a spawner of its own")
		})
	}
}

// TestG12UnwokenJitter: the deadline of a timer is later by the jitter, at Schedule and at Reset.
func TestG12UnwokenJitter(t *testing.T) {
	const till = "loop park Started until=9ms next=9ms queued=0\n"
	timer := told("schedule 1 delay=2ms", "accepted", "g1 wake\n")
	for name, c := range map[string]struct {
		text string
		bad  bool
	}{
		"later than the sleep":   {till + told("schedule 1 delay=4ms", "accepted", ""), false},
		"earlier than the sleep": {till + told("schedule 1 delay=3ms", "accepted", ""), true},
		"told in vain":           {till + told("schedule 1 delay=4ms", "accepted", "g1 wake\n"), true},
		"moved behind the sleep": {timer + till + told("reset 1 delay=4ms", "true", ""), false},
		"moved before its end":   {timer + till + told("reset 1 delay=3ms", "true", ""), true},
		"a rate, half a period":  {till + told("rate 1 delay=8ms period=1ms", "accepted", ""), true},
		"a rate, all of it":      {till + told("rate 1 delay=8ms period=2ms", "accepted", ""), false},
	} {
		t.Run(name, func(t *testing.T) {
			v := unwoken(props.Program{Jitter: 10 * time.Millisecond}, parseTrace(t, c.text).Events)
			require.Equal(t, c.bad, v != nil, "%v", v)
		})
	}
}

// TestG12Overslept: in a shutdown that cancels timers the loop sleeps no longer than the
// quiet period.
func TestG12Overslept(t *testing.T) {
	const asked = "g1 invoke graceful quiet=2ms timeout=9ms\ng1 admit graceful true\n@1ms g1 return graceful accepted\n"
	for name, c := range map[string]struct {
		text string
		sc   Scenario
		bad  bool
	}{
		"to its end":          {asked + "loop park ShuttingDown until=2ms next=2ms queued=0\n", Scenario{}, false},
		"longer":              {asked + "loop park ShuttingDown until=3ms next=3ms queued=0\n", Scenario{}, true},
		"without end":         {asked + "loop park ShuttingDown until=never next=never queued=0\n", Scenario{}, true},
		"a body has ended":    {asked + "loop begin task 1\n@1ms loop end task 1 normal\n@1ms loop park ShuttingDown until=3ms next=3ms queued=0\n", Scenario{}, false},
		"timers may run":      {asked + "loop park ShuttingDown until=3ms next=3ms queued=0\n", Scenario{Program: props.Program{Timers: history.RunTimersUntilTimeout}}, false},
		"channels may drain":  {asked + "loop park ShuttingDown until=3ms next=3ms queued=0\n", Scenario{Program: props.Program{Loop: true}}, false},
		"the clock may move":  {asked + "loop park ShuttingDown until=3ms next=3ms queued=0\n", Scenario{Time: inprocess.Boundary}, false},
		"before the shutdown": {"loop park Started until=3ms next=3ms queued=0\n" + asked, Scenario{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			trace := parseTrace(t, c.text)
			v := overslept(c.sc, trace.Events)
			require.Equal(t, c.bad, v != nil, "%v", v)
		})
	}
}
