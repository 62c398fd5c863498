package main

import "slices"

// kit is a test that runs a conformance kit, or generated inputs beside a specification, and which
// packages it runs. Its specification knows nothing of single bugs.
type kit struct {
	pkg, test string
	runs      func(pkg string) bool
}

var kits = []kit{
	{"props", "^TestProp(CoreConforms|ListenersOffLoop)$", inVirtual},
	{"core/tracked", "^Test(Conformance|PropCrowd|PropLives)$", only("core/tracked")},
	{"core", "^TestEpollPollersConform$", inReal},
	{"core", "^TestProp(Arguments|G1Moves|G7Jitter|G8Futures|G11ContextsEndInOrder|G11Stacks|G12FailedWakes|G14AbruptBodies|G15Termination|G19TheBoundIsExact|G21GroupConstructor|G22Registrations|HookList|Meter|Pool|SlowYields|TimerHeap)$", inVirtual},
	{"core", "^TestProp(AdmitEvents|G11Timeout|G12WakeUpsForTimers|G24TimerHeapMemory|PoolG13OrderOfBodies|PoolG17Spawners)$", inVirtual},
	{"core", "^TestPoolConforms$", inVirtual},
	{"core/internal/tasks", "^TestProp(Queue|Shared)$", only("core/internal/tasks")},
	{"core/internal/epoll", "^TestProp(PollReportsWhatIsWatched|RunnableGoroutineRunsBeforeThePark|WaitOfWhatIsThere)$", only("core/internal/epoll", "core/internal/netpoll")},
	{"core/internal/netpoll", "^TestPropOpenNeedsTwoDescriptors$", only("core/internal/netpoll")},
	{"core/blocking", "^TestProp(Arguments|Connections|Endings|Places|Poller|Serve|WriteFutures)$", only("core/blocking")},
	{"core/process", "^TestProp(Arguments|G11WhyAnExitHasEnded|G3ExitsOfGeneratedPlans|Progress)$", only("core/process")},
	{"core/frame", "^TestProp(Feed|Messages|Append)$", only("core/frame")},
	{"core/tcp", "^TestProp(Outbound|Addresses|Arguments|DialOfEachAddress|FullWorker)$", only("core/tcp")},
	{"core/watch", "^TestProp(Statuses|Regions|Listeners|ManyCallersAtOnce)$", only("core/watch")},
}

// only is the packages of the names.
func only(names ...string) func(pkg string) bool {
	return func(pkg string) bool { return slices.Contains(names, pkg) }
}

// kitsThatRan is the pattern of the tests of a package that run as kits for a mutant of pkg, or "".
func kitsThatRan(pkg, of string) (pattern string) {
	for _, k := range kits {
		if k.pkg == of && k.runs(pkg) {
			pattern = eitherOf(pattern, k.test)
		}
	}
	return pattern
}
