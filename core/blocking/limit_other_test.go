//go:build !linux

package blocking_test

import "testing"

// descriptorsFor returns n: only Linux is asked for its limit.
func descriptorsFor(_ testing.TB, n int) int { return n }
