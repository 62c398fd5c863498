package history_test

import (
	"strings"
	"testing"
)

// Pieces of logs that the variants share.
const (
	task1    = "g1 invoke execute 1\ng1 return execute 1 accepted\n"
	ran1     = "loop begin task 1\nloop end task 1\n"
	hook1    = "g1 invoke hook 1\ng1 return hook 1 accepted\n"
	timer1   = "g1 invoke schedule 1 delay=5ms\ng1 return schedule 1 accepted\n"
	shutdown = "g1 invoke shutdown\ng1 return shutdown returned\n"
	graceful = "g1 invoke graceful quiet=10ms timeout=1s\ng1 return graceful accepted\n"
	done     = "loop done\n"

	twoTimers = timer1 + "g1 invoke schedule 2 delay=5ms\ng1 return schedule 2 accepted\n@5ms " + shutdown
)

// variant is a small log that breaks one predicate in one way, or, without a
// want, does not although it looks like one that does.
type variant struct {
	name, rules, lines string
	want               string // "S2 G3 ...": predicate, guarantee and a part of the text
}

// check wants the one violation that the variant names.
func (v variant) check(t *testing.T) {
	t.Helper()
	var got []string
	for _, found := range parse(t, v.rules, v.lines).Violations() {
		got = append(got, found.Predicate+" "+found.Guarantee+" "+found.Text)
	}
	switch {
	case v.want == "" && len(got) > 0:
		t.Errorf("got %q, want nothing, for\n%s", got, v.lines)
	case v.want != "" && (len(got) != 1 || !matches(got[0], v.want)):
		t.Errorf("got %q, want %q alone, for\n%s", got, v.want, v.lines)
	}
}

// matches compares the first two words exactly and looks for the rest anywhere.
func matches(got, want string) bool {
	g, w := strings.SplitN(got, " ", 3), strings.SplitN(want, " ", 3)
	return g[0] == w[0] && g[1] == w[1] && strings.Contains(g[2], w[2])
}

// TestVariants goes through the ways in which each predicate can be broken that
// the kept traces do not show, beside near misses.
func TestVariants(t *testing.T) {
	for _, table := range [][]variant{bodyVariants, admissionVariants, hookVariants, timerVariants, shutdownVariants, sleepVariants, countVariants, passedTailVariants, endedTimerVariants, readyVariants, turnVariants, listenerVariants} {
		for _, v := range table {
			t.Run(v.name, v.check)
		}
	}
}

