package tcp_test

import (
	"flag"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"
)

// checkInBubbles checks generated inputs, each in a bubble of its own. draw returns the check of one input, which returns a
// description of a difference, or "".
func checkInBubbles(t *testing.T, draw func(r *rapid.T) (check func(t *testing.T) string)) {
	t.Helper()
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(r *rapid.T) {
		check, wrong := draw(r), ""
		synctest.Test(t, func(t *testing.T) { wrong = check(t) })
		if wrong != "" {
			r.Fatal(wrong)
		}
	})
}
