package overlay

import (
	"strings"
	"testing"
)

// TestReplace: the wanted calls, and no others, are those of package faults.
func TestReplace(t *testing.T) {
	const text = `package tcp

import "golang.org/x/sys/unix"

func open() { _, _ = unix.Socket(unix.AF_INET, 0, 0); _ = unix.Close(1) }
`
	got, err := replace("tcp.go", text, []string{"unix.Socket"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`import injected "eventide/props/faults"`, "injected.Socket(unix.AF_INET, 0, 0)", "unix.Close(1)", "func init() { injected.Install() }"} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q in\n%s", want, got)
		}
	}
}

// TestCallsThatMovedAreAnError: a file that does not make a call any more would have no faults.
func TestCallsThatMovedAreAnError(t *testing.T) {
	_, err := replace("tcp.go", "package tcp\n", []string{"unix.Socket"})
	if err == nil || !strings.Contains(err.Error(), "tcp.go does not call unix.Socket any more") {
		t.Errorf("got %v, want an error that names the call", err)
	}
}

// TestFilesOfCore: each call of the list is in its file.
func TestFilesOfCore(t *testing.T) {
	if _, err := Write("../../..", t.TempDir()); err != nil {
		t.Error(err)
	}
}
