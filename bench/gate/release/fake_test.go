package release

import (
	"context"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"eventide/bench/gate/measure"
)

// fake is a side whose figures are known: a median for each, with a spread like that
// of a shared machine: mostly a few percent, now and then far more, never less.
type fake struct {
	random  *rand.Rand
	spread  float64
	figures map[string]float64
	runs    int
	drift   func(run int) float64 // factor on the times; nil: 1
	rise    int                   // so many runs have one more of everything
	only    string                // the one benchmark that the side has; empty: all
}

func newFake(seed uint64, figures map[string]float64) *fake {
	return &fake{random: rand.New(rand.NewPCG(seed, seed)), spread: 0.02, figures: figures}
}

func (f *fake) run(_ context.Context, r request) (result, error) {
	if f.only != "" && f.only != r.benchmark {
		return result{}, measure.ErrNoBenchmark
	}
	out := result{ops: 1000, metrics: map[string]float64{metricGoroutines: 0}}
	if ops, ok := strings.CutSuffix(r.benchtime, "x"); ok && r.exact {
		out.ops, _ = strconv.Atoi(ops)
	}
	for metric, v := range f.figures {
		if strings.HasSuffix(metric, "ns/op") || strings.HasSuffix(metric, "-ns") {
			v *= math.Exp(f.spread * math.Abs(f.random.NormFloat64()))
			if f.random.IntN(10) == 0 {
				v *= 1.5
			}
			if f.drift != nil {
				v *= f.drift(f.runs)
			}
		}
		if f.runs < f.rise {
			v++
		}
		out.metrics[metric] = v
	}
	f.runs++
	return out, nil
}

// testGate has no tools, and as many benchmarks as asked for.
func testGate(benchmarks int) *gate {
	g := &gate{n: DefaultRounds}
	for i := range benchmarks {
		g.benchmarks = append(g.benchmarks, Benchmark{Name: "B/n=" + strconv.Itoa(i), Benchtime: "1000x", ExactOps: 100})
	}
	return g
}

func verdicts(found []Finding) map[Verdict]int {
	n := map[Verdict]int{}
	for _, f := range found {
		n[f.Verdict]++
	}
	return n
}

// starting allocates some for each operation, and some to start.
type starting struct{ each, start float64 }

func (s starting) run(_ context.Context, r request) (result, error) {
	ops, err := strconv.Atoi(strings.TrimSuffix(r.benchtime, "x"))
	perOp := s.each + s.start/float64(ops)
	return result{ops: ops, metrics: map[string]float64{metricAllocs: perOp}}, err
}
