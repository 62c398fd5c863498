package exectest

import (
	"strings"
	"testing"

	"eventide/props/history"
)

// TestNoTimerForgotten judges logs written by hand: of a timer that is due at 5 ms, and a shutdown
// call at 20 ms.
func TestNoTimerForgotten(t *testing.T) {
	const (
		timer    = "g1 invoke schedule 1 delay=5ms\ng1 return schedule 1 accepted\n"
		shutdown = "@20ms g1 invoke shutdown\ng1 return shutdown returned\n"
		task     = "g1 invoke execute 2\ng1 return execute 2 accepted\n"
	)
	for name, c := range map[string]struct{ rules, log, want string }{
		"never ran":                  {"virtual", timer + shutdown, "timer 1, due at 5ms, had not begun at 20ms, when the shutdown was called, with the loop free for 15ms in between"},
		"ran":                        {"virtual", timer + "@5ms loop begin timer 1\nloop end timer 1\n" + shutdown, ""},
		"ran after the call":         {"virtual", timer + shutdown + "@21ms loop begin timer 1\nloop end timer 1\n", ""}, // late: another predicate's
		"refused":                    {"virtual", "g1 invoke schedule 1 delay=5ms\ng1 return schedule 1 refused:closed\n" + shutdown, ""},
		"cancelled":                  {"virtual", timer + "@6ms g1 invoke cancel 1\ng1 return cancel 1 true\n" + shutdown, ""},
		"cancelled too late":         {"virtual", timer + "@6ms g1 invoke cancel 1\ng1 return cancel 1 false\n" + shutdown, "timer 1, due at 5ms"},
		"due at the call":            {"virtual", strings.Replace(timer, "5ms", "20ms", 1) + shutdown, ""},
		"due just before the call":   {"virtual", strings.Replace(timer, "5ms", "19.999999ms", 1) + shutdown, "free for 1ns"},
		"a negative delay":           {"virtual", strings.Replace(timer, "5ms", "-5ms", 1) + shutdown, "timer 1, due at 0s"},
		"no shutdown call":           {"virtual", timer + "@30ms g1 observe done false\n", ""},
		"the first of two calls":     {"virtual", timer + "@5ms g1 invoke shutdown\ng1 return shutdown returned\n" + shutdown, ""},
		"moved beyond the call":      {"virtual", timer + "@1ms g1 invoke reset 1 delay=30ms\ng1 return reset 1 true\n" + shutdown, ""},
		"moved in vain":              {"virtual", timer + "@1ms g1 invoke reset 1 delay=30ms\ng1 return reset 1 false\n" + shutdown, "timer 1, due at 5ms"},
		"moved, still before it":     {"virtual", timer + "@1ms g1 invoke reset 1 delay=9ms\ng1 return reset 1 true\n" + shutdown, "timer 1, due at 10ms"},
		"a body all the time":        {"virtual", task + "loop begin task 2\n" + timer + "@20ms loop end task 2\n" + shutdown, ""},
		"a body that never ends":     {"virtual", task + "loop begin task 2\n" + timer + shutdown, ""},
		"a body for a part":          {"virtual", task + timer + "@4ms loop begin task 2\n@12ms loop end task 2\n" + shutdown, "free for 8ms"},
		"a body until after":         {"virtual", task + timer + "@6ms loop begin task 2\n" + shutdown + "@30ms loop end task 2\n", "free for 1ms"},
		"a periodic timer is no one": {"virtual", "g1 invoke rate 1 delay=5ms period=5ms\ng1 return rate 1 accepted\n" + shutdown, ""},
		"real time":                  {"", timer + shutdown, ""},
	} {
		t.Run(name, func(t *testing.T) {
			trace, err := history.Parse(strings.NewReader("verdict: good\nrules: " + c.rules + "\n" + c.log))
			if err != nil {
				t.Fatal(err)
			}
			h, err := history.Of(trace.Events, trace.Rules)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, v := range noTimerForgotten(run{history: h}) {
				got += v.String()
			}
			if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
