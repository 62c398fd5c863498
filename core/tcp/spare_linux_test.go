package tcp

import "testing"

// A burst leaves at most mostSpare chunks behind; the collector gets the others.
func TestSpareChunksAreBounded(t *testing.T) {
	var pool chunkPool
	var out outbound
	out.append(&pool, make([]byte, 2*mostSpare*chunkSize))
	out.release(&pool)
	kept := 0
	for c := pool.free; c != nil; c = c.next {
		kept++
	}
	if kept != mostSpare || pool.n != mostSpare {
		t.Errorf("%d chunks are kept and %d counted, want %d", kept, pool.n, mostSpare)
	}
	for range mostSpare {
		pool.get()
	}
	if pool.free != nil || pool.n != 0 {
		t.Errorf("%d chunks are counted after all were taken, want 0", pool.n)
	}
}
