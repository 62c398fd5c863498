package frame_test

import (
	"testing"

	"eventide/core/frame"

	"pgregory.net/rapid"
)

// TestPropLinesAreSearchedOnce: Feed does not search again what an earlier call has searched. Otherwise a line in many
// pieces takes time in proportion to the square of its length.
func TestPropLinesAreSearchedOnce(t *testing.T) {
	pieces := rapid.SliceOfN(rapid.StringOfN(rapid.SampledFrom([]rune("aaaaaaa\n")), 1, 20, -1), 1, 30)
	rapid.Check(t, func(t *rapid.T) {
		var l frame.Lines
		for i, piece := range pieces.Draw(t, "pieces") {
			for range l.Feed([]byte(piece)) {
			}
			if left := l.Unsearched(); left > 0 {
				t.Fatalf("after piece %d of %d bytes, the next call searches %d bytes again", i, len(piece), left)
			}
		}
	})
}
