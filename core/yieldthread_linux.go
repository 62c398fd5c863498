package core

import "golang.org/x/sys/unix"

// yieldThread lets the kernel run another thread on this processor. The kernel may have
// woken the loop's thread on the processor of the producer that woke it. The Go scheduler
// counts that thread as running, but it waits for the end of the producer's time slice, 4 ms
// on most machines, if the producer never blocks. runtime.Gosched does not help, because it
// does not give up the thread.
func yieldThread() error {
	if _, _, errno := unix.Syscall(unix.SYS_SCHED_YIELD, 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}
