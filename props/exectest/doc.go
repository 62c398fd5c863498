// Package exectest is a conformance kit for executors: it drives any of them
// through programs made for each guarantee, writes down what happens, and
// judges it with the predicates of package history.
//
// Wrap the executor in the three methods of Subject, and run the kit:
//
//	func TestConformance(t *testing.T) {
//		exectest.Run(t, func() exectest.Subject { return wrap(myexecutor.New()) })
//	}
//
// Each guarantee is one subtest. What else the executor can do it shows by
// implementing Scheduler, Hooker, Stater, LoopTeller, Submitter, Counter or
// Closer; a guarantee that needs a missing one is skipped with "not supported:
// Hooker" and stands so in the result, never as passed. A guarantee whose
// premise did not occur is inconclusive, which is not a pass either.
//
// The programs run in testing/synctest bubbles, where time is virtual: a quiet
// period of an hour takes microseconds and is measured to the nanosecond. An
// executor that cannot run in a bubble, because it waits for the network or
// for a device, is run with RealTime; what only virtual time can tell is then
// not supported.
//
// The guarantees: G1 states, G2 one at a time, G3 exact admission, G4 FIFO, G5
// refusal, G6 hooks, G7 timers, G8 cancel, G9 futures, G10 quiet period, G11
// deadline, G12 no lost wake-up, G13 no starvation, G14 panics and Goexit, G15
// termination, G16 first shutdown wins, G17 starting, G18 no self-deadlock, G20
// conservation, G24 nothing left behind.
package exectest
