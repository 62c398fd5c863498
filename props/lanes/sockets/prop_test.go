package sockets

import (
	"runtime"
	"testing"

	"eventide/props/lanes/programs"
)

// root is that of the module, seen from here.
const root = "../../.."

// TestPropSockets runs generated programs on core/tcp, over the model of the kernel, in a
// binary of its own: with it core makes no system call of Linux.
func TestPropSockets(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("core/tcp is for Linux")
	}
	programs.Property(t, root, "sockets", 2000)
}

// TestPropBlocking runs generated programs on core/blocking, over the same model.
func TestPropBlocking(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the model is of Linux")
	}
	programs.Property(t, root, "blocking", 2000)
}

// TestKept runs the programs that once violated something.
func TestKept(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("core/tcp is for Linux")
	}
	programs.Kept(t, root, "sockets")
	programs.Kept(t, root, "blocking")
}
