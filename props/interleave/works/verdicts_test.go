package works

import (
	"strings"
	"testing"

	"eventide/props/interleave/protocol"
)

// TestVerdicts tells the ways apart in which a test can go wrong, and repeats each by
// its switches in a new process.
func TestVerdicts(t *testing.T) {
	bin := build(t, "verdicts")
	for _, c := range []struct {
		test, verdict, message string
		request                protocol.Request
	}{
		{test: "TestExited", verdict: protocol.Exited},
		{test: "TestFatal", verdict: protocol.Panicked, message: "unlock of unlocked mutex"},
		{test: "TestPartialDeadlock", verdict: protocol.PartialDeadlock},
		{test: "TestPartialSleeper", verdict: protocol.PartialDeadlock, message: "no goroutine can reach"},
		{test: "TestPartialReachable", verdict: protocol.PartialDeadlock},
		{test: "TestHorizon", verdict: protocol.Horizon},
		{test: "TestPartialNever", verdict: protocol.PartialDeadlock, message: "only timers go on"},
		{test: "TestCenturies", verdict: protocol.Horizon},
		{test: "TestBusyBesideTimer", verdict: protocol.TooLarge, request: protocol.Request{Largest: 100}},
		{test: "TestLivelock", verdict: protocol.Livelock, message: "change nothing"},
		{test: "TestSpinBesideSleeper", verdict: protocol.Livelock, message: "change nothing"},
		{test: "TestPolite", verdict: protocol.Livelock},
		{test: "TestStarvation", verdict: protocol.Starvation},
		{test: "TestPoliteAtFirst", verdict: protocol.TooLarge, message: "at least 3000"},
		{test: "TestPoliteAtFirst", verdict: protocol.Livelock, request: protocol.Request{Largest: 100}},
		{test: "TestTooLarge", verdict: protocol.TooLarge, message: "at least 3000"},
		{test: "TestLargerGuard", verdict: protocol.TooLarge},
		{test: "TestLate", verdict: protocol.LateFailure, message: "too late"},
		{test: "TestLatePanic", verdict: protocol.LateFailure, message: "panic: too late"},
		{test: "TestLeftForAnHour", verdict: protocol.Leak, message: "still wait a minute later"},
		{test: "TestLeftToATicker", verdict: protocol.Leak, message: "still wait a minute later"},
		{test: "TestSelect", verdict: protocol.Failed},
		{test: "TestMapOrder", verdict: protocol.Failed},
		{test: "TestTimers", verdict: protocol.Failed},
		{test: "TestTimerOrder", verdict: protocol.Failed},
		{test: "TestResultInTime", verdict: protocol.Failed},
		{test: "TestEarly", verdict: protocol.Failed, request: protocol.Request{Time: protocol.TimeMixed}},
	} {
		t.Run(c.test+c.verdict, func(t *testing.T) {
			t.Parallel()
			c.request.Steps = 100000
			s, _ := finds(t, bin, c.test, c.verdict, 1000, c.request)
			if !strings.Contains(s.Message, c.message) {
				t.Errorf("message %q, want one with %q", s.Message, c.message)
			}
			r := replay(s)
			r.Time, r.Steps, r.Largest = "", c.request.Steps, c.request.Largest // moves of the clock need no permission
			again, _ := finds(t, bin, c.test, c.verdict, 1, r)
			if again.Number != s.Number || again.Unused != 0 || protocol.FormatSwitches(again.Switches) != protocol.FormatSwitches(s.Switches) {
				t.Errorf("the replay of %+v is %+v", s, again)
			}
		})
	}
}

