package core

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/petermattis/goid"
)

// A stack is found wherever it is in the first MiB of the stacks of all goroutines, as the doc of
// Report.Running says. Goroutines are added until one is in the last three quarters.
func TestStackInTheFirstMiB(t *testing.T) {
	const mib = 1 << 20
	var all sync.WaitGroup
	release := make(chan struct{})
	defer all.Wait()
	defer close(release)
	dump := make([]byte, 2*mib)
	for range 100 {
		var last int64
		for range 100 {
			id := make(chan int64)
			all.Go(func() { id <- goid.Get(); <-release })
			last = <-id
		}
		text := string(dump[:runtime.Stack(dump, true)])
		begin := strings.Index(text, fmt.Sprintf("goroutine %d ", last))
		switch {
		case begin < mib/4+1<<10:
		case begin < mib-8<<10: // a stack is shorter than 8 KiB
			if got := stackOf(last); !strings.HasPrefix(got, fmt.Sprintf("goroutine %d ", last)) {
				t.Errorf("G11: the stack at byte %d of %d is not found: %.80q", begin, len(text), got)
			}
			return
		}
	}
	t.Error("no goroutine is in the last three quarters of the first MiB")
}
