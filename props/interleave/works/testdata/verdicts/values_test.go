package verdicts

import (
	"sync/atomic"
	"testing"
)

// TestValues fails. Its operations find values that the trace has.
func TestValues(t *testing.T) {
	var n atomic.Int64
	var p atomic.Pointer[int]
	var done atomic.Bool
	n.Store(-7)
	n.Add(2)
	p.Store(new(int))
	p.Load()
	done.Store(true)
	done.Load()
	c := make(chan int, 3)
	c <- 1
	c <- 2
	close(c)
	<-c
	t.Error(n.Load())
}
