//go:build amd64 || arm64

package tcp

import (
	"testing"
	"unsafe"

	"eventide/core"
)

// TestSizes: servers keep very many of these, and one byte more takes the allocator's
// next size. The sizes are those of 64 bits. A field that few channels need belongs where it is made when needed.
func TestSizes(t *testing.T) {
	if n := unsafe.Sizeof(Channel{}); n > 240 {
		t.Errorf("a Channel has %d bytes, want at most 240", n)
	}
	if n := unsafe.Sizeof(core.Registration{}); n > 80 {
		t.Errorf("a core.Registration has %d bytes, want at most 80", n)
	}
}
