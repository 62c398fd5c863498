//go:build unix

package lane

import (
	"syscall"
	"time"
)

// ProcessTime returns the processor time that this process has used.
func ProcessTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
