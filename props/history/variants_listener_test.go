package history_test

import (
	"fmt"
	"regexp"
	"strings"
)

// The variants about listeners and the next body; see TestVariants. Tasks 1 and 2 are in one batch.

const (
	submit1   = "g1 invoke submit 1\ng1 state NotStarted->Started\ng1 return submit 1 accepted\n"
	listen1   = "g1 invoke onclose 1\ng1 return onclose 1 returned\n"
	execute2  = "g1 invoke execute 2\ng1 return execute 2 accepted\n"
	bothTasks = submit1 + listen1 + execute2

	listenerRules = "states oneloop"
)

var listenerVariants = []variant{
	{"a task before the listener", listenerRules, bothTasks + bodies("task 1", "task 2", "listener 1"),
		"V12 G9 task 1 has a listener since #4, and the body that completes it ended at #9, and task 2 began at #10, before the listener"},
	{"no listener at all", listenerRules, bothTasks + bodies("task 1", "task 2"), "V12 G9 the body that completes it ended at #9"},
	{"after a panic", listenerRules, bothTasks + "loop begin task 1\nloop end task 1 panicked\n" + bodies("task 2", "listener 1"), "V12 G9 the body that completes it ended at #9"},
	{"after a Goexit", listenerRules, bothTasks + "loop begin task 1\nloop end task 1 exited\nloop2 begin task 2\nloop2 end task 2\nloop2 begin listener 1\nloop2 end listener 1\n", "V12 G9 the body that completes it ended at #9"},
	{"a timer before the listener", listenerRules, submit1 + listen1 + due1b + bodies("task 1", "timer 3", "listener 1"), "V12 G9 the body that completes it ended at #9"},

	{"the listener first", listenerRules, bothTasks + bodies("task 1", "listener 1", "task 2"), ""},
	{"another listener first", listenerRules, bothTasks + "g2 invoke onclose 1\ng2 return onclose 1 returned\n" + bodies("task 1", "listener 1 run=1", "listener 1 run=2", "task 2"), ""},
	{"added as the task runs, and not returned", listenerRules, submit1 + execute2 + "loop begin task 1\ng1 invoke onclose 1\nloop end task 1\n" + bodies("task 2", "listener 1"), ""},
	{"added in the task", listenerRules, submit1 + execute2 + "loop begin task 1\nloop invoke onclose 1\nloop return onclose 1 returned\nloop end task 1\n" + bodies("task 2", "listener 1"), "V12 G9 the body that completes it ended at"},
	{"the state changed in the task", listenerRules, bothTasks + "loop begin task 1\ng1 state Started->ShuttingDown\nloop end task 1\n" + bodies("task 2", "listener 1"), ""},
	{"the state changed behind the task", listenerRules, bothTasks + bodies("task 1") + "g1 state Started->ShuttingDown\n" + bodies("task 2", "listener 1"), ""},
	{"the state changed before the body before, and the call is not over", listenerRules, "g1 invoke execute 4\ng1 return execute 4 accepted\n" + bothTasks + "g1 state Started->ShuttingDown\n" + bodies("task 4", "task 1", "task 2", "listener 1"), ""},
	{"the state changed before the body before", listenerRules, "g1 invoke execute 4\ng1 return execute 4 accepted\n" + bothTasks + "g1 state Started->ShuttingDown\ng1 invoke state\ng1 return state ShuttingDown\n" + bodies("task 4", "task 1", "task 2", "listener 1"), "V12 G9 the body that completes it ended at"},
	{"a promise, and a timer before the listener", listenerRules, submit1 + due1b + "loop begin task 1\nloop observe onclose 7\nloop end task 1\n" + bodies("timer 3", "listener 7"),
		"V12 G9 promise 7 was completed at #7, and the body that completes it ended at #8, and timer 3 began at #9, before the listener"},
	{"a promise, and the listener first", listenerRules, submit1 + due1b + "loop begin task 1\nloop observe onclose 7\nloop end task 1\n" + bodies("listener 7", "timer 3", "listener 7"), ""},
	{"a promise that somebody else completed", listenerRules, submit1 + due1b + "loop begin task 1\ng1 observe onclose 7\nloop end task 1\n" + bodies("timer 3", "listener 7"), ""},
	{"a promise that a listener completed", listenerRules, submit1 + due1b + bodies("task 1") + "loop begin listener 1\nloop observe onclose 7\nloop end listener 1\n" + bodies("timer 3", "listener 7"), ""},
	{"four rounds of listeners before a task", "", chain(4, "") + bodies("task 2"), "V7 G13 task 2, accepted at #5, waits for the listener at #20, the 4. in a row that another one has posted"},
	{"four rounds of listeners, and the task never", "", chain(4, ""), "V7 G13 task 2, accepted at #5, waits for the listener at #20"},
	{"six rounds of listeners and a cancelled task before a task", "", cancelled3 + chain(6, "") + bodies("task 2"), ""},
	{"seven rounds of listeners and a cancelled task before a task", "", cancelled3 + chain(7, "") + bodies("task 2"), "V7 G13 task 2, accepted at #9, waits for the listener at #33, the 7. in a row that another one has posted"},
	{"three rounds of listeners before a task", "", chain(3, "") + bodies("task 2"), ""},
	{"four rounds of listeners after a task", "", strings.Replace(chain(4, ""), bodies("task 1"), bodies("task 1", "task 2"), 1), ""},
	{"a body between the rounds", "", due1b + chain(4, bodies("timer 3")) + bodies("task 2"), ""},
	{"a change of the state between the rounds", "states", chain(4, "g1 state Started->ShuttingDown\n") + bodies("task 2"), ""},
	{"listeners of a pool", "overlap", chain(4, "") + bodies("task 2"), ""},
	{"four rounds of listeners off the loop", "", regexp.MustCompile("(begin|end) listener .*").ReplaceAllString(chain(4, ""), "$0 inloop=false") + bodies("task 2"), ""},
	{"a pool", "", bothTasks + bodies("task 1", "task 2", "listener 1"), ""},
}

// chain are task 2, which waits, and body 1, whose listener completes a promise whose listener completes the
// next one, and so on: after the first of them there are the given number of others. Some lines come
// behind the second.
func chain(rounds int, behindTheSecond string) string {
	var b strings.Builder
	b.WriteString(submit1 + execute2 + bodies("task 1"))
	for n := range rounds + 1 {
		fmt.Fprintf(&b, "loop begin listener %d\n", 10+n)
		if n < rounds {
			fmt.Fprintf(&b, "loop observe onclose %d\n", 11+n)
		}
		fmt.Fprintf(&b, "loop end listener %d\n", 10+n)
		if n == 1 {
			b.WriteString(behindTheSecond)
		}
	}
	return b.String()
}

const cancelled3 = "g1 invoke submit 3\ng1 return submit 3 accepted\ng1 invoke cancel 3\ng1 return cancel 3 true\n"

const due1b = "g1 invoke schedule 3\ng1 return schedule 3 accepted\n"
