package tasks

import (
	"runtime"
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

// TestStoreInOrder: two goroutines each store and then load what the other stores. If the stores are ordered, one of
// the two sees the other's. One processor cannot show the opposite.
func TestStoreInOrder(t *testing.T) {
	if missed := missedStores(true); missed > 0 {
		t.Errorf("%d times neither goroutine saw the store of the other", missed)
	}
	t.Logf("with release stores: %d times", missedStores(false))
}

// missedStores returns how often two goroutines missed the stores of each other.
func missedStores(ordered bool) (missed int) {
	rounds := 200_000
	if testing.Short() {
		rounds = 20_000 // with the race detector, which takes ten times as long, store is ordered always
	}
	type side struct {
		stored, arrived atomic.Uint64
		_               [112]byte
		seen            []bool // the store of the other side
	}
	sides := [2]side{{seen: make([]bool, rounds)}, {seen: make([]bool, rounds)}}
	var both sync.WaitGroup
	for me := range sides {
		my, other := &sides[me], &sides[1-me]
		both.Go(func() {
			for n := range uint64(rounds) {
				my.arrived.Store(n + 1)
				for spins := 1; other.arrived.Load() <= n; spins++ {
					if spins%1000 == 0 {
						runtime.Gosched() // there may be one processor
					}
				}
				store(&my.stored, n+1, ordered)
				my.seen[n] = other.stored.Load() > n
			}
		})
	}
	both.Wait()
	for n := range rounds {
		if !sides[0].seen[n] && !sides[1].seen[n] {
			missed++
		}
	}
	return missed
}
