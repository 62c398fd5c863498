package history_test

// The variants about what comes behind a shutdown call; see TestVariants.

const (
	tail2    = "g1 invoke tail 2\ng1 return tail 2 accepted\n"
	ranTail2 = "loop begin tail 2\nloop end tail 2\n"
	later3   = "g1 invoke execute 3\ng1 return execute 3 accepted\nloop begin task 3\nloop end task 3\n"
	ranHook1 = "loop begin hook 1\nloop end hook 1\n"
)

var passedTailVariants = []variant{
	{"later task before an older tail task", "", hook1 + tail2 + graceful + later3 + ranTail2 + ranHook1,
		"S22 G6 task 3, submitted after the shutdown call, began at #9 before tail task 2, accepted at #4, for which hook 1 waits"},
	{"later task before a tail task and a hook that never begin", "", hook1 + tail2 + graceful + later3, "S22 G6 task 3, submitted after the shutdown call, began at #9"},
	{"later task behind the tail task and before the hook", "", hook1 + tail2 + graceful + ranTail2 + later3 + ranHook1,
		"S9 G6 task 3, submitted after the shutdown call, began at #11 while hook 1, added at #2, was waiting"},
	{"no hook waits for the tail task", "", tail2 + graceful + later3 + ranTail2, ""},
	{"the hook may have been removed", "", hook1 + tail2 + graceful + "g2 invoke unhook 1\n" + later3 + ranTail2, ""},
	{"the hook was removed too late", "", hook1 + tail2 + graceful + "g2 invoke unhook 1\n" + later3 + ranTail2 + ranHook1 + "g2 return unhook 1 false\n",
		"S22 G6 task 3, submitted after the shutdown call, began at #10 before tail task 2"},
	{"the tail task may be from after the call", "", hook1 + "g2 invoke tail 2\n" + graceful + "g2 return tail 2 accepted\n" + later3 + ranTail2 + ranHook1, ""},
	{"the hook may be from after the call", "", tail2 + "g2 invoke hook 1\n" + graceful + "g2 return hook 1 accepted\n" + later3 + ranTail2 + ranHook1, ""},
	{"the later task may be from before the call", "", hook1 + tail2 + "g1 invoke graceful quiet=10ms timeout=1s\ng2 invoke execute 3\n" +
		"g2 return execute 3 accepted\nloop begin task 3\nloop end task 3\n" + ranTail2 + ranHook1 + "g1 return graceful accepted\n", ""},
	{"a tail task from after the call is behind later tasks", "", hook1 + graceful + ranHook1 + tail2 + later3 + ranTail2, ""},
	{"a later tail task is behind the older one", "", hook1 + tail2 + graceful + "g1 invoke tail 4\ng1 return tail 4 accepted\n" + ranTail2 + ranHook1 +
		"loop begin tail 4\nloop end tail 4\n", ""},
}

// timed waits beside a task that runs at the call; called is made in that task, calledBy2
// by another goroutine, over before the task ends.
const (
	timed     = timer1 + "g1 invoke execute 2\ng1 return execute 2 accepted\nloop begin task 2\n"
	queued3   = "g1 invoke execute 3\ng1 return execute 3 accepted\n"
	called    = "loop invoke graceful quiet=1ms timeout=1s\nloop return graceful accepted\nloop end task 2\n"
	calledBy2 = "g2 invoke graceful quiet=1ms timeout=1s\ng2 return graceful accepted\nloop end task 2\n"
	timers1   = "loop invoke stats\nloop return stats timers=1\n"
	timers2   = "loop invoke stats\nloop return stats timers=2\n"
	cancel1   = "loop invoke cancel 1\nloop return cancel 1 true\n"
)

