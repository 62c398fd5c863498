package core

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// words make the lines of a stack long.
type words [8]uint64

// panicAt returns the error of a panic so many calls deep.
//
//go:noinline
func panicAt(depth int, value any, w words) *PanicError {
	if depth > 0 {
		return panicAt(depth-1, value, w)
	}
	return newPanicError(value)
}

// TestPropG14StacksOfPanics: each PanicError has the whole stack of its own panic, also after later ones, whether
// the stack fits into firstStack bytes, into twice as many, or into neither.
func TestPropG14StacksOfPanics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		depths := rapid.SliceOfN(rapid.OneOf(rapid.IntRange(0, 80), rapid.Just(60)), 1, 6).Draw(t, "depths") // of more calls than 100 the runtime leaves some out
		var long words
		for i := range long {
			long[i] = math.MaxUint64 - uint64(i)
		}
		var errs []*PanicError
		var stacks [][]byte
		for i, depth := range depths {
			err := panicAt(depth, i, rapid.SampledFrom([]words{{}, long}).Draw(t, "words"))
			errs, stacks = append(errs, err), append(stacks, bytes.Clone(err.Stack))
		}
		for i, err := range errs {
			if !bytes.Equal(err.Stack, stacks[i]) {
				t.Fatalf("G14: the stack of panic %d has changed: %.80q, was %.80q", i, err.Stack, stacks[i])
			}
			text := string(err.Stack)
			if got := strings.Count(text, "core.panicAt("); got != depths[i]+1 && !strings.Contains(text, "frames elided") {
				t.Fatalf("G14: %d calls in the stack of panic %d, want %d:\n%s", got, i, depths[i]+1, text)
			}
			if err.Value != i || !strings.HasPrefix(text, "goroutine ") || !strings.Contains(text, "testing.tRunner(") {
				t.Fatalf("G14: the stack of panic %d has no begin or no end:\n%s", i, text)
			}
		}
	})
}
