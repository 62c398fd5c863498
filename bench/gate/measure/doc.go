// Package measure runs the benchmarks of two versions of a Go module: it checks out the older
// version, builds test binaries, lists benchmarks, runs a benchmark for a number of operations,
// and counts the system calls and instructions of its process.
//
// Counting needs no privileges. System calls are counted with ptrace, by which a process
// may trace its own children. Instructions are counted by the processor where the kernel
// allows it (perf_event_open); virtual machines seldom do, and CountInstructions then says
// why it cannot.
package measure
