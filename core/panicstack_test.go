package core_test

import (
	"errors"
	"strings"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// TestG14APanicHasItsWholeStack: also one that is larger than most.
func TestG14APanicHasItsWholeStack(t *testing.T) {
	for _, depth := range []int{0, 10, 1000} {
		e := coretest.NewExecutor(t)
		f := core.Submit(e, func() (int, error) { return panicAtDepth(depth), nil })
		_, err := f.Wait(t.Context())
		var p *core.PanicError
		if !errors.As(err, &p) {
			t.Fatalf("at depth %d: the error is %v, want a PanicError", depth, err)
		}
		stack := string(p.Stack)
		if !strings.HasPrefix(stack, "goroutine ") || !strings.Contains(stack, "panicAtDepth") || !strings.HasSuffix(stack, "\n") || !strings.Contains(stack, "created by eventide/core.") {
			t.Errorf("at depth %d: the stack of %d bytes is not whole:\n%s", depth, len(stack), stack)
		}
	}
}

func panicAtDepth(depth int) int {
	if depth == 0 {
		panic("at the bottom")
	}
	return 1 + panicAtDepth(depth-1)
}
