package frame_test

import (
	"testing"

	"eventide/core/frame"
)

// TestSmallBufferIsKept: a stream whose reads end inside a short line or message has one buffer for
// all of them. So a read allocates no more than one that ends with a message, which needs no buffer.
func TestSmallBufferIsKept(t *testing.T) {
	for name, row := range map[string]struct {
		cutter, whole frame.Cutter
		first, piece  string // piece ends the message that first or an earlier piece began, and begins one
		message       string
	}{
		"lines":   {&frame.Lines{}, &frame.Lines{}, "begin", "end\nbegin", "begin end\n"},
		"lengths": {&frame.Lengths{Size: 1}, &frame.Lengths{Size: 1}, "\x08begin", "end\x08begin", "\x08beginend"},
	} {
		feed := func(c frame.Cutter, piece string, want int) func() {
			p := []byte(piece)
			return func() {
				n := 0
				for range c.Feed(p) {
					n++
				}
				if n != want {
					t.Errorf("%s: %d messages of %q, want %d", name, n, piece, want)
				}
			}
		}
		feed(row.cutter, row.first, 0)()
		cut := testing.AllocsPerRun(100, feed(row.cutter, row.piece, 1))
		whole := testing.AllocsPerRun(100, feed(row.whole, row.message, 1))
		if cut > whole {
			t.Errorf("%s: a read that ends inside a message allocates %v times, one that does not %v times", name, cut, whole)
		}
	}
}
