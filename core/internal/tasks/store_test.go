package tasks

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// anyTask is a variable, so that the compiler does not know what it calls.
var anyTask func(n uint64)

// TestStoreKeepsOrder: a goroutine that sees a stored value also sees what was written before it.
func TestStoreKeepsOrder(t *testing.T) {
	const most = 200_000
	before := make([]uint64, most+1)
	task := func(n uint64) { before[n] = n }
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
		anyTask = task
		anyTask(n)
		store(&stored, n<<40|n, n%3 == 0)
	}
	reader.Wait()
}

// TestStoreInOrder: two goroutines each store and then load what the other stores. If the stores are ordered, one of
// the two sees the other's. One processor cannot show the opposite. The search ends after a second, because
// threads that share a processor take a time slice for each round.
func TestStoreInOrder(t *testing.T) {
	for _, ordered := range []bool{true, false} {
		missed, rounds := 0, 0
		for began := time.Now(); rounds < 200_000 && time.Since(began) < time.Second; rounds += 500 {
			missed += missedStores(500, ordered)
		}
		if ordered && missed > 0 {
			t.Errorf("in %d of %d rounds neither goroutine saw the store of the other", missed, rounds)
		}
		t.Logf("ordered %v: missed in %d of %d rounds", ordered, missed, rounds)
	}
}

// missedStores returns in how many rounds two goroutines missed the stores of each other.
func missedStores(rounds int, ordered bool) (missed int) {
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
