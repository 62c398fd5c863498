package peers

import (
	"fmt"
	"syscall"
)

// allowDescriptors lets this process, and those that it starts from now on, have n
// descriptors each. The error says how many it may have.
//
// Several client processes would not get around the limit: all connections of a
// workload are one server's.
func allowDescriptors(n uint64) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("getrlimit: %w", err)
	}
	if limit.Cur >= n {
		return nil
	}
	may := limit.Max
	limit.Cur, limit.Max = n, max(n, limit.Max)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("the server needs %d descriptors, a process may have %d here (RLIMIT_NOFILE), and setrlimit says: %w", n, may, err)
	}
	return nil
}
