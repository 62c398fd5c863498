package core

import (
	"strings"
	"testing"
	"time"
)

// TestDefaults: the values that an executor has without options, and that the doc comments
// name.
func TestDefaults(t *testing.T) {
	cfg, err := newConfig("test", nil)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.drain != DrainChannels || cfg.timers != CancelTimers || cfg.ioRatio != 50 || cfg.limit != unbounded || cfg.spin != DefaultSpin {
		t.Errorf("defaults: %+v, want DrainChannels, CancelTimers, an I/O ratio of 50, no bound, DefaultSpin", cfg)
	}
	if DefaultSpin != 50*time.Microsecond { // measured: docs/kernels.md
		t.Errorf("a loop spins for %v, want 50µs", DefaultSpin)
	}
	if DefaultQuietPeriod != 2*time.Second || DefaultShutdownTimeout != 15*time.Second {
		t.Errorf("quiet period %v, timeout %v; want Netty's 2s and 15s", DefaultQuietPeriod, DefaultShutdownTimeout)
	}
	if err := WithSpin(0)(&cfg); err != nil || cfg.spin != 0 {
		t.Errorf("WithSpin(0): spin %v, %v; want 0, nil", cfg.spin, err)
	}
	if err := WithSpin(10 * time.Millisecond)(&cfg); err != nil || WithSpin(10*time.Millisecond+1)(&cfg) == nil {
		t.Errorf("WithSpin: %v for 10 ms, and no error beyond; want the other way", err)
	}
}

// TestStackNotFound: a goroutine that is not in the dump has a text, and no empty stack.
func TestStackNotFound(t *testing.T) {
	if got := stackOf(1 << 40); got != "(stack not found)" {
		t.Errorf("stack of a goroutine that does not exist: %q", got)
	}
	if got := stacksOf(1<<40, 1); got[0] != "(stack not found)" || !strings.HasPrefix(got[1], "goroutine 1 ") {
		t.Errorf("stacks of no goroutine and of the first: %q", got)
	}
}
