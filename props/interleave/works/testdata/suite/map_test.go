package works

import (
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// How a sync.Map finds a key depends on the key's hash. The keys are those that the
// environment asks for, as addresses are what a process happens to give.
func TestMapKeys(t *testing.T) {
	first, _ := strconv.Atoi(os.Getenv("FIRST_KEY"))
	var m sync.Map
	var wg sync.WaitGroup
	for g := range 2 {
		wg.Go(func() {
			for i := range 8 {
				key := first + 8*g + i
				m.Store(key, i)
				if v, ok := m.Load(key); !ok || v != i {
					t.Error(v, ok)
				}
				m.LoadOrStore(first+i, i)
				m.CompareAndSwap(key, i, i+1)
			}
		})
	}
	wg.Wait()
	var n atomic.Int32
	for range 2 {
		wg.Go(func() {
			m.Range(func(key, value any) bool {
				n.Add(1)
				m.Swap(key, value)
				return true
			})
		})
	}
	wg.Wait()
	if n.Load() != 32 {
		t.Error(n.Load())
	}
	for i := range 16 {
		m.LoadAndDelete(first + i)
	}
}

// A callback of Range may end its goroutine, panic, or lose its turn.
func TestMapRange(t *testing.T) {
	var m sync.Map
	m.Store(1, 1)
	m.Store(2, 2)
	done := make(chan int)
	go func() {
		defer func() { done <- recover().(int) }()
		m.Range(func(key, value any) bool { panic(7) })
	}()
	if <-done != 7 {
		t.Fatal("no panic")
	}
	go func() {
		defer func() { done <- 1 }()
		m.Range(func(key, value any) bool { runtime.Goexit(); return true })
	}()
	<-done
	c := make(chan any)
	go func() {
		defer close(c)
		m.Range(func(key, value any) bool { c <- key; return true })
	}()
	n := 0
	for range c {
		n++
	}
	if n != 2 {
		t.Fatal(n)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a slice is no key")
			}
		}()
		m.Store([]int{}, 1)
	}()
	var a atomic.Int32 // has points again
	go a.Add(1)
	for a.Load() == 0 {
	}
}