// TestPromises runs what must pass: mostly promises of the clock.
func TestPromises(t *testing.T) {
	bin := build(t, "verdicts")
	for _, c := range []struct {
		test    string
		n       int
		request protocol.Request
	}{
		{"TestPassed", 100, protocol.Request{}},
		{"TestUnfair", 1000, protocol.Request{}},
		{"TestClock", 100, protocol.Request{}},
		{"TestGuard", 300, protocol.Request{}},
		{"TestGuard", 300, protocol.Request{Time: protocol.TimeMixed}},
		{"TestEarly", 1000, protocol.Request{}},
		{"TestLargeGuard", 5, protocol.Request{Steps: 100000}},
		{"TestBusyWait", 5, protocol.Request{Steps: 100000}},
		{"TestManyReady", 2, protocol.Request{Strategy: protocol.StrategyPOS}},
		{"TestTimerOrder", 1, protocol.Request{Strategy: protocol.StrategyReplay}},
		{"TestResultInTime", 1, protocol.Request{Strategy: protocol.StrategyReplay}},
		{"TestRawCall", 20, protocol.Request{}},
		{"TestLateSignal", 3, protocol.Request{}},
		{"TestCollector", 100, protocol.Request{}},
		{"TestChild", 3, protocol.Request{}},
		{"TestSlowReader", 8, protocol.Request{}},
		{"TestSlowReaderSpin", 8, protocol.Request{}},
		{"TestSlowReaderLate", 8, protocol.Request{}},
		{"TestSlowChild", 8, protocol.Request{}},
		{"TestAnsweringChild", 20, protocol.Request{Steps: 1000000}},
		{"TestNoReader", 8, protocol.Request{}},
		{"TestTimerOfAnHour", 20, protocol.Request{}},
		{"TestSleepOfADay", 20, protocol.Request{}},
		{"TestContextOfAnHour", 20, protocol.Request{}},
		{"TestFunctionAfterAnHour", 20, protocol.Request{}},
		{"TestDayBesideTickers", 20, protocol.Request{}},
		{"TestManyTicks", 2, protocol.Request{}},
		{"TestCleanup", 50, protocol.Request{}},
		{"TestCleanupInTime", 50, protocol.Request{}},
		{"TestCleanupSleeps", 50, protocol.Request{}},
		{"TestSpinBesideTimer", 200, protocol.Request{}},
		{"TestSpinGuard", 200, protocol.Request{}},
		{"TestLeftForAWhile", 50, protocol.Request{}},
		{"TestLeftAsleep", 50, protocol.Request{}},
	} {
		t.Run(c.test+c.request.Time, func(t *testing.T) {
			t.Parallel()
			passes(t, bin, c.test, c.n, c.request)
		})
	}
}

// TestRace has the race detector's verdict, on every strategy.
func TestRace(t *testing.T) {
	bin := build(t, "verdicts", "-race")
	s, got := finds(t, bin, "TestDataRace", protocol.Race, 100, protocol.Request{})
	if !strings.Contains(got.out, "WARNING: DATA RACE") {
		t.Errorf("%+v without the detector's report:\n%s", s, got.out)
	}
	passes(t, bin, "TestClock", 100, protocol.Request{})
	passes(t, bin, "TestGuard", 10, protocol.Request{})
}

// TestOutside counts what the engine does not control, and names the place.
func TestOutside(t *testing.T) {
	for kind, c := range map[string]struct{ bin, test, place string }{
		"raw":    {"verdicts", "TestRawCall", "TestRawCall"},
		"gc":     {"verdicts", "TestCollector", "TestCollector"},
		"signal": {"suite", "TestSignals", "os/signal"},
		"socket": {"suite", "TestSockets", "TestSockets"},
		"child":  {"suite", "TestCommand", "os.startProcess"},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			r := protocol.Request{Detail: 1}
			if kind == "socket" {
				r.Net = protocol.NetReal
			}
			got := passes(t, build(t, c.bin), c.test, 5, r)
			met := false
			for _, r := range got.records {
				if r.Kind == protocol.KindOutside && r.Text("kind") == kind {
					o := protocol.OutsideOf(r)
					met = met || strings.Contains(o.Func, c.place) && o.File != "" && o.Line > 0
				}
			}
			counts := got.summary
			n := map[string]uint64{"raw": counts.Raw, "gc": counts.GC, "signal": counts.Signals, "socket": counts.Sockets, "child": counts.Children}[kind]
			if !met || n == 0 {
				t.Errorf("counts %+v, records %+v", counts, got.records)
			}
		})
	}
}

// TestScans looks at all goroutines for one that waits for the kernel only while there is
// one.
func TestScans(t *testing.T) {
	got := passes(t, build(t, "verdicts"), "TestPipeOnce", 10, protocol.Request{})
	if n := got.summary.Scans; n == 0 || n > 300 {
		t.Errorf("%d looks at all goroutines, want a few for each schedule", n)
	}
}

// TestBadRequest is answered by an error record.
func TestBadRequest(t *testing.T) {
	bin := build(t, "verdicts")
	got := explore(t, bin, "TestPassed", 1, protocol.Request{Strategy: "none"})
	if got.code != protocol.ExitRequest || len(got.records) != 1 || !strings.Contains(got.records[0].Text("text"), "strategy=none") {
		t.Errorf("exit code %d, %+v", got.code, got.records)
	}
}
