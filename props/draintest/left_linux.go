package draintest

import (
	"os"
	"path/filepath"
)

// descriptors returns the open descriptors, each with its target, and whether the system
// lists them.
func descriptors() (open map[string]bool, known bool) {
	const dir = "/proc/self/fd"
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, false
	}
	open = map[string]bool{}
	for _, e := range entries {
		// The descriptor of the listing itself is closed by now, and fails here.
		if target, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil {
			open[e.Name()+" "+target] = true
		}
	}
	return open, true
}
