package verdicts

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// TestYields fails if the goroutine that yields runs again after one operation of the
// other, each time: a chance of 1 in 2^30 if each yield draws a new priority, and of 1 in
// 31 if it keeps its priority.
func TestYields(t *testing.T) {
	const yields, all = 30, 400
	done, fewest := 0, true
	var both sync.WaitGroup
	both.Go(func() {
		var n atomic.Int32
		for ; done < all; done++ { // plain: only one goroutine runs at a time
			n.Add(1)
		}
	})
	both.Go(func() {
		for range yields {
			before := done
			runtime.Gosched()
			fewest = fewest && done-before <= 1 && done < all
		}
	})
	both.Wait()
	if fewest {
		t.Error("each yield gave the other goroutine one operation")
	}
}
