package core

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/petermattis/goid"
	"pgregory.net/rapid"
)

func TestFindStack(t *testing.T) {
	dump := "goroutine 1 [running]:\nmain.main()\n\ngoroutine 12 [select]:\nmain.f()\n\ngoroutine 2 [chan receive]:\nmain.g()"
	for _, tt := range []struct {
		goroutine int
		all       bool
		want      string
	}{
		{1, true, "goroutine 1 [running]:\nmain.main()"},
		{2, true, "goroutine 2 [chan receive]:\nmain.g()"},
		{2, false, stackNotFound}, // may be cut off
		{12, false, "goroutine 12 [select]:\nmain.f()"},
		{3, true, stackNotFound},
	} {
		if got := findStack([]byte(dump), fmt.Sprintf("goroutine %d ", tt.goroutine), tt.all); got != tt.want {
			t.Errorf("goroutine %d, all=%v: got %q, want %q", tt.goroutine, tt.all, got, tt.want)
		}
	}
}

// waitsForStacks sends the id of its goroutine, and waits.
func waitsForStacks(id chan<- int64, gate <-chan struct{}) {
	id <- goid.Get()
	<-gate
}

// TestPropG11Stacks: stacksOf returns the stack of each goroutine that it was asked for, and of no other one,
// however many there are. For a goroutine that does not exist it returns stackNotFound.
func TestPropG11Stacks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, 20, 300, 700}).Draw(t, "goroutines") // their stacks take less than 1 MiB
		asked := rapid.SliceOfN(rapid.IntRange(-1, n-1), 1, 4).Draw(t, "asked for, -1 for none")
		id, gate := make(chan int64), make(chan struct{})
		var all sync.WaitGroup
		ids := make([]int64, n)
		for i := range ids {
			all.Go(func() { waitsForStacks(id, gate) })
			ids[i] = <-id
		}
		wanted := make([]int64, len(asked))
		for i, k := range asked {
			if wanted[i] = -1; k >= 0 {
				wanted[i] = ids[k]
			}
		}
		stacks := stacksOf(wanted...)
		close(gate)
		all.Wait()
		for i, stack := range stacks {
			head := fmt.Sprintf("goroutine %d ", wanted[i])
			found := strings.HasPrefix(stack, head) && strings.Contains(stack, "core.waitsForStacks(") && strings.Count("\n"+stack, "\ngoroutine ") == 1
			if found != (asked[i] >= 0) || !found && stack != stackNotFound {
				t.Fatalf("G11: the stack of goroutine %d, number %d of %d, is %q", wanted[i], asked[i], n, stack)
			}
		}
	})
}

// To read the stacks of others stops all goroutines, so stacksOf takes no larger dump than it needs, and does not begin
// with many small ones. The stack of its caller is the first in each, and is looked for twice here, because for one it takes no dump.
func TestStacksOfReadsNoMoreThanItNeeds(t *testing.T) {
	id, gate := make(chan int64), make(chan struct{})
	var all sync.WaitGroup
	for range 2000 {
		all.Go(func() { waitsForStacks(id, gate) })
		<-id
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	stacks := stacksOf(goid.Get(), goid.Get())
	runtime.ReadMemStats(&after)
	close(gate)
	all.Wait()
	if n := after.TotalAlloc - before.TotalAlloc; n < 64<<10 || n > 256<<10 {
		t.Errorf("stacksOf has allocated %d bytes, want the 64 KiB of the first dump", n)
	}
	for _, stack := range append(stacks, stacksOf(goid.Get())...) {
		if !strings.Contains(stack, "TestStacksOfReadsNoMoreThanItNeeds") || strings.HasSuffix(stack, "\n") {
			t.Errorf("the stack of the caller is %q", stack)
		}
	}
}
