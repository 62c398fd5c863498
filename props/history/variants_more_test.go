package history_test

import (
	"fmt"
	"strings"
)

// The variants about shutdown, sleep and counters; see TestVariants.

// wokenTwice is one call that wakes two sleeps, asked is graceful with its transition, timer20 is due after 20 ms, task2 runs at once.
const (
	asleepUntil5 = "g1 invoke schedule 1 delay=5ms\ng1 return schedule 1 accepted\nloop park until=5ms next=5ms\n"
	asked        = "g1 invoke graceful quiet=10ms timeout=1s\ng1 state NotStarted->ShuttingDown\ng1 return graceful accepted\n"
	timer20      = "g1 invoke schedule 1 delay=20ms\ng1 return schedule 1 accepted\n"
	wokenTwice   = "loop park\ng1 invoke execute 1\ng1 wake\nloop unpark\nloop begin task 1\nloop end task 1\nloop park\ng1 wake\n"

	closesBesideTimer = "g1 invoke schedule 1\ng1 return schedule 1 accepted\ng1 invoke graceful quiet=0s timeout=1s\ng1 state NotStarted->ShuttingDown\ng1 return graceful accepted\n" +
		"loop state ShuttingDown->Shutdown\nloop begin timer 1\n@1ms loop end timer 1\n"
	closesBefore2 = "loop state ShuttingDown->Shutdown\nloop begin task 2\nloop end task 2\n"
	task2         = "g1 invoke execute 2\ng1 return execute 2 accepted\nloop begin task 2\nloop end task 2\n"
)

