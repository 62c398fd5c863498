package poll

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestPropLag: while the clock is behind, the delays double from 100 microseconds to 10 milliseconds, and none is shorter
// than what is left by the clock. Once the clock has reached the time of an alarm, the delay is what is left, and the next
// doubling begins anew (G12).
func TestPropLag(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var l Lag
		behind := 0 // alarms in a row that found the clock behind
		for i := range rapid.IntRange(1, 30).Draw(rt, "alarms") {
			left := time.Duration(rapid.Int64Range(1, int64(20*time.Millisecond)).Draw(rt, "left"))
			want := left
			if rapid.IntRange(0, 4).Draw(rt, "in time") > 0 {
				behind++
				want = max(left, min(100*time.Microsecond<<(behind-1), 10*time.Millisecond))
			} else {
				behind = 0
			}
			if got := l.Delay(left, behind > 0); got != want {
				rt.Fatalf("G12: alarm %d, the clock behind for %d alarms, %v left: the delay is %v, want %v", i, behind, left, got, want)
			}
		}
	})
}
