//go:build unix

package driver

import (
	"os"
	"os/exec"
	"syscall"
)

// lockExclusive waits for the exclusive lock of a file. The lock is released when the file is
// closed or the process ends.
func lockExclusive(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX) }

// lead makes cmd the leader of a process group when it starts.
func lead(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends the processes of the group that pid leads.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) } // ESRCH: all have ended
