package interleave_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"eventide/props/interleave"

	"pgregory.net/rapid"
)

// The test loses an update on some schedules, which the command finds. In a run of go test,
// where nothing chooses schedules, the test fails at once.
func ExampleExplore() {
	var testCounter func(t *testing.T) = func(t *testing.T) { // in a file of tests: func TestCounter
		interleave.Explore(t, func(t *testing.T) {
			var n atomic.Int64
			var callers sync.WaitGroup
			for range 2 {
				callers.Go(func() { n.Store(n.Load() + 1) })
			}
			callers.Wait()
			if n.Load() != 2 {
				t.Fatal("an update is lost")
			}
		})
	}
	fmt.Println(testCounter != nil, "go run eventide/props/cmd/interleave test -run TestCounter .")
	// Output: true go run eventide/props/cmd/interleave test -run TestCounter .
}

// The operations of a counter, and the model of each. Linearizable calls them from several
// goroutines, and fails if no order of the calls explains the results.
func ExampleLinearizable() {
	operations := []interleave.Op[*atomic.Int64, int]{
		{
			Name: "Add", Args: rapid.IntRange(1, 9).AsAny(),
			Call:  func(n *atomic.Int64, d any) any { return int(n.Add(int64(d.(int)))) },
			Model: func(m int, d any) (any, int) { return m + d.(int), m + d.(int) },
		}, {
			Name:  "Load",
			Call:  func(n *atomic.Int64, _ any) any { return int(n.Load()) },
			Model: func(m int, _ any) (any, int) { return m, m },
		},
	}
	var testCounter func(t *testing.T) = func(t *testing.T) { // in a file of tests: func TestCounter
		interleave.Linearizable(t, func() *atomic.Int64 { return &atomic.Int64{} }, 0, operations)
	}

	var n atomic.Int64
	state := 0
	for _, call := range []struct {
		op  int
		arg any
	}{{0, 3}, {1, nil}, {0, 4}} {
		op := operations[call.op]
		want, after := op.Model(state, call.arg)
		state = after
		fmt.Println(op.Name, op.Call(&n, call.arg), "as the model:", want)
	}
	fmt.Println(testCounter != nil)
	// Output:
	// Add 3 as the model: 3
	// Load 3 as the model: 3
	// Add 7 as the model: 7
	// true
}
