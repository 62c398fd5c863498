package measure

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// runtimeCalls are the system calls by which Go's scheduler and memory manager work.
// How many there are depends on the moment, so they are not counted.
var runtimeCalls = map[uint64]bool{
	unix.SYS_FUTEX: true, unix.SYS_NANOSLEEP: true, unix.SYS_SCHED_YIELD: true, unix.SYS_TGKILL: true,
	unix.SYS_GETPID: true, unix.SYS_RT_SIGRETURN: true, unix.SYS_RT_SIGPROCMASK: true, unix.SYS_RT_SIGACTION: true,
	unix.SYS_SIGALTSTACK: true, unix.SYS_MADVISE: true, unix.SYS_MMAP: true, unix.SYS_MUNMAP: true,
	unix.SYS_CLONE: true, unix.SYS_CLONE3: true, unix.SYS_GETTID: true, unix.SYS_RESTART_SYSCALL: true,
	unix.SYS_EXIT: true, unix.SYS_EXIT_GROUP: true, unix.SYS_PRCTL: true,
}

// syscallInfo begins like the kernel's struct ptrace_syscall_info.
type syscallInfo struct {
	op   uint8 // 1: the call begins
	_    [3]uint8
	arch uint32
	ip   uint64
	sp   uint64
	nr   uint64
	args [6]uint64
}

// syscallCounter counts the system calls of all threads but those of runtimeCalls.
type syscallCounter struct{ calls int }

func (c *syscallCounter) began(int) error { return nil }
func (c *syscallCounter) resume(int) int  { return syscall.PTRACE_SYSCALL }
func (c *syscallCounter) stopped(tid int, sig syscall.Signal) (syscall.Signal, error) {
	if sig != syscallStop {
		return sig, nil
	}
	var info syscallInfo
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PTRACE, unix.PTRACE_GET_SYSCALL_INFO, uintptr(tid),
		unsafe.Sizeof(info), uintptr(unsafe.Pointer(&info)), 0, 0)
	switch {
	case errno == syscall.ESRCH: // killed meanwhile
	case errno != 0:
		return 0, fmt.Errorf("reading a system call, which needs Linux 5.3: %w", errno)
	case info.op == unix.PTRACE_SYSCALL_INFO_ENTRY && !runtimeCalls[info.nr]:
		c.calls++
	}
	return 0, nil
}