var bodyVariants = []variant{
	{"in loop inside is right", "loop", task1 + "loop begin task 1\nloop observe inloop true\nloop end task 1\n", ""},
	{"in loop false inside", "loop", task1 + "loop begin task 1\nloop observe inloop false\nloop end task 1\n",
		"S6 G2 InEventLoop was false inside task 1, at #4"},
	{"in loop in a listener", "loop", task1 + ran1 + "loop begin listener 1 run=1\nloop observe inloop true\nloop end listener 1 run=1\n", ""},
	{"begins after done", "", task1 + done + ran1, "S8 G15 task 1 began at #4, after done at #3"},
	{"listener after done", "", task1 + ran1 + done + "g3 begin listener 1 run=1\ng3 end listener 1 run=1\n", ""},
	{"sleeps after done", "parks", task1 + ran1 + "loop closed\n" + done + "loop park\n", "S8 G15 the loop went to sleep at #7, after done at #6"},
	{"poller never closed", "parks", task1 + ran1 + "loop park\n" + done, "S8 G15 done at #6, and the poller was never closed"},
	{"poller closed too soon", "parks", task1 + "loop begin task 1\nloop closed\nloop end task 1\n" + done,
		"S8 G15 the poller was closed at #4, before task 1 had ended"},
	{"dies and never ends", "rest", task1 + "loop begin task 1\nloop end task 1 exited\n" + graceful,
		"S14 G14 task 1 exited at #4, and the shutdown called at #5 never ended"},
	{"exits, and is done without a call", "rest", task1 + "loop begin task 1\nloop end task 1 exited\n" + done,
		"S14 G14 task 1 exited at #4, and the executor was done at #5, without a shutdown call"},
	{"panics, and ends without a call", "rest states", "g1 invoke execute 1\ng1 state NotStarted->Started\ng1 return execute 1 accepted\nloop begin task 1\nloop end task 1 panicked\nloop state Started->Shutdown\nloop state Shutdown->Terminated\n" + done,
		"S14 G14 task 1 panicked at #5, and the executor began to end at #6, without a shutdown call"},
	{"exits, and is done as asked", "rest", graceful + task1 + "loop begin task 1\nloop end task 1 exited\n" + done, ""},
	{"runs, and is done without a call", "rest", task1 + ran1 + done, "V9 G15 the executor was done at #5, without a shutdown call"},
	{"exits, goes on, and is done without a call", "rest", task1 + "g1 invoke execute 2\ng1 return execute 2 accepted\nloop begin task 1\nloop end task 1 exited\n" +
		"loop2 begin task 2\nloop2 end task 2\n" + done, "V9 G15 the executor was done at #9, without a shutdown call"},
	{"panics last, and all is well", "rest", task1 + "loop begin task 1\nloop end task 1 panicked\n", ""},
	{"refused to an outsider", "", "g1 invoke await\ng1 return await refused:inloop\n", "S18 G18 await, called from outside at #1, was refused"},
	{"refused to the loop", "", task1 + "loop begin task 1\nloop invoke await\nloop return await refused:inloop\nloop end task 1\n", ""},
	{"terminated and then not", "", shutdown + "g2 observe state Terminated\ng2 observe done true\ng2 observe done true\n", ""},
	{"done and not terminated", "", shutdown + "g2 observe done true\ng2 observe state Shutdown\n",
		"S12 G15 the end was seen at #3, and the state was Shutdown afterwards, at #4"},
	{"done seen before it was", "", shutdown + "g2 observe done true\nloop done\n", "S12 G15 done was seen at #3, before it happened at #4"},
	{"transition from elsewhere", "states", "g1 state NotStarted->Started\ng1 state ShuttingDown->Shutdown\n",
		"S7 G1 ShuttingDown->Shutdown at #2, but the state was Started"},
	{"illegal transition", "states", "g1 state NotStarted->Started\ng1 state Started->Terminated\n", "S7 G1 Started->Terminated at #2 is not a legal move"},
	{"own looks go back", "", "g1 observe state Shutdown\ng1 observe state Started\n", "S7 G1 Shutdown was seen at #1, and Started afterwards at #2"},
	{"others' looks overlap", "", "g1 observe state Shutdown\ng2 observe state Started\n", ""},
}

var admissionVariants = []variant{
	{"full by others", "bound=1", sixteenTasks + "g2 invoke execute 17\ng2 return execute 17 refused:full\n", ""},
	{"not full", "bound=17", sixteenTasks + "g2 invoke execute 17\ng2 return execute 17 refused:full\n", "S4 G5 task 17 was refused for a full queue at #34"},
	{"start cannot fail", "", "g1 invoke execute 1\ng1 return execute 1 refused:starting\n", "S4 G5 task 1 was refused for its start at #2, though no start can fail"},
	{"submitting in the loop is legal", "", task1 + "loop begin task 1\nloop invoke execute 2\nloop return execute 2 refused:inloop\nloop end task 1\n",
		"S4 G5 task 2 was refused at #5 for being called in the loop"},
	{"nil task", "", "g1 invoke execute 1\ng1 return execute 1 refused:badargument\n", ""},
	{"no label", "", shutdown + "g1 invoke execute\ng1 return execute accepted\n", "S4 G5 task was accepted at #4, though Shutdown had returned at #2"},
	{"refusal is final", "", shutdown + "g1 invoke execute 1\ng1 return execute 1 refused\ng1 invoke execute 2\ng1 return execute 2 accepted\n",
		"S4 G5 task 2 was accepted at #6, though Shutdown had returned at #2"},
	{"refusal of a graceful shutdown is final", "", graceful + "g1 invoke execute 1\ng1 return execute 1 refused\ng1 invoke execute 2\ng1 return execute 2 accepted\n",
		"S4 G5 task 2 was accepted at #6, though a call had been refused as closed at #4"},
	{"turned away before the close", "states", "g2 invoke execute 1\ng1 invoke shutdown\ng2 admit execute 1 refused:closed\n" +
		"g1 state NotStarted->Shutdown\ng2 return execute 1 refused:closed\ng1 return shutdown returned\n",
		"S4 G5 task 1 was turned away at #3, before the close at #4"},
	{"Shutdown leaves admission open", "states", "g1 invoke shutdown\ng1 return shutdown returned\ng1 state NotStarted->Shutdown\n",
		"S4 G5 Shutdown returned at #2 and admission was still open"},
	{"tail tasks have an order of their own", "", "g1 invoke tail 1\ng1 return tail 1 accepted\ng1 invoke execute 2\ng1 return execute 2 accepted\n" +
		"loop begin task 2\nloop end task 2\nloop begin tail 1\nloop end tail 1\n", ""},
	{"tail tasks in disorder", "", "g1 invoke tail 1\ng1 return tail 1 accepted\ng1 invoke tail 2\ng1 return tail 2 accepted\n" +
		"loop begin tail 2\nloop end tail 2\nloop begin tail 1\nloop end tail 1\n", "S5 G4 tail task 1 was accepted before tail task 2 was"},
	{"the last of three overtakes the second", "", threeWaiting + "loop begin task 1\nloop end task 1\nloop begin task 3\nloop end task 3\nloop begin task 2\nloop end task 2\n",
		"S5 G4 task 2 was accepted before task 3 was, yet began at #11, after #9"},
	{"cancelled submit need not run", "completions", "g1 invoke submit 1\ng1 return submit 1 accepted\ng1 invoke cancel 1\ng1 return cancel 1 true\n" + shutdown + done, ""},
}

