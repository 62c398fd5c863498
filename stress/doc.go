// Package stress runs the executor as it ships, in real time, on as many
// processors as there are.
//
// It controls nothing and so proves little by what it does not find: a lost
// wake-up can survive millions of plain runs. It is there for what the lanes
// under control cannot see: the memory order of the machine (with -race), the
// runtime's own scheduler and timers, load, and leaks.
//
//	go test ./stress -v                     everything, totals and tables printed
//	go test -race ./stress                  the same, memory order checked
//	go test -short ./stress                 fewer rounds, the same meaning
//	EVENTIDE_SOAK=10m go test ./stress -v -timeout 0 -run '^TestShutdownsUnderLoad$'
//
// The tests, and the guarantees of package core that they look at:
//
//   - TestShutdownsUnderLoad: 64 producers at full speed through a thousand
//     shutdowns; every round is balanced to the last task (G3, G4, G5, G6, G7,
//     G15, G20). EVENTIDE_SOAK makes it run that long; SIGINT ends it with the
//     totals so far.
//   - TestRaces: races between two or three goroutines, each run thousands of
//     times, their outcomes tallied in a [Table] (G3, G5, G6, G8, G11, G12, G15,
//     G16, G17).
//   - TestNothingLeaks: ten thousand executors leave no goroutine and no memory
//     behind (G24).
//   - TestLifecyclesOfEveryKind: executors, event loops, groups, pools and TCP
//     connections, forty thousand together, leave no goroutine, no descriptor and
//     no memory behind (G24). Linux.
//   - TestLayering: which package may import which.
//
// [Table] and [Race] know no executor.
package stress
