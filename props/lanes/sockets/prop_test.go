package sockets

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"eventide/props/lane"
	"eventide/props/lanes/sockets/shadow"
)

// root is that of the module, seen from here.
const root = "../../.."

// programs is how many programs the property runs.
const programs = 2000

// TestPropSockets runs generated programs on core/tcp, over the model of the kernel, in a
// binary of its own: with it core makes no system call of Linux.
func TestPropSockets(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("core/tcp is for Linux")
	}
	touch(t)
	bin, err := shadow.Lane{Root: root, Dir: t.TempDir()}.Build()
	if err != nil {
		t.Fatal(err)
	}
	r, err := lane.Run{Bin: bin, Budget: 10 * time.Minute, Seed: uint64(time.Now().UnixNano()), Until: func(r lane.Result) bool {
		return r.Runs >= programs || len(r.Failed) > 0
	}}.Do(root)
	if err != nil {
		t.Fatal(err)
	}
	if r.Ending != lane.Ended || len(r.Failed) > 0 {
		t.Fatalf("after %d programs, seed %d: %v\n%s", r.Runs, r.Seed, r.Failed["sockets"], r.Output)
	}
}

// touch opens the sources of core, so that go test does not answer from its cache after they
// have changed: it knows nothing of what a go build inside of a test reads.
func touch(t *testing.T) {
	t.Helper()
	for _, pattern := range []string{"core/*.go", "core/tcp/*.go", "core/internal/*/*.go", "props/lanes/sockets/*.go", "props/lanes/sockets/*/*.go", "props/lanes/sockets/*/*/*.go"} {
		names, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(names), err)
		}
		for _, name := range names {
			f, err := os.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			_ = f.Close()
		}
	}
}
