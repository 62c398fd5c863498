package blocking_test

import (
	"syscall"
	"testing"
)

// descriptorsFor returns how many of n connections within this process the limit of
// descriptors allows: each has two ends, and a few descriptors are open already.
func descriptorsFor(t testing.TB, n int) int {
	t.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	const others = 50
	return int(min(uint64(n), (limit.Cur-others)/2))
}
