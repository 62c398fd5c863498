package bench

import (
	"runtime"
	"strings"
	"testing"

	"eventide/core"
)

// The functions differ in the group alone: see doc.go for what each measures.

func BenchmarkExecute(b *testing.B) {
	for _, producers := range Producers {
		benchmarkGroup(b, executeCases(producers))
	}
}

func BenchmarkExecuteBusy(b *testing.B) {
	for _, producers := range busyProducers {
		benchmarkGroup(b, busyCases(producers))
	}
}

func BenchmarkExecuteInLoop(b *testing.B) { benchmarkGroup(b, inLoopCases()) }
func BenchmarkExecuteLazy(b *testing.B)   { benchmarkGroup(b, lazyCases()) }
func BenchmarkRoundTrip(b *testing.B)     { benchmarkGroup(b, roundTripCases()) }
func BenchmarkRoundTripBusy(b *testing.B) { benchmarkGroup(b, busyTripCases()) }
func BenchmarkShutdownIdle(b *testing.B)  { benchmarkGroup(b, shutdownCases()) }
func BenchmarkQuietPeriod(b *testing.B)   { benchmarkGroup(b, quietPeriodCases()) }
func BenchmarkSubmit(b *testing.B)        { benchmarkGroup(b, submitCases()) }

func BenchmarkReadiness(b *testing.B)     { benchmarkGroup(b, readinessCases()) }
func BenchmarkTimerLateness(b *testing.B) { benchmarkGroup(b, latenessCases()) }

func BenchmarkSubmitLatency(b *testing.B) { benchmarkLoads(b, latencyCases) }
func BenchmarkSubmitStart(b *testing.B)   { benchmarkLoads(b, startCases) }

func benchmarkLoads(b *testing.B, cases func(load, producers int) Group) {
	for _, load := range Loads {
		for _, producers := range Producers {
			benchmarkGroup(b, cases(load, producers))
		}
	}
}

func BenchmarkShutdown(b *testing.B) {
	for _, g := range curves(TimerCounts) {
		benchmarkGroup(b, g)
	}
}

func BenchmarkScheduleCancel(b *testing.B) {
	benchmarkGroup(b, scheduleCancelCases("loop", TimerCounts))
	benchmarkGroup(b, scheduleCancelCases("outside", TimerCounts))
}

func BenchmarkStats(b *testing.B) { benchmarkGroup(b, statsCases()) }

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
		before := take(r)
		b.ResetTimer()
		s, err := r.Run(b.N)
		b.StopTimer()
		if err != nil {
			b.Fatal(err)
		}
		report(b, c, s)
		take(r).report(b, before)
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
func report(b *testing.B, c Case, s Slice) {
	b.ReportMetric(s.NsPerOp(), "ns/op")
	if s.Latency == nil {
		return
	}
	b.ReportMetric(s.Quantile(50), "p50-ns")
	b.ReportMetric(s.Quantile(99), "p99-ns")
	if c.Tail {
		b.ReportMetric(s.Quantile(99.9), "p99.9-ns")
		b.ReportMetric(s.Quantile(100), "max-ns")
	}
	b.ReportMetric(float64(s.Void)/float64(s.Ops+s.Void), "void/op")
	if s.Short > 0 {
		b.Errorf("G7, G10: %d of %d waits were short, want none", s.Short, s.Ops)
	}
}

// counters are what a run's exact figures are differences of.
type counters struct {
	mallocs, bytes uint64
	loop           *core.Stats // nil: not one executor for all operations
}

func take(r Runner) counters {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	c := counters{mallocs: m.Mallocs, bytes: m.TotalAlloc}
	if x, ok := r.(onExecutor); ok {
		if s, ok := x.Executor.(statser); ok {
			stats := s.Stats()
			c.loop = &stats
		}
	}
	return c
}

// report writes the figures per operation, with fractions. The framework's own
// allocs/op and B/op are cut to whole numbers, and hide one in two calls.
func (c counters) report(b *testing.B, before counters) {
	per := func(n float64) float64 { return n / float64(b.N) }
	b.ReportMetric(per(float64(c.mallocs-before.mallocs)), "mallocs/op")
	b.ReportMetric(per(float64(c.bytes-before.bytes)), "heap-B/op")
	if c.loop != nil {
		b.ReportMetric(per(float64(c.loop.Wakes-before.loop.Wakes)), "wakes/op")
		b.ReportMetric(per(float64(c.loop.Parks-before.loop.Parks)), "parks/op")
	}
}

// subName is the name below the function's own.
func subName(c Case) string {
	_, sub, _ := strings.Cut(c.Name(), "/")
	return sub
}
