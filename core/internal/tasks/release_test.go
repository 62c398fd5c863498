package tasks

import (
	"sync"
	"sync/atomic"
	"testing"
)

// TestStoreReleaseKeepsOrder: a goroutine that sees a stored value also sees what was written before it.
func TestStoreReleaseKeepsOrder(t *testing.T) {
	const most = 200_000
	var before, stored atomic.Uint64
	var reader sync.WaitGroup
	reader.Go(func() {
		for last := uint64(0); last < most; {
			v := stored.Load()
			if b := before.Load(); b < v || v < last {
				t.Errorf("loaded %d after %d, and what was written before it is %d", v, last, b)
				return
			}
			last = v
		}
	})
	for v := range uint64(most) {
		before.Store(v + 1)
		storeRelease(&stored, v+1)
	}
	reader.Wait()
}
