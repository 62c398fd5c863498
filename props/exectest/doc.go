// Package exectest is a conformance kit for executors. It drives an executor through
// programs for each guarantee, records a log of events, and judges the log with the
// predicates of package history.
//
// Wrap the executor in the three methods of Subject, run the kit, and print the result;
// go test -v prints it for an executor that passes too:
//
//	func TestConformance(t *testing.T) {
//		r := exectest.Run(t, func() exectest.Subject { return wrap(myexecutor.New()) })
//		t.Log("\n" + r.String())
//	}
//
// Each guarantee is one subtest, with programs of its own. Every run is judged by all
// guarantees. If only the programs of another guarantee show a breach, it is reported
// after the subtests, under the guarantee that it breaks.
//
// An executor with more features implements Scheduler, Resetter, Hooker, Stater,
// LoopTeller, Submitter, Counter or Closer. A guarantee that needs a missing interface is skipped with
// "not supported: Hooker"; the result never lists it as passed. A guarantee whose premise did not
// occur is inconclusive, which is not a pass either. Declare what the executor does not promise:
// Without("G10", "no quiet period"). The kit calls Abandon of an Abandoner at the end of each run.
//
// The programs run in testing/synctest bubbles, where time is virtual: a quiet period of
// an hour takes microseconds and is measured to the nanosecond. Use RealTime for an
// executor that cannot run in a bubble, because it waits for the network or for a device.
// Guarantees that only virtual time can check are then not supported.
//
// The tasks in the programs for G14 panic. If the executor does not recover, such a panic
// kills the test binary. So G14 is checked last, and the panic's text lists the earlier
// failures. Either recover in the loop, or declare Without("G14", "why"); then the
// programs for hooks and futures (G6, G9) have no panics either.
//
// # What it can find
//
// A pass means that nothing was found. Programs with a log find errors of logic, exactly
// and with a trace; some use the whole API that the subject offers. Each call takes the
// lock of the log, which keeps concurrent calls apart. So the kit also makes runs
// without the log:
//
//   - G2, G3, G4, G6 and G9 have runs with many producers, a shutdown at the same time, and
//     counts afterwards. An executor that checks its closed flag and then sends on a channel
//     fails G3 in about one of 100 to 350 such runs, of which there are 4000.
//   - G12 has runs that search for lost wake-ups: lone submitters, submitters that spin
//     through the moment at which the loop falls asleep, and two executors that pass a task
//     back and forth. In a bubble the clock moves only when every goroutine is blocked, so a
//     task that begins late was stranded, however slow the machine is.
//   - G3 has one run of 70,000 tasks, which is more than a counter of 16 bits can count.
//
// The kit may miss a failure that needs two particular instructions to meet, or a memory
// order that this processor does not show. With GOMAXPROCS=1 it misses any gap in which no
// goroutine yields. Rounds makes the search longer, in proportion. HammerTime limits the
// time of the runs that race with the shutdown; if the limit left some of them out, the
// table of results says so.
//
// Package subjects has executors with known mistakes; docs/conformance.md says how often
// the kit catches each.
//
// # Under chosen schedules
//
// The command interleave finds failures that need two particular instructions to meet.
// It runs the same test and the unchanged source of the executor under schedules that
// it chooses, some thousands per second:
//
//	go install eventide/props/cmd/interleave
//	interleave test -run TestConformance -schedules 10000
//
// In a process of that command, Run and Check have no runs without the log. Each schedule
// runs one small program, drawn from the seed of the schedule: one to three waves of up
// to five goroutines with one to three calls each, and one or two shutdowns in the last
// wave. A wave begins only when no goroutine of the wave before can run any more: a later
// call would wake the loop, and so hide a stranded task. Every predicate judges the run.
// The first line of a failure is the same for all schedules that show it; the program and
// the trace follow.
//
//   - The subtests of the guarantees are not run. Only narrows what is judged, and
//     Without leaves a guarantee out. Rounds, Seed, Patience and RealTime have no effect.
//   - The result has a row for each guarantee whose premise occurred in the schedule.
//   - Operations take virtual time, so being late is not a failure. Use go test to check
//     G11, that no goroutine runs before the first use (G17), and which timers still run
//     in a shutdown. A goroutine that is left behind is a finding of the command.
//   - The kit does not synchronise bodies, so -race reports bodies that the executor does
//     not order; PlainVariable makes every body write one variable.
//   - Small limits of the executor help: one or two workers, a short queue. Calls come 1
//     ms, 10 ms, 100 ms, 1 s, 2 s, 5 s and 10 s after its construction, when its timers
//     may expire; with -time mixed they also come at other times.
//
// The documentation of package core lists the guarantees by number. The kit has no
// programs for G19 and for G21 to G23, which need a bounded queue, a group or channels.
package exectest
