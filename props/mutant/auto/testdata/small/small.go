// Package small has each thing that an operator changes.
package small

import (
	"sync"
	"sync/atomic"
)

const most = 8

type queue struct {
	mu     sync.Mutex
	ready  sync.Cond
	items  []int
	closed bool
	taken  atomic.Int64
	news   chan struct{}
}

func (q *queue) put(n int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || len(q.items) >= most {
		return false
	}
	q.items = append(q.items, n)
	q.ready.Signal()
	return true
}

func (q *queue) take() int {
	q.mu.Lock()
	for len(q.items) == 0 {
		q.ready.Wait()
	}
	n := q.items[0]
	q.items = q.items[q.first():]
	q.mu.Unlock()
	q.taken.Add(1)
	return n
}

func sum(lists ...[]int) (total int) {
	for _, list := range lists {
		for _, n := range list {
			if n < 0 {
				continue
			} else {
				total += n
			}
		}
	}
	return total
}

func (q *queue) wake() {
	select {
	case q.news <- struct{}{}:
		q.news <- struct{}{}
	default:
	}
	q.closed = clamp(2*len(q.items), cap(q.items)) > 0
	close(q.news)
}

func clamp(n, limit int) int { return min(n, limit) }

func (q *queue) first() int { return 1 }
