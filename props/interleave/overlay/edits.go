package overlay

// shared are the edits that all supported releases have in common.
var shared = []edit{
	// The scheduler: which goroutine may run, and where the turn is passed on.
	{file: "runtime/runtime2.go", in: "g", at: field, text: "ilv ilvG; "},
	{file: "runtime/proc.go", in: "main", at: after, find: "main_init_done = make(chan bool)", text: "ilvStart()"},
	{file: "runtime/proc.go", in: "newproc1", at: after, find: "newg.runningCleanups.Store(false)", text: "newg.ilv = ilvG{}"},
	{file: "runtime/proc.go", in: "newproc1", at: after, find: "newg.bubble = callergp.bubble", text: "ilvBorn(newg, callergp)"},
	{file: "runtime/proc.go", in: "newproc", at: after, find: "systemstack(func() {})", text: "ilvPoint(nil, ilvGo)"},
	{file: "runtime/proc.go", in: "runqput", at: enter, text: "if gp.ilv.on && ilvHold(gp) { return }"},
	{file: "runtime/proc.go", in: "park_m", at: after, find: "mp := getg().m", text: "ilvParking(gp)"},
	{file: "runtime/proc.go", in: "park_m", at: before, find: "execute(gp, true)", text: "ilvStayed(gp)"},
	{file: "runtime/proc.go", in: "park_m", at: before, find: "schedule()", text: "ilvParked(gp)"},
	{file: "runtime/proc.go", in: "goexit1", at: enter, text: "ilvEmbeddedEnds()"},
	{file: "runtime/proc.go", in: "goexit0", at: before, find: "gdestroy(gp)", text: "ilvEnding(gp)"},
	{file: "runtime/proc.go", in: "goexit0", at: before, find: "schedule()", text: "ilvEnded()"},
	{file: "runtime/proc.go", in: "gdestroy", at: before, find: "gogo(&mp.g0.sched)", text: "ilvEnded()"},
	{file: "runtime/proc.go", in: "Gosched", at: before, find: "mcall(gosched_m)", text: "ilvPoint(nil, ilvYield)"},
	{file: "runtime/proc.go", in: "exitsyscall", at: replace, find: "Gosched()", text: "mcall(gosched_m)"},
	{file: "runtime/proc.go", in: "exitsyscall", at: after, find: "gp.throwsplit = false", n: 2, text: "if gp.ilv.out { mcall(ilvReturn) }"},
	{file: "runtime/proc.go", in: "os_beforeExit", at: enter, text: "ilvExit(exitCode)"},
	{file: "runtime/sema.go", in: "sync_runtime_Semacquire", at: replace, find: "waitReasonSemacquire", text: "waitReasonSyncMutexLock"},
	{file: "runtime/sema.go", in: "poll_runtime_Semacquire", at: replace, find: "waitReasonSemacquire", text: "waitReasonSyncMutexLock"},
	{file: "runtime/coro.go", in: "coroswitch_m", at: before, find: "gogo(&gnext.sched)", text: "ilvCoroutine(gnext)"},
	{file: "runtime/netpoll.go", in: "netpollready", at: replace, find: "rg != nil", text: "rg != nil && !ilvExternal(rg)"},
	{file: "runtime/netpoll.go", in: "netpollready", at: replace, find: "wg != nil", text: "wg != nil && !ilvExternal(wg)"},

	// The runtime's own goroutines communicate by ordinary channels.
	{file: "runtime/mgc.go", in: "gcBgMarkStartWorkers", at: before, find: "<-ready", text: "getg().ilv.own = true"},
	{file: "runtime/mgc.go", in: "gcBgMarkStartWorkers", at: after, find: "<-ready", text: "getg().ilv.own = false"},
	{file: "runtime/signal_unix.go", in: "sigenable", at: before, find: "enableSigChan <- sig", text: "getg().ilv.own = true"},
	{file: "runtime/signal_unix.go", in: "sigenable", at: after, find: "<-maskUpdatedChan", text: "getg().ilv.own = false"},
	{file: "runtime/signal_unix.go", in: "sigdisable", at: before, find: "disableSigChan <- sig", text: "getg().ilv.own = true"},
	{file: "runtime/signal_unix.go", in: "sigdisable", at: after, find: "<-maskUpdatedChan", text: "getg().ilv.own = false"},

	// The world outside: long system calls, and counts of the operations that are not controlled.
	{file: "runtime/proc.go", in: "sysmon", at: replace, find: "debug.schedtrace <= 0", text: "debug.schedtrace <= 0 && !ilv.on"},
	{file: "runtime/proc.go", in: "sysmon", at: replace, find: "usleep(delay)", text: "usleep(ilvDelay(delay))"},
	{file: "runtime/proc.go", in: "sysmon", at: after, find: "now = nanotime()", text: "ilvWatch(now)"},
	{file: "runtime/proc.go", in: "checkdead", at: enter, text: "if ilvPauses() { return }"},
	{file: "runtime/cgocall.go", in: "cgocall", at: enter, text: "ilvMeet(ilvMetCgo)"},
	{file: "runtime/mgc.go", in: "GC", at: enter, text: "ilvMeet(ilvMetGC)"},
	{file: "syscall/exec_unix.go", in: "forkExec", at: enter, text: "ilvChild()"},

	// Signals to the own process.
	{file: "syscall/syscall_linux.go", in: "Syscall", at: enter, text: "ilvSignals(trap, a1, a2, a3)"},
	{file: "syscall/syscall_linux.go", in: "RawSyscall", at: enter, text: "ilvSignals(trap, a1, a2, a3)"},
	{file: "os/pidfd_linux.go", in: "(*Process).pidfdSendSignal", at: enter, text: "ilvSends(p.Pid, int(s))"},
	{file: "runtime/sigqueue.go", in: "sigsend", at: after, find: "sig.delivering.Add(1)", text: "ilvHandled(s)"},

	// The end of a process, and its last words.
	{file: "runtime/panic.go", in: "dopanic_m", at: enter, text: "ilvDying(gp, pc, sp)"},
	{file: "runtime/panic.go", in: "throw", at: enter, text: "ilvFatal(s)"},
	{file: "runtime/panic.go", in: "fatal", at: enter, text: "ilvFatal(s)"},
	{file: "runtime/panic.go", in: "gopanic", at: before, find: "fatalpanic(&p)", text: "ilvEmbeddedPanics(e)"},
	{file: "runtime/print.go", in: "gwrite", at: enter, text: "if ilvHear(b) { return }"},

	// Channels.
	{file: "runtime/chan.go", in: "chansend", at: enter, text: "ilvPointIf(unsafe.Pointer(c), ilvSend, block)"},
	{file: "runtime/chan.go", in: "chanrecv", at: enter, text: "ilvPointIf(unsafe.Pointer(c), ilvRecv, block)"},
	{file: "runtime/chan.go", in: "closechan", at: enter, text: "ilvPoint(unsafe.Pointer(c), ilvClose)"},
	{file: "runtime/chan.go", in: "chanlen", at: enter, text: "ilvPoint(unsafe.Pointer(c), ilvLen)"},
	{file: "runtime/select.go", in: "selectgo", at: after, find: "gp := getg()", text: "ilvPointIf(nil, ilvSelect, block)"},
	{file: "runtime/select.go", in: "selectgo", at: replace, find: "cheaprandn(uint32(norder + 1))", text: "ilvShuffle(gp, uint32(norder))"},
	{file: "runtime/select.go", in: "selectgo", at: after, find: "sellock(scases, lockorder)", n: 2, text: "ilvCases(gp, scases, pollorder, nsends)"},

	// Chance.
	{file: "runtime/rand.go", in: "rand", at: enter, text: "if getg().ilv.on { return ilvValue() }"},
	{file: "runtime/rand.go", in: "randinit", at: after, find: "seed := &globalRand.seed", text: "startupRand = ilvStartup[:]"},
	{file: "internal/runtime/maps/table.go", in: "(*Iter).Init", at: replace, find: "it.entryOffset = rand()", text: "it.entryOffset, it.dirOffset = ilvOrder(m.used)"},
	{file: "internal/runtime/maps/table.go", in: "(*Iter).Init", at: replace, find: "it.dirOffset = rand()", text: ""},

	// Time.
	{file: "runtime/sema.go", in: "internal_sync_nanotime", at: enter, text: "if ilv.on { return ilv.clock.now }"},
	{file: "runtime/time.go", in: "time_runtimeNow", at: before, find: "return time_now()", text: "if ilv.on { now := ilvRead(); return now / (1000 * 1000 * 1000), int32(now % (1000 * 1000 * 1000)), now }"},
	{file: "runtime/time.go", in: "time_runtimeNano", at: before, find: "return nanotime()", text: "if ilv.on { return ilvRead() }"},
	{file: "runtime/time.go", in: "timeSleep", at: replace, find: "gp.bubble != nil", text: "ilvClock(gp) != nil"},
	{file: "runtime/time.go", in: "timeSleep", at: replace, find: "bubble := gp.bubble", text: "bubble := ilvClock(gp)"},
	{file: "runtime/time.go", in: "newTimer", at: replace, find: "bubble := getg().bubble", text: "bubble := ilvClock(getg())"},
	{file: "runtime/time.go", in: "stopTimer", at: replace, find: "getg().bubble == nil", text: "ilvClock(getg()) == nil"},
	{file: "runtime/time.go", in: "resetTimer", at: replace, find: "getg().bubble == nil", text: "ilvClock(getg()) == nil"},
	{file: "runtime/time.go", in: "(*timer).maybeRunAsync", at: replace, find: "now := nanotime()", text: "now := ilvTimerNow(t)"},
	{file: "runtime/time.go", in: "(*timer).modify", at: enter, text: "when = ilvRound(t, when)"},
	{file: "runtime/time.go", in: "(*timer).modify", at: replace, find: "bubble := getg().bubble", text: "bubble := ilvClock(getg())"},
	// A ticker that is due has to be in the heap: nobody adds it after its first tick.
	{file: "runtime/time.go", in: "(*timer).modify", at: replace, find: "when <= bubble.now", text: "when <= bubble.now && (period == 0 || ilvOwn(bubble) != nil)"},
	{file: "runtime/time.go", in: "(*timer).modify", at: replace, find: "t.unlockAndRun(bubble.now, bubble)", text: "t.unlockAndRun(bubble.now, ilvOwn(bubble))"},
	{file: "runtime/time.go", in: "(*timer).maybeAdd", at: replace, find: "bubble := getg().bubble", text: "bubble := ilvClock(getg())"},
	{file: "runtime/time.go", in: "(*timer).maybeAdd", at: replace, find: "t.rand = cheaprand()", text: "t.rand = ilvTimerRand()"},
	{file: "runtime/time.go", in: "(*timer).maybeRunChan", at: replace, find: "getg().bubble.now", text: "ilvClock(getg()).now"},
	// A channel timer that no goroutine waits for stays out of the heap. The clock has to see it.
	{file: "runtime/time.go", in: "(*timer).needsAdd", at: replace, find: "t.blocked > 0", text: "(t.blocked > 0 || t.isFake && ilv.on)"},

	// Locks.
	{file: "internal/sync/mutex.go", in: "(*Mutex).Lock", at: enter, text: "ilvPoint(unsafe.Pointer(m), ilvLock)"},
	{file: "internal/sync/mutex.go", in: "(*Mutex).TryLock", at: enter, text: "ilvPoint(unsafe.Pointer(m), ilvTryLock)"},
	{file: "internal/sync/mutex.go", in: "(*Mutex).TryLock", at: before, find: "return true", text: "ilvLocked(unsafe.Pointer(m))"},
	{file: "internal/sync/mutex.go", in: "(*Mutex).Unlock", at: enter, text: "ilvPoint(unsafe.Pointer(m), ilvUnlock)"},
	{file: "sync/rwmutex.go", in: "(*RWMutex).RLock", at: enter, text: "ilvPoint(unsafe.Pointer(rw), ilvRLock)"},
	{file: "sync/rwmutex.go", in: "(*RWMutex).TryRLock", at: enter, text: "ilvPoint(unsafe.Pointer(rw), ilvTryRLock)"},
	{file: "sync/rwmutex.go", in: "(*RWMutex).TryRLock", at: before, find: "return true", text: "ilvLocked(unsafe.Pointer(rw))"},
	{file: "sync/rwmutex.go", in: "(*RWMutex).RUnlock", at: enter, text: "ilvPoint(unsafe.Pointer(rw), ilvRUnlock)"},
	{file: "sync/rwmutex.go", in: "(*RWMutex).Lock", at: enter, text: "ilvPoint(unsafe.Pointer(rw), ilvWLock)"},
	{file: "sync/rwmutex.go", in: "(*RWMutex).TryLock", at: enter, text: "ilvPoint(unsafe.Pointer(rw), ilvTryLock)"},
	{file: "sync/rwmutex.go", in: "(*RWMutex).TryLock", at: before, find: "return true", text: "ilvLocked(unsafe.Pointer(rw))"},
	{file: "sync/rwmutex.go", in: "(*RWMutex).Unlock", at: enter, text: "ilvPoint(unsafe.Pointer(rw), ilvUnlock)"},
	{file: "sync/cond.go", in: "(*Cond).Wait", at: enter, text: "ilvPoint(unsafe.Pointer(c), ilvWait)"},
	{file: "sync/cond.go", in: "(*Cond).Signal", at: enter, text: "ilvPoint(unsafe.Pointer(c), ilvSignal)"},
	{file: "sync/cond.go", in: "(*Cond).Broadcast", at: enter, text: "ilvPoint(unsafe.Pointer(c), ilvSignal)"},
	{file: "sync/waitgroup.go", in: "(*WaitGroup).Add", at: enter, text: "ilvPoint(unsafe.Pointer(wg), ilvAdd)"},
	{file: "sync/waitgroup.go", in: "(*WaitGroup).Wait", at: enter, text: "ilvPoint(unsafe.Pointer(wg), ilvWait)"},
	{file: "sync/waitgroup.go", in: "(*WaitGroup).Go", at: after, find: "wg.Add(1)", text: "ilvNames(f)"},
	{file: "sync/pool.go", in: "(*Pool).pinSlow", at: enter, text: "ilvHush(); defer ilvLoud()"}, // how often it is called depends on the collector
	{file: "sync/once.go", in: "(*Once).Do", at: enter, text: "ilvPoint(unsafe.Pointer(o), ilvOnce)"},

	// The network in memory.
	{file: "syscall/syscall_linux.go", in: "Syscall", at: enter, text: "if ilvNetIs(trap, a1) { return ilvNet(trap, a1, a2, a3, 0, 0, 0) }"},
	{file: "syscall/syscall_linux.go", in: "Syscall6", at: enter, text: "if ilvNetIs(trap, a1) { return ilvNet(trap, a1, a2, a3, a4, a5, a6) }"},
	{file: "syscall/syscall_linux.go", in: "RawSyscall", at: enter, text: "if ilvNetIs(trap, a1) { return ilvNet(trap, a1, a2, a3, 0, 0, 0) }"},
	{file: "internal/poll/fd_mutex.go", in: "(*FD).incref", at: enter, text: "ilvNetPass(fd, ilvNetControl)"},
	{file: "internal/poll/fd_mutex.go", in: "(*FD).readLock", at: enter, text: "ilvNetPass(fd, ilvNetRead)"},
	{file: "internal/poll/fd_mutex.go", in: "(*FD).writeLock", at: enter, text: "ilvNetPass(fd, ilvNetWrite)"},
	{file: "internal/poll/fd_unix.go", in: "(*FD).Close", at: enter, text: "ilvNetPass(fd, ilvNetClose)"},
	{file: "internal/poll/fd_unix.go", in: "(*FD).Dup", at: after, find: "defer fd.decref()", text: "if ilvNetRefuses(fd.Sysfd) { return -1, \"dup\", syscall.EOPNOTSUPP }"},
	{file: "internal/poll/splice_linux.go", in: "Splice", at: enter, text: "if ilvNetIs(dst) || ilvNetIs(src) { return 0, false, nil }"},
	{file: "runtime/netpoll.go", in: "poll_runtime_pollOpen", at: replace, find: "pollcache.alloc()", text: "ilvPolls(fd).alloc()"},
	{file: "runtime/netpoll.go", in: "poll_runtime_pollOpen", at: replace, find: "pollcache.free(pd)", text: "ilvPolls(fd).free(pd)"},
	{file: "runtime/netpoll.go", in: "poll_runtime_pollOpen", at: replace, find: "netpollopen(fd, pd)", text: "ilvPollOpen(fd, pd)"},
	{file: "runtime/netpoll.go", in: "poll_runtime_pollClose", at: replace, find: "netpollclose(pd.fd)", text: "ilvPollClose(pd.fd)"},
	{file: "runtime/netpoll.go", in: "poll_runtime_pollClose", at: replace, find: "pollcache.free(pd)", text: "ilvPolls(pd.fd).free(pd)"},
	{file: "runtime/netpoll.go", in: "poll_runtime_pollWait", at: enter, text: "ilvPollWaits(pd.fd)"},
	{file: "runtime/netpoll.go", in: "poll_runtime_pollSetDeadline", at: enter, text: "if pd.fd >= ilvNetFirst { defer ilvBubble(ilvBubble(nil)) }"},
	{file: "runtime/netpoll.go", in: "poll_runtime_pollSetDeadline", at: replace, find: "nanotime()", text: "ilvPollNow(pd.fd)"},
	{file: "net/sock_posix.go", in: "socket", at: replace, find: "sysSocket(family, sotype, proto)", text: "ilvSocket(family, sotype, proto, laddr, raddr)"},
	{file: "net/sock_posix.go", in: "(*netFD).dial", at: replace, find: "syscall.Bind(fd.pfd.Sysfd, lsa)", text: "ilvBind(fd.pfd.Sysfd, lsa)"},
	{file: "net/sock_posix.go", in: "(*netFD).listenStream", at: replace, find: "syscall.Bind(fd.pfd.Sysfd, lsa)", text: "ilvBind(fd.pfd.Sysfd, lsa)"},
	{file: "net/fd_posix.go", in: "(*netFD).setAddr", at: replace, find: "runtime.SetFinalizer(fd, (*netFD).Close)", text: "ilvFinalizer(fd)"},
	{file: "net/lookup.go", in: "(*Resolver).lookupIPAddr", at: enter, text: "if list := ilvLookup(network, host); list != nil { return list, nil }"},

	// Faults, on request.
	{file: "context/context.go", in: "WithDeadlineCause", at: replace, find: "time.Until", text: "ilvUntil"},
	{file: "context/context.go", in: "(*cancelCtx).Done", at: enter, text: "ilvCancel(c)"},
	{file: "context/context.go", in: "(*cancelCtx).Err", at: enter, text: "ilvCancel(c)"},

	// The test runner: a schedule for each run of the tests.
	{file: "testing/testing.go", in: "runTests", at: replace, find: "newMatcher", text: "ilvMatcher"},
	{file: "testing/testing.go", in: "runTests", at: before, find: "tRunner(t, func(t *T) {})", text: "tests = ilvTests(tests, tstate.match); if !ilvRound(i) { break }"},
	{file: "testing/testing.go", in: "tRunner", at: replace, find: "callerName(0)", text: "ilvRunner()"},
	{file: "testing/testing.go", in: "(*T).Run", at: replace, find: "var pc [maxStackLen]uintptr", text: "var pc []uintptr"},
	{file: "testing/testing.go", in: "(*T).Run", at: replace, find: "runtime.Callers(2, pc[:])", text: "ilvCreator(t, &pc)"},
	{file: "testing/testing.go", in: "(*T).Run", at: before, find: "go tRunner(t, f)", text: "ilvNames(f)"},
	{file: "testing/testing.go", in: "(*T).report", at: replace, find: "fmtDuration", text: "ilvDuration"},
	{file: "testing/match.go", in: "simpleMatch.matches", at: replace, find: "matchString(m[i], s)", text: "ilvMatch(m[i], s, matchString)"},
	{file: "testing/match.go", in: "simpleMatch.verify", at: replace, find: `matchString(s, "non-empty")`, text: `ilvMatch(s, "non-empty", matchString)`},
	{file: "testing/testing.go", in: "runTests", at: before, find: "ok = ok && !t.Failed()", text: "ilvFinish(t)"},
}

// own are the edits that only one release has, by release.
var own = map[string][]edit{
	"go1.25": {
		{file: "runtime/proc.go", in: "entersyscallblock_handoff", at: before, find: "handoffp(releasep())", text: "ilvLeave(getg().m.curg)"},
	},
	"go1.26": {
		{file: "runtime/proc.go", in: "entersyscallblock", at: before, find: "handoffp(releasep())", text: "ilvLeave(gp)"},
	},
}
