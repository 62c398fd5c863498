package coretest_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// recordedTest is a testing.TB that records failures, and runs its cleanups when the caller asks.
type recordedTest struct {
	testing.TB
	failures []string
	cleanups []func()
}

func (h *recordedTest) Helper()          {}
func (h *recordedTest) Failed() bool     { return len(h.failures) > 0 }
func (h *recordedTest) Cleanup(f func()) { h.cleanups = append(h.cleanups, f) }
func (h *recordedTest) Errorf(format string, args ...any) {
	h.failures = append(h.failures, fmt.Sprintf(format, args...))
}

func (h *recordedTest) end() {
	for _, f := range slices.Backward(h.cleanups) {
		f()
	}
}

// TestEachCheckCanFail: a check that nothing fails would pass every test that uses it.
func TestEachCheckCanFail(t *testing.T) {
	gate := make(chan struct{})
	var left *os.File
	for name, check := range map[string]func(h *recordedTest, bad bool){
		"a goroutine is left": func(h *recordedTest, bad bool) {
			coretest.CheckLeaks(h)
			if bad {
				go func() { <-gate }()
			}
		},
		"a descriptor is left": func(h *recordedTest, bad bool) {
			coretest.CheckLeaks(h)
			if bad {
				left, _ = os.Open(os.DevNull)
			}
		},
		"a descriptor of others is closed": func(h *recordedTest, bad bool) {
			f, err := os.Open(os.DevNull)
			coretest.Must(t, err)
			coretest.CheckLeaks(h)
			if bad {
				_ = f.Close()
			}
			t.Cleanup(func() { _ = f.Close() })
		},
		"another order": func(h *recordedTest, bad bool) {
			var j coretest.Journal
			j.Add("a")
			if j.Add("b"); bad {
				j.Add("c")
			}
			j.Await(h, 1, "b")
			j.Want(h, "order", "a b")
		},
		"another value": func(h *recordedTest, bad bool) { coretest.Want(h, "value", bad, false) },
		"another error": func(h *recordedTest, bad bool) {
			err := fmt.Errorf("why: %w", core.ErrShutdown)
			if bad {
				err = errors.New("other")
			}
			coretest.WantErr(h, "error", err, core.ErrShutdown)
		},
		"an error instead of none": func(h *recordedTest, bad bool) {
			var err error
			if bad {
				err = errors.New("other")
			}
			coretest.WantErr(h, "error", err, nil)
		},
		"no error instead of a text": func(h *recordedTest, bad bool) {
			err := errors.New("text")
			if bad {
				err = nil
			}
			coretest.WantText(h, "error", err, "text")
		},
	} {
		for _, bad := range []bool{false, true} {
			if strings.HasPrefix(name, "a descriptor") && len(coretest.Descriptors(t)) == 0 {
				continue // descriptors are not known here
			}
			h := &recordedTest{TB: t}
			check(h, bad)
			h.end()
			if h.Failed() != bad {
				t.Errorf("%s: %v; failures %q", name, bad, h.failures)
			}
		}
	}
	close(gate)
	_ = left.Close()
}
