package tasks

import (
	"sync"
	"sync/atomic"
	"testing"
)

// TestStoreKeepsOrder: a goroutine that sees a stored value also sees what was written before it.
func TestStoreKeepsOrder(t *testing.T) {
	const most = 200_000
	before := make([]uint64, most+1)
	var stored atomic.Uint64
	var reader sync.WaitGroup
	reader.Go(func() {
		for last := uint64(0); last < most; {
			v := stored.Load()
			if n := v >> 40; v != n<<40|n || n < last || before[n] != n {
				t.Errorf("loaded %#x after %d, and what was written before it is %d", v, last, before[n])
				return
			}
			last = v >> 40
		}
	})
	for n := range uint64(most + 1) {
		before[n] = n
		store(&stored, n<<40|n, n%3 == 0)
	}
	reader.Wait()
}
