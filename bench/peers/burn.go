package peers

import (
	"sync"
	"sync/atomic"
)

// burners are goroutines that never wait: with more of them than processors nothing
// else runs but what the scheduler takes from them.
type burners struct {
	stop    atomic.Bool
	running sync.WaitGroup
}

func burn(n int) *burners {
	b := &burners{}
	for range n {
		b.running.Go(func() {
			for !b.stop.Load() {
			}
		})
	}
	return b
}

// end returns when they have ended.
func (b *burners) end() {
	b.stop.Store(true)
	b.running.Wait()
}