var shutdownVariants = []variant{
	{"refused before the quiet period can be over", "virtual quiet deadlines", graceful + "@4ms g2 invoke execute 1\ng2 return execute 1 refused\n@10ms loop done\n",
		"V4 G10 task 1 was refused at 4ms, and admission was open until 10ms"},
	{"moved when it is due and has been dequeued", "virtual", "g1 invoke rate 1 delay=15ms period=5ms\ng1 return rate 1 accepted\n@15ms loop begin timer 1 run=1\nloop end timer 1 run=1\n" +
		"@20ms g1 invoke reset 1\ng1 return reset 1 true\nloop begin timer 1 run=2\nloop end timer 1 run=2\nloop begin timer 1 run=3\nloop end timer 1 run=3\n", ""},
	{"moved when it is due, and one run more than it moved", "virtual", "g1 invoke rate 1 delay=15ms period=5ms\ng1 return rate 1 accepted\n@15ms loop begin timer 1 run=1\nloop end timer 1 run=1\n" +
		"@20ms g1 invoke reset 1\ng1 return reset 1 true\nloop begin timer 1 run=2\nloop end timer 1 run=2\nloop begin timer 1 run=3\nloop end timer 1 run=3\n" +
		"loop begin timer 1 run=4\nloop end timer 1 run=4\n", "S10 G7 run 4 of timer 1 began at 20ms, 5ms before its deadline 25ms"},
	{"moved when it is due, and moved again", "virtual", "g1 invoke delay 1 delay=20ms period=5ms\ng1 return delay 1 accepted\n@20ms g1 invoke reset 1 delay=20ms\ng1 return reset 1 true\n" +
		"@30ms g1 invoke reset 1\ng1 return reset 1 true\nloop begin timer 1 run=1\nloop end timer 1 run=1\n@31ms g1 observe done false\n", ""},
	{"moved twice before it ran, later and back", "virtual", "g1 invoke rate 1 delay=0s period=25ms\ng1 return rate 1 accepted\ng1 invoke reset 1 delay=1ms\ng1 return reset 1 true\n" +
		"g1 invoke reset 1\ng1 return reset 1 true\nloop begin timer 1 run=1\nloop end timer 1 run=1\n@25ms loop begin timer 1 run=2\nloop end timer 1 run=2\n", ""},
	{"moved when a late run had been dequeued, and later runs tell", "", "g1 invoke rate 1 delay=1ms period=5ms\ng1 return rate 1 accepted\n@9ms loop begin timer 1 run=1\nloop end timer 1 run=1\n" +
		"g1 invoke reset 1 delay=5ms\ng1 return reset 1 true\n@29ms loop begin timer 1 run=2\nloop end timer 1 run=2\nloop begin timer 1 run=3\nloop end timer 1 run=3\n" +
		"loop begin timer 1 run=4\nloop end timer 1 run=4\nloop begin timer 1 run=5\nloop end timer 1 run=5\nloop begin timer 1 run=6\nloop end timer 1 run=6\n@34ms loop begin timer 1 run=7\nloop end timer 1 run=7\n", ""},
	{"moved when a late run had been dequeued, and one run too many", "", "g1 invoke rate 1 delay=1ms period=5ms\ng1 return rate 1 accepted\n@9ms loop begin timer 1 run=1\nloop end timer 1 run=1\n" +
		"g1 invoke reset 1 delay=15ms\ng1 return reset 1 true\n@25ms loop begin timer 1 run=2\nloop end timer 1 run=2\nloop begin timer 1 run=3\nloop end timer 1 run=3\n" +
		"loop begin timer 1 run=4\nloop end timer 1 run=4\n", "S10 G7 run 4 of timer 1 began at 25ms, 4ms before its deadline 29ms"},
	{"moved and cancelled when a late run had been dequeued", "", "g1 invoke rate 1 delay=0s period=1ms\ng1 return rate 1 accepted\n@3ms loop begin timer 1 run=1\nloop end timer 1 run=1\n" +
		"g1 invoke reset 1 delay=1ms\ng1 return reset 1 true\ng1 invoke cancel 1\ng1 return cancel 1 true\n@1s loop begin timer 1 run=2\nloop end timer 1 run=2\n", ""},
	{"moved and cancelled when a late run had been dequeued, and one run too many", "", "g1 invoke rate 1 delay=0s period=1ms\ng1 return rate 1 accepted\n@3ms loop begin timer 1 run=1\nloop end timer 1 run=1\n" +
		"g1 invoke reset 1 delay=1ms\ng1 return reset 1 true\ng1 invoke cancel 1\ng1 return cancel 1 true\n@1s loop begin timer 1 run=2\nloop end timer 1 run=2\n" +
		"loop begin timer 1 run=3\nloop end timer 1 run=3\n", "S11 G8 run 3 of timer 1 began at #11, after its cancel had returned true at #8"},
	{"refused when it is", "virtual quiet deadlines", graceful + "@10ms g2 invoke execute 1\ng2 return execute 1 refused\nloop done\n", ""},
	{"Close has no quiet period", "virtual quiet states", "g1 invoke close\ng1 state NotStarted->ShuttingDown\n@1ms g1 state ShuttingDown->Shutdown\n",
		"V4 G10 admission ended only at 1ms, and 0s was due"},
	{"Close in the loop begins a shutdown", "virtual quiet", task1 + "loop begin task 1\nloop invoke close\nloop return close refused:inloop\nloop invoke execute 2\n" +
		"loop return execute 2 refused:closed\nloop end task 1\nloop done\n", ""},
	{"Shutdown has none either", "virtual quiet states", "g1 invoke shutdown\ng1 state NotStarted->Shutdown\n@1ms g1 return shutdown returned\n", ""},
	{"a tie with a timer", "virtual quiet timers=AnyTimers", "g1 invoke schedule 1 delay=10ms\ng1 return schedule 1 accepted\n" + graceful + "@10ms loop begin timer 1\nloop end timer 1\nloop done\n", ""},
	{"a timer that is due at the close runs before", "virtual quiet states timers=RunDueTimers", closesBesideTimer, "V4 G10 admission ended already at 0s, and 1ms was due"},
	{"a timer that is due at the close may run after", "virtual quiet states timers=AnyTimers", closesBesideTimer, ""},
	{"a task that was accepted before the close, in its instant", "virtual quiet states", asked + "@10ms g2 invoke execute 2\ng2 admit execute 2 accepted\ng2 return execute 2 accepted\n" + closesBefore2,
		"V4 G10 admission ended already at 10ms, and 20ms was due"},
	{"a task that may have been accepted before the close, in its instant", "virtual quiet states", asked + "@10ms g2 invoke execute 2\ng2 return execute 2 accepted\n" + closesBefore2, ""},
	{"a timer restarts the quiet period", "virtual quiet timers=AnyTimers", timer1 + graceful + "@5ms loop begin timer 1\nloop end timer 1\n@15ms loop done\n", ""},
	{"the policy waits for a timer", "virtual quiet states timers=RunTimersUntilTimeout", timer20 + asked + "@20ms loop begin timer 1\nloop end timer 1\n@30ms loop state ShuttingDown->Shutdown\n", ""},
	{"the policy does not wait", "virtual quiet states timers=RunTimersUntilTimeout", timer20 + asked + "@10ms loop state ShuttingDown->Shutdown\n",
		"V4 G10 admission ended already at 10ms, and 1s was due"},
	{"the policy waits until a cancel", "virtual quiet states timers=RunTimersUntilTimeout", timer20 + asked + "@15ms g1 invoke cancel 1\ng1 return cancel 1 true\nloop state ShuttingDown->Shutdown\n", ""},
	{"work while the policy waits", "virtual quiet states timers=RunTimersUntilTimeout", timer20 + asked + "@14ms " + task2 + "@15ms g1 invoke cancel 1\ng1 return cancel 1 true\n" +
		"@24ms loop state ShuttingDown->Shutdown\n", ""},
	{"waits after the cancel", "virtual quiet states timers=RunTimersUntilTimeout", timer20 + asked + "@15ms g1 invoke cancel 1\ng1 return cancel 1 true\n@16ms loop state ShuttingDown->Shutdown\n",
		"V4 G10 admission ended only at 16ms, and 15ms was due"},
	{"a timer beyond the timeout is not waited for", "virtual quiet states timers=RunTimersUntilTimeout", "g1 invoke schedule 1 delay=2s\ng1 return schedule 1 accepted\n" + asked +
		"@10ms loop state ShuttingDown->Shutdown\n", ""},
	{"a timer that has run is not waited for", "virtual quiet states timers=RunTimersUntilTimeout", timer1 + asked + "@5ms loop begin timer 1\nloop end timer 1\n" +
		"@15ms loop state ShuttingDown->Shutdown\n@20ms loop complete 1 normal\n", ""},
	{"a periodic timer that panicked neither", "virtual quiet states timers=RunTimersUntilTimeout", "g1 invoke rate 1 delay=5ms period=5ms\ng1 return rate 1 accepted\n" + asked +
		"@5ms loop begin timer 1 run=1\nloop end timer 1 panicked run=1\n@15ms loop state ShuttingDown->Shutdown\n", ""},
	{"a periodic timer keeps it open until the timeout", "virtual quiet deadlines states timers=RunTimersUntilTimeout", "g1 invoke rate 1 delay=5ms period=5ms\ng1 return rate 1 accepted\n" +
		"g1 invoke graceful quiet=1ms timeout=12ms\ng1 state NotStarted->ShuttingDown\ng1 return graceful accepted\n@5ms loop begin timer 1 run=1\nloop end timer 1 run=1\n@10ms loop begin timer 1 run=2\nloop end timer 1 run=2\n" +
		"@11ms loop state ShuttingDown->Shutdown\n", ""},
	{"good arguments refused", "", "g1 invoke graceful quiet=1s timeout=1s\ng1 return graceful refused:badargument\n",
		"S13 G16 a graceful shutdown with quiet 1s and timeout 1s was answered refused:badargument at #2"},
	{"the limit of a first call at its parameters", "virtual quiet states", graceful + "g1 state NotStarted->ShuttingDown\n@1ms g1 invoke graceful quiet=10ms timeout=1s\ng1 return graceful accepted\n" +
		"@10ms loop state ShuttingDown->Shutdown\n", ""},
	{"done follows bodies", "virtual deadlines states", task1 + "loop begin task 1\ng1 invoke graceful timeout=1ms\ng1 state NotStarted->ShuttingDown\ng1 return graceful accepted\n" +
		"@1ms g2 state ShuttingDown->Shutdown\n@1h loop end task 1\nloop done\n", ""},
	{"late within the slack", "deadlines states slack=5ms", "g1 invoke graceful timeout=1ms\ng1 state NotStarted->ShuttingDown\ng1 return graceful accepted\n@6ms g1 state ShuttingDown->Shutdown\n", ""},
	{"late beyond the slack", "deadlines states slack=5ms", "g1 invoke graceful timeout=1ms\ng1 state NotStarted->ShuttingDown\ng1 return graceful accepted\n@7ms g1 state ShuttingDown->Shutdown\n",
		"V3 G11 admission ended at 7ms, and the deadline was 1ms"},
	{"huge timeout", "virtual deadlines quiet states", "g1 invoke graceful timeout=never\ng1 state NotStarted->ShuttingDown\ng1 return graceful accepted\ng1 state ShuttingDown->Shutdown\n", ""},
	{"a start that fails needs no quiet period", "virtual quiet states spawner", "g1 invoke graceful quiet=10ms timeout=1s\ng1 state NotStarted->ShuttingDown\n" +
		"g1 state ShuttingDown->Terminated\ng1 done\ng1 return graceful accepted\n", ""},
	{"a spawner that takes its time", "virtual quiet states spawner", task1 + ran1 + graceful + "g1 state NotStarted->ShuttingDown\n@12ms loop state ShuttingDown->Shutdown\n", ""},
	{"a spawner is no excuse to be early", "virtual quiet states spawner", task1 + ran1 + graceful + "g1 state NotStarted->ShuttingDown\n@8ms loop state ShuttingDown->Shutdown\n",
		"V4 G10 admission ended already at 8ms, and 10ms was due"},
	{"a stuck body is nobody's fault", "rest", task1 + "loop begin task 1\n" + graceful, ""},
	{"a timer waits for its time", "rest", timer1 + "@4ms g1 observe done false\n", ""},
	{"a timer waits too long", "rest", timer1 + "@6ms g1 observe done false\n", "V2 G12 timer 1, accepted at #2, was still waiting"},
	{"a lazy task waits for a wake", "rest", "g1 invoke lazy 1\ng1 return lazy 1 accepted\n", ""},
	{"a lazy task waits through a shutdown", "rest", "g1 invoke lazy 1\ng1 return lazy 1 accepted\n" + graceful, "V2 G12 task 1, accepted at #2, was still waiting"},
	{"a hook waits for a shutdown", "rest", hook1, ""},
	{"a hook waits through one", "rest", hook1 + graceful, "V2 G12 hook 1, accepted at #2, was still waiting"},
}

