// Package kernel is a model of the Linux calls that package core makes for TCP: sockets,
// epoll sets, eventfds and timerfds. It is a state machine in memory, without goroutines of
// its own. A connection has two ends, buffers of bounded size, partial writes, half-close,
// resets, lingering, a backlog of connections to accept, and readiness as epoll reports it,
// for levels and for edges.
//
// Time is that of package time, so a program in a testing/synctest bubble, or under chosen
// schedules, runs in virtual time. The model blocks only on channels.
//
// Errors, states and readiness are those of Linux: TestSameAsLinux of package sockets runs
// the same scripts on the model and on loopback. The limits of the model are listed in
// docs/sockets.md.
package kernel
