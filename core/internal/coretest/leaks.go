package coretest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// CheckLeaks fails the test if, at its end, goroutines exist that did not exist before, or other
// descriptors are open than before (G24). Call it first: cleanups that are registered later run
// before the check. A failed test is not checked, because a failure may leave anything behind.
// Descriptors are known on Linux only.
func CheckLeaks(t testing.TB) {
	t.Helper()
	goroutines, before := goleak.IgnoreCurrent(), Descriptors(t)
	t.Cleanup(func() {
		if t.Failed() {
			return
		}
		if err := goleak.Find(goroutines); err != nil {
			t.Errorf("G24: %v", err)
		}
		if after := Descriptors(t); !slices.Equal(before, after) {
			t.Errorf("G24: descriptors before the test %q, after it %q", before, after)
		}
	})
}

// Descriptors returns the number and the target of each open descriptor of the process. It is
// empty where there is no /proc.
func Descriptors(t testing.TB) (open []string) {
	t.Helper()
	openPoller(t)
	const dir = "/proc/self/fd/"
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		// The descriptor that ReadDir had open is gone, or is one of /proc.
		if target, err := os.Readlink(dir + e.Name()); err == nil && !strings.HasPrefix(target, "/proc/") {
			open = append(open, e.Name()+" "+target)
		}
	}
	return open
}

// openPoller makes the runtime open its network poller, whose descriptors it never closes. They
// must not appear in the middle of a test.
func openPoller(t testing.TB) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_, _ = r.Close(), w.Close()
}
