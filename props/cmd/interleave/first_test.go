package main

import (
	"os"
	"path/filepath"
	"testing"

	"eventide/props/interleave/driver"
)

// Three packages as a first user may have them, each with a mistake or two. The pages
// name what the reader looks for: objects, goroutines and the lines that fail.
func TestFirstPackages(t *testing.T) {
	files, err := filepath.Abs("testdata/first")
	if err != nil {
		t.Fatal(err)
	}
	for name, texts := range map[string][]string{
		"cache": {"--- FAIL: TestInvalidate", "cache_test.go:44: stale value 0 after Invalidate", "before cache.go:56: g1 runs"},
		"pool": {"finding 1 of 2", "g3 ((*Pool).work) waits for p.cond (Cond.Wait) at pool.go:50", "| g2 (*Pool).work", "p.cond.Wait()  <- waits for ever",
			"panic: runtime error: index out of range [0] with length 0\n      at pool.go:57", "pool.go:57 task := p.queue[0]  <- panics"},
		"pubsub": {"panic: send on closed channel\n      at pubsub.go:41", "pubsub.go:41 select {  <- panics", "g3 (*Topic).Publish"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := module(t)
			if err := os.CopyFS(dir, os.DirFS(filepath.Join(files, name))); err != nil {
				t.Fatal(err)
			}
			want(t, driver.ExitFinding, []string{"test"}, texts...)
		})
	}
}
