// Package measure runs the benchmarks of any Go module at two of its versions: it checks
// the older one out, builds test binaries, lists benchmarks, runs one of them for a number
// of operations, and counts what it does from outside.
//
// Counting needs no privileges. System calls are counted with ptrace, by which a process
// may trace its own children. Instructions are counted by the processor where the kernel
// allows it (perf_event_open); virtual machines seldom do, and CountInstructions then says
// why it cannot.
package measure
