package history_test

import (
	"fmt"
	"strings"
)

// The variants about the order of a turn; see TestVariants. In each of them the loop sleeps until
// 1 ms while timer 1, lazy task 2, tail task 3 or descriptor 4 wait for it.

const (
	due1   = "g1 invoke schedule 1 delay=1ms\ng1 return schedule 1 accepted\n"
	lazy2  = "g1 invoke lazy 2\ng1 return lazy 2 accepted\n"
	tail3  = "g1 invoke tail 3\ng1 return tail 3 accepted\n"
	open4  = "g1 invoke register 4\ng1 return register 4 accepted\n"
	slept  = "loop park\n"
	ready4 = "@1ms g2 ready 4\n"
	awake  = "@1ms loop unpark\n"

	turnRules = "virtual parks readiness"
)

// bodies runs bodies, one after the other: "task 2".
func bodies(names ...string) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteString("loop begin " + name + "\nloop end " + name + "\n")
	}
	return b.String()
}

var turnVariants = []variant{
	{"a task behind a timer", turnRules, due1 + lazy2 + slept + awake + bodies("timer 1", "task 2"),
		"V11 G13 task 2 began at #9, after timer 1 at #7, and a turn runs tasks before due timers"},
	{"a task behind a tail task", turnRules, lazy2 + slept + "@1ms " + tail3 + "loop unpark\n" + bodies("tail 3", "task 2"),
		"V11 G13 task 2 began at #9, after tail task 3 at #7, and a turn runs tasks before tail tasks"},
	{"a timer behind a tail task", turnRules, due1 + slept + "@1ms " + tail3 + "loop unpark\n" + bodies("tail 3", "timer 1"),
		"V11 G13 timer 1 began at #9, after tail task 3 at #7, and a turn runs due timers before tail tasks"},
	{"readiness behind a task", turnRules, open4 + lazy2 + slept + ready4 + awake + bodies("task 2", "readiness 4"),
		"V11 G13 registration 4 began at #10, after task 2 at #8, and a turn runs readiness handlers before tasks"},
	{"readiness behind a timer", turnRules, open4 + due1 + slept + ready4 + awake + bodies("timer 1", "readiness 4"),
		"V11 G13 registration 4 began at #10, after timer 1 at #8, and a turn runs readiness handlers before due timers"},
	{"all in order", turnRules, open4 + due1 + lazy2 + slept + "@1ms " + tail3 + ready4 + awake + bodies("readiness 4", "task 2", "timer 1", "tail 3"), ""},
	{"readiness again in the next turn", turnRules, open4 + lazy2 + slept + ready4 + awake + bodies("readiness 4", "task 2") + "g2 ready 4\n" + bodies("readiness 4"), ""},

	{"accepted when the loop was awake", turnRules, due1 + slept + awake + lazy2 + bodies("timer 1", "task 2"), ""},
	{"accepted when the loop was waking up", turnRules, due1 + slept + "g1 invoke lazy 2\n" + awake + "g1 return lazy 2 accepted\n" + bodies("timer 1", "task 2"), ""},
	{"without a sleep", turnRules, due1 + "@1ms " + lazy2 + bodies("timer 1", "task 2"), ""},
	{"one sleep later", turnRules, due1 + lazy2 + slept + awake + bodies("timer 1") + slept + awake + bodies("task 2"), ""},
	{"due later", turnRules, "g1 invoke schedule 1 delay=2ms\ng1 return schedule 1 accepted\n" + slept + "@1ms " + tail3 + "loop unpark\nloop begin tail 3\n@2ms loop end tail 3\n" + bodies("timer 1"), ""},
	{"in real time nobody knows what is due", "parks readiness", due1 + slept + "@1ms " + tail3 + "loop unpark\n" + bodies("tail 3", "timer 1"), ""},
	{"a moved timer", turnRules, due1 + "g1 invoke reset 1 delay=1ms\ng1 return reset 1 true\n" + slept + "@1ms " + tail3 + "loop unpark\n" + bodies("tail 3", "timer 1"), ""},
	{"a later run of a timer", turnRules, "g1 invoke rate 1 delay=1ms period=1ms\ng1 return rate 1 accepted\n" + slept + awake +
		"loop begin timer 1 run=1\nloop end timer 1 run=1\n" + tail3 + bodies("tail 3") + "@2ms loop begin timer 1 run=2\nloop end timer 1 run=2\n", ""},

	{"a task schedules a timer and a tail task", turnRules, lazy2 + slept + awake + "loop begin task 2\nloop invoke schedule 1\nloop return schedule 1 accepted\nloop invoke tail 3\nloop return tail 3 accepted\nloop end task 2\n" +
		bodies("tail 3", "timer 1"), "V11 G13 timer 1 began at #13, after tail task 3 at #11, and a turn runs due timers before tail tasks"},
	{"a tail task schedules a timer", turnRules, slept + "@1ms " + tail3 + "loop unpark\nloop begin tail 3\nloop invoke schedule 1\nloop return schedule 1 accepted\nloop invoke tail 5\nloop return tail 5 accepted\nloop end tail 3\n" +
		bodies("tail 5", "timer 1"), ""},

	{"a listener between", turnRules, due1 + lazy2 + slept + awake + bodies("timer 1", "listener 9", "task 2"), ""},
	{"a panic between", turnRules, due1 + lazy2 + slept + awake + "loop begin timer 1\nloop end timer 1 panicked\n" + bodies("task 2"), ""},
	{"a Goexit between", turnRules, due1 + lazy2 + slept + awake + "loop begin timer 1\nloop end timer 1 exited\n" + bodies("task 2"), ""},
	{"a call between that may complete a future", turnRules, due1 + lazy2 + slept + awake + bodies("timer 1") + "g2 invoke onclose\n" + bodies("task 2"), ""},
	{"such a call that has not returned", turnRules, due1 + lazy2 + "g2 invoke onclose\n" + slept + awake + bodies("timer 1", "task 2"), ""},
	{"such a call that has returned", turnRules, due1 + lazy2 + "g2 invoke onclose\ng2 return onclose returned\n" + slept + awake + bodies("timer 1", "task 2"),
		"V11 G13 task 2 began at #11"},
	{"a shutdown call", turnRules, lazy2 + slept + "@1ms " + tail3 + "loop unpark\n" + "g1 invoke graceful quiet=10ms timeout=1s\n" + bodies("tail 3", "task 2"), ""},
	{"a failure of the poller", turnRules, "g2 fault\n" + due1 + lazy2 + slept + awake + bodies("timer 1", "task 2"), ""},
	{"a registration that changes in the sleep", turnRules, open4 + lazy2 + slept + "@1ms g1 invoke modify 4\ng1 return modify 4 accepted\ng2 ready 4\n" + awake + bodies("task 2", "readiness 4"), ""},

	{"a timer behind more than a batch", turnRules + " batch=1", due1 + lazy2 + "g1 invoke lazy 5\ng1 return lazy 5 accepted\n" + slept + awake + bodies("task 2", "task 5", "timer 1"),
		"V11 G13 timer 1 began at #13, after more than a batch of 1 tasks, the last of them task 5 at #11, and a turn runs due timers after one batch"},
	{"a tail task behind more than a batch", turnRules + " batch=1", lazy2 + "g1 invoke lazy 5\ng1 return lazy 5 accepted\n" + slept + "@1ms " + tail3 + "loop unpark\n" + bodies("task 2", "task 5", "tail 3"),
		"V11 G13 tail task 3 began at #13, after more than a batch of 1 tasks, the last of them task 5 at #11, and a turn runs tail tasks after one batch"},
	{"a task of the next batch", turnRules + " batch=1", due1 + lazy2 + "g1 invoke lazy 5\ng1 return lazy 5 accepted\n" + slept + awake + bodies("task 2", "timer 1", "task 5"), ""},
	{"a timer of the next batch", turnRules + " batch=1", due1 + "g1 invoke schedule 5 delay=1ms\ng1 return schedule 5 accepted\n" + slept + "@1ms " + tail3 + "loop unpark\n" + bodies("timer 1", "tail 3", "timer 5"), ""},
	{"a cancelled timer took the room of the batch", turnRules + " batch=1", "g1 invoke schedule 5 delay=1ms\ng1 return schedule 5 accepted\ng1 invoke cancel 5\ng1 return cancel 5 true\n" + due1 + slept +
		"@1ms " + tail3 + "loop unpark\n" + bodies("tail 3", "timer 1"), ""},
	{"readiness that a busy loop finds in a later turn", turnRules + " batch=1", open4 + manyLazy(13) + slept + awake + manyRun(13) + "g2 ready 4\n" + bodies("readiness 4"), ""},
}

// manyLazy submits lazy tasks 11, 12, ..., and manyRun runs them.
func manyLazy(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "g1 invoke lazy %d\ng1 return lazy %[1]d accepted\n", 11+i)
	}
	return b.String()
}

func manyRun(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(bodies(fmt.Sprintf("task %d", 11+i)))
	}
	return b.String()
}
