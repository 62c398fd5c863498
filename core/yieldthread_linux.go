package core

import "golang.org/x/sys/unix"

// yieldThread lets the kernel run another thread on this processor. The kernel may have
// woken the loop's thread on the processor of the producer that woke it. To the Go
// scheduler that thread runs, but it waits until the end of the producer's time slice, 4
// ms on most machines, if the producer never blocks. runtime.Gosched does not help,
// because it keeps the thread.
func yieldThread() { _, _, _ = unix.Syscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
