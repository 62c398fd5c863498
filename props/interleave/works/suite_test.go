package works

import (
	"path/filepath"
	"testing"

	"eventide/props/interleave/protocol"
)

// TestSuite runs tests without bugs, of every means of synchronisation there is.
func TestSuite(t *testing.T) {
	bin := build(t, "suite")
	for _, name := range tests(t, bin) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, bin, name, 200, protocol.Request{Detail: 1})
		})
	}
}

// outside are the tests of the suite that depend on the world outside of the process.
var outside = map[string]bool{"TestCommand": true, "TestSignals": true, "TestGarbage": true}

// TestDeterminism runs 100 schedules of each test in several processes.
func TestDeterminism(t *testing.T) {
	bin := build(t, "suite")
	for _, name := range tests(t, bin) {
		if outside[name] {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := passes(t, bin, name, 100, protocol.Request{Detail: 1})
			for range 3 {
				again := passes(t, bin, name, 100, protocol.Request{Detail: 1})
				for i, s := range again.schedules {
					if s.Hash != first.schedules[i].Hash || s.Class != first.schedules[i].Class {
						t.Fatalf("schedule %d differs between two processes: %+v and %+v", i, first.schedules[i], s)
					}
				}
			}
		})
	}
}

// TestSuiteWithRaceDetector runs the suite in binaries that the race detector watches.
// It sees more operations there: atomics of the standard library are calls.
func TestSuiteWithRaceDetector(t *testing.T) {
	bin := build(t, "suite", "-race")
	for _, name := range tests(t, bin) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, bin, name, 20, protocol.Request{})
		})
	}
}

// TestOldTimerChannels runs the suite with the timer channels that modules before Go
// 1.23 have.
func TestOldTimerChannels(t *testing.T) {
	bin := build(t, "suite")
	for _, name := range []string{"TestTime", "TestTinyTickers", "TestContext", "TestPipes", "TestYield", "TestGoleak"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, bin, name, 100, protocol.Request{}, "GODEBUG=asynctimerchan=1")
		})
	}
}

// TestTimersOfModulesBefore123 leaves timers behind, and does not take them for tickers
// that nobody listens to.
func TestTimersOfModulesBefore123(t *testing.T) {
	passes(t, build(t, "suite"), "TestAbandonedTimers", 3, protocol.Request{}, "GODEBUG=asynctimerchan=1")
}

// TestTwoProcessors has the hashes that a process with one processor has.
func TestTwoProcessors(t *testing.T) {
	bin := build(t, "suite")
	for _, name := range []string{"TestMutex", "TestGroups", "TestPipes", "TestSubtests"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one := passes(t, bin, name, 100, protocol.Request{Detail: 1})
			two := passes(t, bin, name, 100, protocol.Request{Detail: 1}, "GOMAXPROCS=2")
			for i, s := range two.schedules {
				if s.Hash != one.schedules[i].Hash {
					t.Fatalf("schedule %d differs: %+v and %+v", i, one.schedules[i], s)
				}
			}
		})
	}
}

// TestOtherKeys has the same schedules whatever the keys of a sync.Map are.
func TestOtherKeys(t *testing.T) {
	bin := build(t, "suite")
	first := passes(t, bin, "TestMapKeys", 100, protocol.Request{Detail: 1})
	for _, key := range []string{"1000", "2000", "3000"} {
		again := passes(t, bin, "TestMapKeys", 100, protocol.Request{Detail: 1}, "FIRST_KEY="+key)
		for i, s := range again.schedules {
			if want := first.schedules[i]; s.Steps != want.Steps || s.Hash != want.Hash || s.Class != want.Class {
				t.Fatalf("schedule %d differs: %+v and %+v", i, want, s)
			}
		}
	}
}

// TestNeighbours has the schedules of a test that is alone in its package: what else a
// package has makes no difference.
func TestNeighbours(t *testing.T) {
	r := protocol.Request{Detail: 1}
	alone := passes(t, build(t, "alone"), "TestPassed", 20, r)
	beside := passes(t, build(t, "verdicts"), "TestPassed", 20, r)
	for i, s := range beside.schedules {
		if want := alone.schedules[i]; s.Steps != want.Steps || s.Virtual != want.Virtual || s.Hash != want.Hash {
			t.Fatalf("schedule %d differs: %+v and %+v", i, want, s)
		}
	}
}

// TestArm64 builds for another processor, whose assembler and system calls differ.
func TestArm64(t *testing.T) {
	if err := compile("alone", filepath.Join(t.TempDir(), "test"), []string{"GOARCH=arm64", "CGO_ENABLED=0"}, nil); err != nil {
		t.Fatal(err)
	}
}