var endedTimerVariants = []variant{
	{"a timer waits in the next task", "", timed + queued3 + called + "loop begin task 3\n" + timers1 + "loop end task 3\n",
		"S23 G7 1 timers were waiting at #13, though the shutdown called at #8 had left no more than 0 when task 3 began at #11"},
	{"a timer is there to be cancelled in the next task", "", timed + queued3 + calledBy2 + "loop begin task 3\n" + cancel1 + "loop end task 3\n",
		"S23 G7 the cancel of timer 1, called at #12, returned true: the shutdown called at #8 had not ended it when task 3 began at #11"},
	{"somebody else sees it", "", timed + queued3 + calledBy2 + "loop begin task 3\ng2 stats timers=1\nloop end task 3\n", "S23 G7 1 timers were waiting at #12"},
	{"a timer waits in the hook", "", hook3 + timer1 + graceful + "loop begin hook 3\n" + timers1 + "loop end hook 3\n", "S23 G7 1 timers were waiting at #9"},
	{"a timer waits in a later task", "", timer1 + graceful + "g1 invoke execute 3\ng1 return execute 3 accepted\nloop begin task 3\n" + timers1 + "loop end task 3\n",
		"S23 G7 1 timers were waiting at #9"},
	{"in the body that makes the call it may wait", "", timed + "loop invoke graceful quiet=1ms timeout=1s\nloop return graceful accepted\n" + timers1 + cancel1 + "loop end task 2\n", ""},
	{"the snapshot may be from before the next task", "", timed + queued3 + called + "g2 invoke stats\nloop begin task 3\ng2 return stats timers=1\nloop end task 3\n", ""},
	{"the cancel may be from before the next task", "", timed + queued3 + called + "g2 invoke cancel 1\nloop begin task 3\ng2 return cancel 1 true\nloop end task 3\n", ""},
	{"the next task may have been taken up before the call", "", timed + queued3 + "loop end task 2\n" + graceful + "loop begin task 3\n" + timers1 + cancel1 + "loop end task 3\n", ""},
	{"the next task may have been taken up during the call", "", timed + queued3 + "g2 invoke graceful quiet=1ms timeout=1s\nloop end task 2\nloop begin task 3\n" + timers1 +
		"g2 return graceful accepted\nloop end task 3\n", ""},
	{"what was taken up is no next body, but what follows it is", "", timed + queued3 + "g1 invoke execute 4\ng1 return execute 4 accepted\nloop end task 2\n" + graceful +
		"loop begin task 3\n" + timers1 + "loop end task 3\nloop begin task 4\n" + timers1 + "loop end task 4\n", "S23 G7 1 timers were waiting at #19"},
	{"a timer that runs at the call is over in the next body", "", timer1 + queued3 + "@5ms loop begin timer 1\n" + shutdown + "loop end timer 1\nloop begin task 3\n" + timers1 + "loop end task 3\n",
		"S23 G7 1 timers were waiting at #11"},
	{"the next handler follows one that returned", "", timer1 + twoReady + "loop end readiness 3\nloop begin readiness 4\n" + timers1 + "loop end readiness 4\n", "S23 G7 1 timers were waiting at #13"},
	{"the next handler follows one that exited", "", timer1 + twoReady + "loop end readiness 3 exited\nloop2 begin readiness 4\nloop2 stats timers=1\nloop2 end readiness 4\n", "S23 G7 1 timers were waiting at #12"},
	{"a due timer may wait, by its policy", "timers=RunDueTimers", timed + queued3 + "@5ms " + called + "loop begin task 3\n" + timers1 + cancel1 + "loop end task 3\n", ""},
	{"one that is not due may not", "timers=RunDueTimers", timed + queued3 + "g1 invoke schedule 4 delay=6ms\ng1 return schedule 4 accepted\n@5ms " + called +
		"loop begin task 3\n" + timers2 + "loop end task 3\n", "S23 G7 2 timers were waiting at #15, though the shutdown called at #10 had left no more than 1"},
	{"it may have been due when the call was decided", "timers=RunDueTimers", timed + queued3 + "g2 invoke graceful quiet=1ms timeout=1s\n@5ms g2 return graceful accepted\nloop end task 2\n" +
		"loop begin task 3\n" + timers1 + "loop end task 3\n", ""},
	{"within the timeout it may wait", "timers=RunTimersUntilTimeout", timed + queued3 + called + "loop begin task 3\n" + timers1 + cancel1 + "loop end task 3\n", ""},
	{"nothing is promised", "timers=AnyTimers", timed + queued3 + called + "loop begin task 3\n" + timers1 + cancel1 + "loop end task 3\n", ""},
}

// hook3 waits, and of two that are ready the first calls.
const (
	hook3    = "g1 invoke hook 3\ng1 return hook 3 accepted\n"
	twoReady = "g1 invoke register 3\ng1 return register 3 accepted\ng1 invoke register 4\ng1 return register 4 accepted\n" +
		"loop begin readiness 3\nloop invoke graceful quiet=1ms timeout=1s\nloop return graceful accepted\n"
)
