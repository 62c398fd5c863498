// Package library uses the functions of package interleave.
package library

import (
	"sync"
	"sync/atomic"
	"testing"

	"eventide/props/interleave"
	"pgregory.net/rapid"
)

// TestExplore loses an update.
func TestExplore(t *testing.T) {
	interleave.Explore(t, func(t *testing.T) {
		var n atomic.Int64
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { n.Store(n.Load() + 1) })
		}
		wg.Wait()
		if n.Load() != 2 {
			t.Fatal("an update is lost")
		}
	})
}

// register is a counter whose add is not one operation.
type register struct{ n atomic.Int64 }

func (r *register) addInTwoSteps(d int) int {
	sum := r.n.Load() + int64(d)
	r.n.Store(sum)
	return int(sum)
}

func (r *register) add(d int) int { return int(r.n.Add(int64(d))) }

func operations(add func(r *register, d int) int) []interleave.Op[*register, int] {
	return []interleave.Op[*register, int]{
		{
			Name: "Add", Args: rapid.IntRange(1, 9).AsAny(),
			Call:  func(r *register, arg any) any { return add(r, arg.(int)) },
			Model: func(m int, arg any) (any, int) { return m + arg.(int), m + arg.(int) },
		}, {
			Name:  "Get",
			Call:  func(r *register, _ any) any { return int(r.n.Load()) },
			Model: func(m int, _ any) (any, int) { return m, m },
		},
	}
}

func TestNotLinearizable(t *testing.T) {
	interleave.Linearizable(t, func() *register { return &register{} }, 0, operations((*register).addInTwoSteps))
}

func TestLinearizable(t *testing.T) {
	interleave.Linearizable(t, func() *register { return &register{} }, 0, operations((*register).add))
}
