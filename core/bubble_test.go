package core_test

import (
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"
)

// checkInBubble runs a check of one input in a bubble. The input fails if the check returns a description of a difference.
func checkInBubble(t *testing.T, rt *rapid.T, check func(t *testing.T) string) {
	t.Helper()
	wrong := ""
	synctest.Test(t, func(t *testing.T) { wrong = check(t) })
	if wrong != "" {
		rt.Fatal(wrong)
	}
}
