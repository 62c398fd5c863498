package driver

import "testing"

func TestPlainStates(t *testing.T) {
	const m = "\x16"
	r := parsePlain(m + "=== RUN   TestGood\n" + m + "--- PASS: TestGood (0.00s)\n" +
		m + "=== RUN   TestBad\n    x_test.go:1: no\n" + m + "--- FAIL: TestBad (0.00s)\n" +
		m + "=== RUN   TestOnce\nunfinished line" + m + "--- PASS: TestOnce (0.00s)\n" +
		m + "=== RUN   TestSkips\n" + m + "--- SKIP: TestSkips (0.00s)\n" +
		m + "=== RUN   TestGood\n" + m + "--- PASS: TestGood (0.00s)\n" +
		m + "=== RUN   TestOnce\n" + m + "--- FAIL: TestOnce (0.00s)\n" +
		m + "=== RUN   TestStays\n=== RUN   TestPrinted\n")
	r.err = "exit status 1"
	for name, want := range map[string]plainState{
		"TestGood": plainPassed, "TestBad": plainFailed, "TestOnce": plainOnce, "TestSkips": plainSkipped,
		"TestStays": plainFailed, "TestPrinted": plainUnknown,
	} {
		if got := r.state(name); got != want {
			t.Errorf("%s: state %d, want %d", name, got, want)
		}
	}
	if got := r.about("TestBad"); got != "x_test.go:1: no\n--- FAIL: TestBad (0.00s)" {
		t.Errorf("about TestBad: %q", got)
	}
}

// A test that is paused is not interrupted when the process ends.
func TestPlainInterrupted(t *testing.T) {
	const m = "\x16"
	r := parsePlain(m + "=== RUN   TestPaused\n" + m + "=== PAUSE TestPaused\n" + m + "=== RUN   TestGoesOn\n" + m + "=== PAUSE TestGoesOn\n" +
		m + "=== CONT  TestGoesOn\n" + m + "=== RUN   TestRuns\n")
	r.err = "exit status 1"
	for name, want := range map[string]plainState{"TestPaused": plainUnknown, "TestGoesOn": plainFailed, "TestRuns": plainFailed} {
		if r.state(name) != want || r.interrupted(name) != (want == plainFailed) {
			t.Errorf("%s: state %d, want %d; interrupted: %v", name, r.state(name), want, r.interrupted(name))
		}
	}
}
