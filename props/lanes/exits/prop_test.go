package exits

import (
	"runtime"
	"testing"

	"eventide/props/lanes/programs"
)

// TestPropExits runs generated plans on core/process in a binary of its own, in which signals come
// from the program.
func TestPropExits(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the lane replaces the imports of Linux")
	}
	programs.Property(t, "../../..", "exits", 2000)
}

// TestKept runs the plans that once violated something.
func TestKept(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the lane replaces the imports of Linux")
	}
	programs.Kept(t, "../../..", "exits")
}