var sleepVariants = []variant{
	{"a wake is pending", "parks", "loop park token queued=3\n", ""},
	{"lazy tasks may sleep", "parks", "loop park lazy=3\n", ""},
	{"work is stale", "parks", "loop park queued=1\n", "V1 G12 asleep at #1 with 1 tasks queued and no wake pending"},
	{"a turn for a wake", "parks", "loop park token\nloop unpark\nloop park token\nloop unpark\nloop park token\nloop unpark\nloop park token\nloop unpark\nloop park token\n", ""},
	{"turns in time", "parks", "loop park until=1ms\n@1ms loop unpark\nloop park until=2ms\n@2ms loop unpark\nloop park until=3ms\n@3ms loop unpark\nloop park until=4ms\n" +
		"@4ms loop unpark\nloop park until=5ms\n", ""},
	{"turns in no time", "parks", "loop park\nloop unpark\nloop park\nloop unpark\nloop park\nloop unpark\nloop park\nloop unpark\nloop park\n",
		"V6 G12 4 turns in a row with nothing to do"},
	{"a wake for a timer behind the end of the sleep", "virtual parks", asleepUntil5 + "@2ms g1 invoke schedule 2 delay=3ms\ng1 wake\ng1 return schedule 2 accepted\nloop unpark\n",
		"V8 G12 timer 2, due at 5ms, woke the loop at #5, which slept until 5ms"},
	{"a wake for a timer moved behind the end of the sleep", "virtual parks", asleepUntil5 + "@2ms g1 invoke reset 1 delay=9ms\ng1 wake\ng1 return reset 1 true\nloop unpark\n", "V8 G12 timer 1, due at 11ms, woke"},
	{"a wake for an earlier timer", "virtual parks", asleepUntil5 + "@2ms g1 invoke schedule 2 delay=2ms\ng1 wake\ng1 return schedule 2 accepted\nloop unpark\n", ""},
	{"a wake for a later timer, and a lazy task waits", "virtual parks", asleepUntil5 + "g2 invoke lazy 3\ng2 return lazy 3 accepted\n@2ms g1 invoke schedule 2 delay=9ms\ng1 wake\ng1 return schedule 2 accepted\nloop unpark\n" + bodies("task 3"), ""},
	{"a wake for a later timer whose call began before the sleep", "virtual parks", "g1 invoke schedule 1 delay=5ms\ng1 return schedule 1 accepted\ng2 invoke schedule 2 delay=9ms\nloop park until=5ms next=5ms\ng2 wake\ng2 return schedule 2 accepted\nloop unpark\n", ""},
	{"a wake in real time", "parks", asleepUntil5 + "@2ms g1 invoke schedule 2 delay=3ms\ng1 wake\ng1 return schedule 2 accepted\nloop unpark\n", ""},
	{"a wake for the failure of a wake", "breaks parks", "g2 fault error\n" + wokenTwice, ""},
	{"two wakes of one call", "breaks parks", wokenTwice, "V8 G12 wake 2 at #8, and 1 calls from outside can have changed anything"},
	{"three wakes of one call", "breaks parks", "g2 fault error\n" + wokenTwice + "loop unpark\nloop park\ng1 wake\n", "V8 G12 wake 3 at #12, and 2 calls from outside can have changed anything"},
	{"a wake nobody asked for", "parks", "loop park\ng1 wake\nloop unpark\n", "V8 G12 wake 1 at #2, and 0 calls from outside can have changed anything"},
	{"a wake for the deadline", "parks states", "g1 invoke graceful timeout=1ms\ng1 state NotStarted->ShuttingDown\ng1 wake\ng1 return graceful accepted\nloop park\nloop unpark\nloop park until=9ms\n" +
		"@1ms g2 state ShuttingDown->Shutdown\ng2 wake\n", ""},
	{"tail task starves", "batch=1", "g1 invoke tail 1\ng1 return tail 1 accepted\n" + threeTasks + "loop begin tail 1\nloop end tail 1\n",
		"V7 G13 tail task 1, ready at #2, waited for 3 tasks, and a batch is 1"},
	{"a later tail task waits for those before the shutdown call", "batch=2", laterTail(6), ""},
	{"a later tail task starves", "batch=2", laterTail(7), "V7 G13 tail task 2, ready at #20, waited for 7 tasks, and a batch is 2"},
	{"a tail task waits no longer for a listener", "batch=2", strings.Replace(laterTail(7), "loop end tail 1\n", "loop end tail 1\nloop begin listener 3 run=1\nloop end listener 3 run=1\n", 1), "V7 G13 tail task 2, ready at #20, waited for 7 tasks, and a batch is 2"},
	{"tail task waits a batch", "batch=2", "g1 invoke tail 1\ng1 return tail 1 accepted\n" + threeTasks + "loop begin tail 1\nloop end tail 1\n", ""},
	{"tail task waits a batch more for a change of the state", "batch=1 states", "g1 invoke tail 1\ng1 return tail 1 accepted\ng1 state NotStarted->ShuttingDown\n" +
		threeTasks + "loop begin tail 1\nloop end tail 1\n", ""},
	{"tail task starves after a change of the state", "batch=1 states", "g1 state NotStarted->ShuttingDown\ng1 invoke tail 1\ng1 return tail 1 accepted\n" +
		threeTasks + "loop begin tail 1\nloop end tail 1\n", "V7 G13 tail task 1, ready at #3, waited for 3 tasks, and a batch is 1"},
	{"timer starves for ever", "batch=1", "g1 invoke schedule 1\ng1 return schedule 1 accepted\n" + threeTasks, "V7 G13 timer 1, ready at #2, waited for 3 tasks"},
	{"a periodic timer waits a batch more for a timer", "batch=1", "g1 invoke schedule 1\ng1 return schedule 1 accepted\ng1 invoke rate 5 period=9ms\ng1 return rate 5 accepted\n" +
		strings.Replace(threeTasks, "loop begin task 4\n", "loop begin timer 1\nloop end timer 1\nloop begin task 4\n", 1) + "loop begin timer 5 run=1\nloop end timer 5 run=1\n", ""},
	{"a periodic timer starves", "batch=1", "g1 invoke rate 5 period=9ms\ng1 return rate 5 accepted\n" + threeTasks + "loop begin timer 5 run=1\nloop end timer 5 run=1\n", "V7 G13 timer 5, ready at #2, waited for 3 tasks, and a batch is 1"},
	{"timer is cancelled by the shutdown", "batch=1", "g1 invoke schedule 1\ng1 return schedule 1 accepted\n" + graceful + threeTasks, ""},
	{"hook starves", "batch=1", graceful + hook1 + threeTasks + "loop begin hook 1\nloop end hook 1\n", "V7 G13 hook 1, ready at #4, waited for 3 tasks"},
}

