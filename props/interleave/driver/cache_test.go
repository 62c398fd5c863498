package driver

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestTrimCache(t *testing.T) {
	root := t.TempDir()
	t.Setenv("INTERLEAVE_CACHE", root)
	now := time.Now()
	for name, age := range map[string]time.Duration{"old": keptFor + time.Hour, "new": keptFor - time.Hour, "used": keptFor + time.Hour} {
		dir := filepath.Join(root, "bin", name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(dir, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	use(filepath.Join(root, "bin", "used"))
	trimCache(now)
	for name, want := range map[string]bool{"old": false, "new": true, "used": true} {
		if _, err := os.Stat(filepath.Join(root, "bin", name)); (err == nil) != want {
			t.Errorf("%s: kept %v, want %v", name, err == nil, want)
		}
	}
}