// threeWaiting are accepted one after the other, and do not begin.
const threeWaiting = task1 + "g1 invoke execute 2\ng1 return execute 2 accepted\ng2 invoke execute 3\ng2 return execute 3 accepted\n"

// sixteenTasks are accepted and do not begin.
var sixteenTasks = func() string {
	var b strings.Builder
	for _, id := range strings.Fields("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16") {
		b.WriteString("g1 invoke execute " + id + "\ng1 return execute " + id + " accepted\n")
	}
	return b.String()
}()

var hookVariants = []variant{
	{"hook before any shutdown", "", hook1 + "loop begin hook 1\nloop end hook 1\n", "S9 G6 hook 1 ran at #3, before any shutdown"},
	{"late hook from outside", "", shutdown + hook1 + "loop begin hook 1\nloop end hook 1\n" + done,
		"S9 G6 hook 1 was accepted at #4 from outside a hook, though Shutdown had returned at #2"},
	{"late hook refused to an early one", "", hook1 + shutdown + "loop begin hook 1\nloop invoke hook 2\nloop return hook 2 refused:closed\nloop end hook 1\n" + done,
		"S9 G6 hook 2 was refused at #7 inside hook 1, which was added before the close"},
	{"a hook's tasks may wait for the next hook", "", hook1 + graceful + "loop begin hook 1\nloop invoke execute 2\nloop return execute 2 accepted\nloop end hook 1\n" +
		"loop begin task 2\nloop end task 2\n", ""},
}

// rateRan1 is a timer that ran once, and taskOfLoop2 a task of another worker that cancels it when
// it is due again.
const (
	rateRan1 = "g1 invoke rate 1 period=5ms\ng1 return rate 1 accepted\nloop begin timer 1 run=1\nloop end timer 1 run=1\n" +
		"@5ms g1 invoke execute 2\ng1 return execute 2 accepted\n"
	taskOfLoop2 = "loop2 begin task 2\nloop2 invoke cancel 1\nloop2 return cancel 1 true\nloop2 end task 2\n"
)