// threeTasks are submitted one from the other.
const threeTasks = "g1 invoke execute 2\ng1 return execute 2 accepted\n" +
	"loop begin task 2\nloop invoke execute 3\nloop return execute 3 accepted\nloop end task 2\n" +
	"loop begin task 3\nloop invoke execute 4\nloop return execute 4 accepted\nloop end task 3\n" +
	"loop begin task 4\nloop end task 4\n"

var countVariants = []variant{
	{"a counter goes back", "stats", task1 + ran1 + "g1 stats accepted=1 ran=1\ng1 stats accepted=1 pending=1\n", "S15 G20 a counter went back at #6"},
	{"two observers overlap", "stats", task1 + ran1 + "g1 invoke stats\ng2 invoke stats\ng2 return stats accepted=1 ran=1\ng1 return stats accepted=1 pending=1\n", ""},
	{"more than was tried", "stats", task1 + "g1 stats accepted=2 pending=2\n", "S15 G20 at #3 accepted 2 of 1 attempts"},
	{"more than ended", "stats", task1 + "loop begin task 1\ng1 stats accepted=1 ran=1\n", "S15 G20 at #4 ran 1, and 0 tasks had ended"},
	{"pending below zero", "stats", task1 + ran1 + "g1 stats ran=1 pending=-1\n", "S15 G20 at #5 accepted 0, ran 1, cancelled 0, pending -1"},
	{"a task is in no book", "stats", task1 + ran1 + "g1 stats accepted=1\n", "S15 G20 at #5 accepted 1, ran 0, cancelled 0, pending 0"},
	{"pending when done", "stats", task1 + ran1 + shutdown + done + "g1 stats accepted=1 pending=1\n", "S15 G20 1 tasks pending at #8, after done"},
	{"more rejected than refused", "stats", shutdown + done + "g1 stats rejected=1\n", "S15 G20 at #4 rejected 1, and 0 tasks were refused"},
	{"cancelled counts", "stats completions", "g1 invoke submit 1\ng1 return submit 1 accepted\ng1 invoke cancel 1\ng1 return cancel 1 true\n" + shutdown + done +
		"g1 stats accepted=1 cancelled=1\n", ""},
	{"timers left", "stats", shutdown + done + "g1 stats timers=1\n", "S16 G24 1 timers waiting at #4, after done"},
	{"a call from a stuck body is not a caller left behind", "rest", task1 + "loop begin task 1\nloop invoke execute 2\n",
		"S18 G18 execute, called at #4 inside task 1, never returned"},
}

// laterTail has seven tasks and tail task 1, a shutdown call, and tail task 2, which begins when
// n of the tasks and tail task 1 have run.
func laterTail(n int) string {
	var b strings.Builder
	for id := 3; id < 10; id++ {
		fmt.Fprintf(&b, "g1 invoke execute %d\ng1 return execute %[1]d accepted\n", id)
	}
	b.WriteString("g1 invoke tail 1\ng1 return tail 1 accepted\n" + graceful + "g1 invoke tail 2\ng1 return tail 2 accepted\n")
	for i := range n {
		if i == 2 {
			b.WriteString("loop begin tail 1\nloop end tail 1\n")
		}
		fmt.Fprintf(&b, "loop begin task %d\nloop end task %[1]d\n", 3+i)
	}
	b.WriteString("loop begin tail 2\nloop end tail 2\n")
	return b.String()
}
