package bench

import (
	"os"
	"runtime"
	"strconv"
	"testing"

	"example.com/gated/core"
)

func BenchmarkExecuteInLoop(b *testing.B) { b.Run("impl=core", run) }
func BenchmarkRoundTripBusy(b *testing.B) { b.Run("impl=core", run) }

// run counts what is real, and gives the time of a clock that no machine disturbs:
// the gate's own test must not depend on how busy that is.
func run(b *testing.B) {
	var before, after runtime.MemStats
	ex := &core.Executor{}
	nothing := func() {}
	runtime.ReadMemStats(&before)
	for range b.N {
		ex.Execute(nothing)
	}
	runtime.ReadMemStats(&after)
	per := func(n float64) float64 { return n / float64(b.N) }
	b.ReportMetric(core.Cost+float64(planted()), "ns/op")
	b.ReportMetric(per(float64(after.Mallocs-before.Mallocs)), "mallocs/op")
	b.ReportMetric(per(float64(ex.Wakes())), "wakes/op")
}

// planted is how much the planted spin takes: a nanosecond a turn.
func planted() int {
	if os.Getenv("EVENTIDE_GATE_PLANT") != "spin" {
		return 0
	}
	turns, _ := strconv.Atoi(os.Getenv("EVENTIDE_GATE_SPIN"))
	return turns
}

func TestPropNothing(t *testing.T) {}
