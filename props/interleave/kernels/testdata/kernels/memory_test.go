package kernels

import (
	"sync"
	"sync/atomic"
	"testing"
)

// together runs each function in a goroutine of its own and waits for all.
func together(functions ...func()) {
	var wg sync.WaitGroup
	for _, f := range functions {
		wg.Go(f)
	}
	wg.Wait()
}

// An update by load and store.
func TestLostUpdate(t *testing.T) {
	var n atomic.Int64
	add := func() { n.Store(n.Load() + 1) }
	together(add, add, add)
	if n.Load() != 3 {
		t.Fatalf("%d, want 3", n.Load())
	}
}

func TestLostUpdateRepaired(t *testing.T) {
	var n atomic.Int64
	add := func() { n.Add(1) }
	together(add, add, add)
	if n.Load() != 3 {
		t.Fatalf("%d, want 3", n.Load())
	}
}

// A limit is checked, and then taken from.
func TestCheckThenAct(t *testing.T) {
	var left atomic.Int64
	left.Store(1)
	take := func() {
		if left.Load() > 0 {
			left.Add(-1)
		}
	}
	together(take, take)
	if n := left.Load(); n < 0 {
		t.Fatalf("%d left", n)
	}
}

func TestCheckThenActRepaired(t *testing.T) {
	var left atomic.Int64
	left.Store(1)
	take := func() {
		for n := left.Load(); n > 0; n = left.Load() {
			if left.CompareAndSwap(n, n-1) {
				return
			}
		}
	}
	together(take, take)
	if n := left.Load(); n < 0 {
		t.Fatalf("%d left", n)
	}
}

// A pair is written and read in two steps.
func TestTornPair(t *testing.T) {
	var low, high atomic.Int64
	write := func() {
		low.Store(1)
		high.Store(1)
	}
	together(write, func() {
		if l, h := low.Load(), high.Load(); l != h {
			t.Errorf("read %d and %d", l, h)
		}
	})
}

func TestTornPairRepaired(t *testing.T) {
	type pair struct{ low, high int }
	var both atomic.Pointer[pair]
	both.Store(&pair{})
	together(func() { both.Store(&pair{1, 1}) }, func() {
		if p := both.Load(); p.low != p.high {
			t.Errorf("read %d and %d", p.low, p.high)
		}
	})
}

// stack is a lock-free stack of nodes by index; nodes are used again.
type stack struct {
	head atomic.Uint64 // index of the first node; with tags, a count above it
	next [3]atomic.Uint64
	tags bool
}

func (s *stack) tag(old, index uint64) uint64 {
	if s.tags {
		return (old>>8+1)<<8 | index
	}
	return index
}

func (s *stack) push(index uint64) {
	for {
		old := s.head.Load()
		s.next[index].Store(old & 0xff)
		if s.head.CompareAndSwap(old, s.tag(old, index)) {
			return
		}
	}
}

func (s *stack) pop() uint64 {
	for {
		old := s.head.Load()
		index := old & 0xff
		if index == 0 {
			return 0
		}
		if s.head.CompareAndSwap(old, s.tag(old, s.next[index].Load())) {
			return index
		}
	}
}

// abaOf has one goroutine pop while another pops two nodes and pushes the first again.
func abaOf(t *testing.T, s *stack) {
	s.push(2)
	s.push(1)
	var taken [3]atomic.Int32
	take := func() uint64 {
		i := s.pop()
		if i != 0 && taken[i].Add(1) > 1 {
			t.Errorf("node %d is taken twice", i)
		}
		return i
	}
	together(func() { take() }, func() {
		first := take()
		take()
		if first != 0 {
			taken[first].Add(-1)
			s.push(first)
		}
	})
	for take() != 0 {
	}
}

// The head is compared with an index that has come back.
func TestABA(t *testing.T)         { abaOf(t, &stack{}) }
func TestABARepaired(t *testing.T) { abaOf(t, &stack{tags: true}) }

// The flag is published before the value.
func TestPublication(t *testing.T) {
	var ready atomic.Bool
	var value atomic.Int64
	together(func() {
		ready.Store(true)
		value.Store(42)
	}, func() {
		if ready.Load() && value.Load() != 42 {
			t.Error("published before it was written")
		}
	})
}

func TestPublicationRepaired(t *testing.T) {
	var ready atomic.Bool
	var value atomic.Int64
	together(func() {
		value.Store(42)
		ready.Store(true)
	}, func() {
		if ready.Load() && value.Load() != 42 {
			t.Error("published before it was written")
		}
	})
}

// Double-checked locking whose fast path reads a plain variable.
func TestRaceDoubleChecked(t *testing.T) {
	var mu sync.Mutex
	var instance *int
	get := func() {
		if instance == nil {
			mu.Lock()
			if instance == nil {
				instance = new(int)
			}
			mu.Unlock()
		}
	}
	together(get, get)
}

func TestRaceDoubleCheckedRepaired(t *testing.T) {
	var mu sync.Mutex
	var instance atomic.Pointer[int]
	get := func() {
		if instance.Load() == nil {
			mu.Lock()
			if instance.Load() == nil {
				instance.Store(new(int))
			}
			mu.Unlock()
		}
	}
	together(get, get)
}

// Two goroutines write a map.
func TestRaceMap(t *testing.T) {
	m := map[int]int{}
	together(func() { m[1] = 1 }, func() { m[2] = 2 })
}

func TestRaceMapRepaired(t *testing.T) {
	var m sync.Map
	together(func() { m.Store(1, 1) }, func() { m.Store(2, 2) })
}

// Two goroutines append to a slice.
func TestRaceAppend(t *testing.T) {
	var list []int
	together(func() { list = append(list, 1) }, func() { list = append(list, 2) })
}

func TestRaceAppendRepaired(t *testing.T) {
	var mu sync.Mutex
	var list []int
	add := func(i int) {
		mu.Lock()
		defer mu.Unlock()
		list = append(list, i)
	}
	together(func() { add(1) }, func() { add(2) })
}

// A buffer is used after it was put back into its pool.
func TestRacePool(t *testing.T) {
	pool := sync.Pool{New: func() any { return new([1]int) }}
	use := func() {
		b := pool.Get().(*[1]int)
		pool.Put(b)
		b[0]++
	}
	together(use, use, use)
}

func TestRacePoolRepaired(t *testing.T) {
	pool := sync.Pool{New: func() any { return new([1]int) }}
	use := func() {
		b := pool.Get().(*[1]int)
		b[0]++
		pool.Put(b)
	}
	together(use, use, use)
}