var timerVariants = []variant{
	{"bad period accepted", "", "g1 invoke rate 1 delay=1ms period=0s\ng1 return rate 1 accepted\n", "S10 G7 timer 1 with initial delay 1ms and period 0s was accepted at #2"},
	{"negative initial delay accepted", "", "g1 invoke delay 1 delay=-1ms period=1s\ng1 return delay 1 accepted\n", "S10 G7 timer 1 with initial delay -1ms and period 1s was accepted"},
	{"runs stop at a cancel", "virtual", "g1 invoke rate 1 period=5ms\ng1 return rate 1 accepted\nloop begin timer 1 run=1\nloop end timer 1 run=1\n" +
		"@4ms g1 invoke cancel 1\ng1 return cancel 1 true\n@1h g1 observe done false\n", ""},
	{"runs stop at the end of the timer", "virtual", "g1 invoke rate 1 period=5ms\ng1 return rate 1 accepted\nloop begin timer 1 run=1\nloop end timer 1 run=1\n" +
		"@4ms loop complete 1 cancelled\n@1h g1 observe done false\n", ""},
	{"taken up before the cancel", "virtual", "g1 invoke rate 1 period=5ms\ng1 return rate 1 accepted\nloop begin timer 1 run=1\nloop end timer 1 run=1\n" +
		"@5ms g1 invoke cancel 1\ng1 return cancel 1 true\nloop begin timer 1 run=2\nloop end timer 1 run=2\n", ""},
	{"behind another body, so not taken up", "virtual", "g1 invoke rate 1 period=5ms\ng1 return rate 1 accepted\nloop begin timer 1 run=1\nloop end timer 1 run=1\n" +
		"g1 invoke schedule 2 delay=4ms\ng1 return schedule 2 accepted\n@4ms loop begin timer 2\n@6ms g1 invoke cancel 1\ng1 return cancel 1 true\nloop end timer 2\n" +
		"loop begin timer 1 run=2\nloop end timer 1 run=2\n", "S11 G8 run 2 of timer 1 began at #11, after its cancel had returned true at #9"},
	{"taken up by another worker before the cancel", "virtual overlap", rateRan1 + taskOfLoop2 + "loop begin timer 1 run=2\nloop end timer 1 run=2\n", ""},
	{"a worker runs a task after the cancel, and then the timer", "virtual overlap", rateRan1 + taskOfLoop2 +
		"g1 invoke execute 3\ng1 return execute 3 accepted\nloop begin task 3\nloop end task 3\nloop begin timer 1 run=2\nloop end timer 1 run=2\n",
		"S11 G8 run 2 of timer 1 began at #15, after its cancel had returned true at #9"},
	{"a nanosecond early", "virtual", timer1 + "@4999999ns loop begin timer 1\nloop end timer 1\n", "S10 G7 timer 1 began at 4.999999ms, 1ns before its deadline 5ms"},
	{"begins while its cancel is under way, which then says true", "virtual", timer1 + "@5ms g1 invoke cancel 1\nloop begin timer 1\nloop end timer 1\ng1 return cancel 1 true\n",
		"S11 G8 timer 1 ran at #4, and its cancel at #6 returned true"},
	{"ran and cancelled", "", timer1 + "@5ms loop begin timer 1\nloop end timer 1\nloop complete 1 cancelled\n", "S11 G8 timer 1 both ran, at #3, and ended as cancelled"},
	{"cancel after done", "", timer1 + shutdown + done + "g1 invoke cancel 1\ng1 return cancel 1 false\n", ""},
	{"cancel after the policy's", "", timer1 + shutdown + "g1 invoke cancel 1\ng1 return cancel 1 false\n" + done, ""},
	{"due timer in flight at the call", "virtual", timer1 + "@5ms g1 invoke shutdown\ng1 return shutdown returned\nloop begin timer 1\nloop end timer 1\n" + done, ""},
	{"due timers in flight in two workers", "virtual overlap", twoTimers + "loop begin timer 1\nloop2 begin timer 2\nloop end timer 1\nloop2 end timer 2\n" + done, ""},
	{"a worker takes a second timer after the call", "virtual overlap", twoTimers + "loop begin timer 1\nloop end timer 1\nloop begin timer 2\nloop end timer 2\n" + done,
		"S24 G7 timer 2, due at 5ms, began at #9, after the shutdown called at 5ms"},
	{"policy until timeout", "virtual quiet deadlines timers=RunTimersUntilTimeout", timer1 + "g1 invoke graceful quiet=1ms timeout=20ms\ng1 return graceful accepted\n" +
		"@5ms loop begin timer 1\nloop end timer 1\n@6ms loop done\n", ""},
	{"policy until timeout, not run", "virtual timers=RunTimersUntilTimeout", timer1 + "g1 invoke graceful quiet=1ms timeout=20ms\ng1 return graceful accepted\n@20ms loop done\n",
		"S24 G7 timer 1, due at 5ms, did not run (policy RunTimersUntilTimeout)"},
	{"policy until timeout, cut short", "virtual timers=RunTimersUntilTimeout", timer1 + "g1 invoke graceful quiet=1ms timeout=20ms\ng1 return graceful accepted\n" +
		"@2ms g1 invoke shutdown\ng1 return shutdown returned\nloop done\n", ""},
	{"policy until timeout, after it", "virtual timers=RunTimersUntilTimeout", "g1 invoke schedule 1 delay=30ms\ng1 return schedule 1 accepted\n" +
		"g1 invoke execute 2\ng1 return execute 2 accepted\nloop begin task 2\ng1 invoke graceful quiet=1ms timeout=20ms\ng1 return graceful accepted\n" +
		"@30ms loop end task 2\nloop begin timer 1\nloop end timer 1\nloop done\n", "S24 G7 timer 1, due at 30ms, began at #9, after the shutdown called at 0s"},
}
