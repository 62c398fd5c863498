package frame_test

import (
	"bytes"
	"io"
	"testing"

	"eventide/core/frame"

	"pgregory.net/rapid"
)

// greedyReader fills the buffer of each call while it has bytes, and keeps the sizes of the buffers.
type greedyReader struct {
	left  bytes.Reader
	sizes []int
}

func (r *greedyReader) Read(p []byte) (int, error) {
	r.sizes = append(r.sizes, len(p))
	return r.left.Read(p)
}

// TestPropMessagesReadsAhead: Messages reads 32 KiB at a time, and not again before it has yielded the messages that it
// has. So a loop that ends early has taken from the reader what it has yielded and less than 32 KiB more.
func TestPropMessagesReadsAhead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		length := rapid.SampledFrom([]int{1, 100, 1000, 10000, 32<<10 - 1, 32 << 10}).Draw(t, "length of a line")
		lines := rapid.IntRange(0, 1+100_000/length).Draw(t, "lines")
		stop := rapid.IntRange(1, lines+1).Draw(t, "the loop ends after")
		var r greedyReader
		r.left.Reset(bytes.Repeat(append(bytes.Repeat([]byte{'a'}, length-1), '\n'), lines))
		n := 0
		for _, err := range frame.Messages(&r, &frame.Lines{Limit: length}) {
			if err != nil && err != io.EOF {
				t.Fatal(err)
			}
			n++
			reads := (n*length + 32<<10 - 1) / (32 << 10)
			if len(r.sizes) != reads {
				t.Fatalf("at message %d of %d bytes: %d reads, want %d", n, length, len(r.sizes), reads)
			}
			if n == stop {
				break
			}
		}
		for _, size := range r.sizes {
			if size != 32<<10 {
				t.Fatalf("a read of %d bytes, want 32 KiB", size)
			}
		}
		if want := min(stop, lines); n != want {
			t.Fatalf("%d messages of %d, want %d", n, lines, want)
		}
	})
}
