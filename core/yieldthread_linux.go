package core

import "golang.org/x/sys/unix"

// yieldThread lets the operating system run another thread on this processor. The Go
// scheduler believes that a goroutine that it has given to a thread runs: if the kernel
// has woken that thread on the processor of the one that woke it, it waits for a tick,
// four milliseconds on most machines, while a producer that never blocks goes on
// beside it. runtime.Gosched does not help: it keeps the thread.
func yieldThread() { _, _, _ = unix.Syscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
