//go:build !linux

package blocking_test

import "testing"

// descriptorsFor returns n: only Linux has a limit that the tests must raise.
func descriptorsFor(_ testing.TB, n int) int { return n }
