// Package netty compares core with the real Netty: the oracle. Generated sequential
// programs (execute, submit, schedule, cancel, hooks, tail tasks, both shutdown calls,
// from inside and outside of the loop) run on Netty by its driver in bench/peers, and
// on core; what was accepted, what ran in which order, hooks, timers and the last
// state must be equal, or differ as a named departure predicts.
//
// A difference is not excused by a name. Two machines are held against the two
// traces: reference, which is Netty's code for such programs, and contract, which is
// Eventide's guarantees and knows nothing of core. Netty must have done exactly what
// reference says, and core exactly what contract says; and where Netty and core
// differ, reference must have come by a place that a rule of netty names (R11, ...).
//
// Programs are made of steps at fixed times, and are used only if nothing in them
// hangs on less than Slack milliseconds, and if their outcome does not depend on what
// the contract leaves open, such as which of a task and a timer goes first when both
// could. Core plays them in virtual time.
//
// Recordings of Netty lie in testdata/netty, so the comparison needs no Java; the
// command oracle in bench/peers makes them.
package netty
