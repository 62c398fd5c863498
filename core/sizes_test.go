package core

import (
	"testing"
	"unsafe"
)

// There may be millions of timers: one has the size of a class of the allocator.
func TestTimerFitsItsSizeClass(t *testing.T) {
	if size := unsafe.Sizeof(Timer{}); size > 96 {
		t.Errorf("a Timer has %d bytes, want 96 or fewer: the next class of the allocator has 112", size)
	}
}
