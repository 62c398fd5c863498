package programs

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"eventide/props/lane"
	"eventide/props/lanes/sockets/shadow"
)

// Property runs the given number of programs of a lane, in a binary of its own that is built
// from the module at root, and fails if one of them violates something.
func Property(t *testing.T, root, name string, programs int) {
	t.Helper()
	Touch(t, root)
	which, err := shadow.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	bin, err := shadow.Binary{Root: root, Dir: t.TempDir()}.Build(which)
	if err != nil {
		t.Fatal(err)
	}
	r, err := lane.Run{Bin: bin, Lane: which.Test, Budget: 10 * time.Minute, Seed: uint64(time.Now().UnixNano()), Until: func(r lane.Result) bool {
		return r.Runs >= programs || len(r.Failed) > 0
	}}.Do(root)
	if err != nil {
		t.Fatal(err)
	}
	if r.Ending != lane.Ended || len(r.Failed) > 0 {
		t.Fatalf("after %d programs, seed %d: %v\n%s", r.Runs, r.Seed, r.Failed[name], r.Output)
	}
}

// Touch opens the sources of core and of the lanes, so that go test does not answer from its cache
// after they have changed: go test does not see which files a go build inside of a test reads.
func Touch(t *testing.T, root string) {
	t.Helper()
	for _, pattern := range []string{"core/*.go", "core/*/*.go", "core/internal/*/*.go", "props/lanes/*/*.go", "props/lanes/sockets/*/*.go", "props/lanes/*/*/*/*.go"} {
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
