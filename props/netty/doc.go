// Package netty compares core with Netty. Generated sequential programs (execute, submit,
// schedule, cancel, hooks, tail tasks, both shutdown calls, from inside and outside of
// the loop) run on Netty by its driver in bench/peers, and on core. The accepted calls,
// the order of the bodies, the hooks, the timers and the last state must be equal, or
// differ as a named departure predicts.
//
// A difference must be predicted, not only named. Two machines run each program:
// reference follows Netty's code for such programs, and contract runs the model of
// package model, with a clock, listeners and wake-ups added. contract does not use core.
// The run of Netty must equal the run of reference, and the run of core the run of
// contract. If Netty and core differ, the run of reference must have applied a rule of
// Netty that is a departure (R11, ...).
//
// Programs consist of steps at fixed times. A program is used only if all times that
// decide its outcome are at least Slack milliseconds apart, and if the outcome does not
// depend on choices that the contract leaves open, such as the order of a task and a
// timer that are both ready. Core runs programs in virtual time.
//
// Recordings of Netty are in testdata/netty, so the comparison does not need Java. The
// command oracle in bench/peers makes them.
package netty
