package bench

import (
	"testing"

	"golang.org/x/sys/unix"
)

// registrable returns n, or as many registrations of two descriptors each as the process
// may have beside what else it opens.
func registrable(t *testing.T, n int) int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	const others = 64 // of the runtime, the loops and the other pipes
	if most := limit.Cur/2 - others/2; uint64(n) > most {
		t.Logf("%d registrations instead of %d, as %d descriptors are allowed", most, n, limit.Cur)
		n = int(most)
	}
	return n
}
