package bench

import (
	"strings"
	"testing"
)

// The functions differ in the group alone: see doc.go for what each measures.

func BenchmarkExecute(b *testing.B) {
	for _, producers := range []int{1, 2, 4, 64} {
		benchmarkGroup(b, executeCases(producers))
	}
}

func BenchmarkExecuteInLoop(b *testing.B) { benchmarkGroup(b, inLoopCases()) }
func BenchmarkExecuteLazy(b *testing.B)   { benchmarkGroup(b, lazyCases()) }
func BenchmarkRoundTrip(b *testing.B)     { benchmarkGroup(b, roundTripCases()) }
func BenchmarkRoundTripBusy(b *testing.B) { benchmarkGroup(b, busyTripCases()) }
func BenchmarkShutdownIdle(b *testing.B)  { benchmarkGroup(b, shutdownCases()) }
func BenchmarkQuietPeriod(b *testing.B)   { benchmarkGroup(b, quietPeriodCases()) }
func BenchmarkSubmit(b *testing.B)        { benchmarkGroup(b, submitCases()) }

func BenchmarkScheduleCancel(b *testing.B) {
	benchmarkGroup(b, scheduleCancelCases("loop", TimerCounts))
	benchmarkGroup(b, scheduleCancelCases("outside", TimerCounts))
}

func BenchmarkStats(b *testing.B) {
	b.Run("impl=core", func(b *testing.B) {
		x, err := NewCore()
		if err != nil {
			b.Fatal(err)
		}
		defer x.Close()
		if err := x.Execute(func() {}); err != nil {
			b.Fatal(err)
		}
		awaitPark(x, 0)
		b.ReportAllocs()
		for b.Loop() {
			x.(statser).Stats()
		}
	})
}

func benchmarkGroup(b *testing.B, g Group) {
	for _, c := range g {
		benchmarkCase(b, c)
	}
}

// benchmarkCase opens a case once for all the values of b.N that the framework
// tries: a million timers take a while.
func benchmarkCase(b *testing.B, c Case) {
	var r Runner
	b.Run(subName(c), func(b *testing.B) {
		if r == nil {
			var err error
			if r, err = c.Open(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportAllocs()
		b.ResetTimer()
		s, err := r.Run(b.N)
		b.StopTimer()
		if err != nil {
			b.Fatal(err)
		}
		report(b, s)
	})
	if r == nil {
		return // not asked for
	}
	if err := r.Close(); err != nil {
		b.Error(err)
	}
}

// report replaces the framework's ns/op, which counts the pauses between the
// samples too.
func report(b *testing.B, s Slice) {
	b.ReportMetric(s.NsPerOp(), "ns/op")
	if s.Latency == nil {
		return
	}
	b.ReportMetric(s.Quantile(50), "p50-ns")
	b.ReportMetric(s.Quantile(99), "p99-ns")
	b.ReportMetric(float64(s.Void)/float64(s.Ops+s.Void), "void/op")
	if s.Short > 0 {
		b.Errorf("G10: %d of %d waits were short, want none", s.Short, s.Ops)
	}
}

// subName is the name below the function's own.
func subName(c Case) string {
	_, sub, _ := strings.Cut(c.Name(), "/")
	return sub
}
