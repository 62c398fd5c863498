package release

import "math"

// A Verdict is what became of one figure.
type Verdict string

// The verdicts. Only Regression and Failed stop a release by themselves.
const (
	Pass         Verdict = "pass"
	Better       Verdict = "better"       // significantly, by the rule that would make it a regression the other way
	Regression   Verdict = "REGRESSION"   //
	Failed       Verdict = "FAILED"       // what was run did not succeed
	Inconclusive Verdict = "INCONCLUSIVE" // base differs from itself
	Waived       Verdict = "waived"       // a regression that a waiver covers
	NotRun       Verdict = "not run"      // a tool is missing, or it was not asked for
	NotCompared  Verdict = "not compared" // one side does not have it
)

// The tiers, in the order in which they run.
const (
	TierSelfTest   = "selftest"
	TierExact      = "exact"
	TierTime       = "time"
	TierLatency    = "latency"
	TierProperties = "properties"
	TierMutants    = "mutants"
)

// Tiers are those that can be chosen; the self-test always runs.
var Tiers = []string{TierExact, TierTime, TierLatency, TierProperties, TierMutants}

// A Finding is one line of the report: one figure of one benchmark, or one thing
// that was run.
type Finding struct {
	Tier      string  `json:"tier"`
	Benchmark string  `json:"benchmark"`
	Metric    string  `json:"metric"`
	Base      float64 `json:"base"`  // median, or the most of an exact figure
	Head      float64 `json:"head"`  // median, or the least of an exact figure
	Limit     float64 `json:"limit"` // the most that head may be
	P         float64 `json:"p"`     // Holm-corrected; of time and latency
	Noise     float64 `json:"noise"` // 90th percentile of base against itself, relative; of time and latency
	Verdict   Verdict `json:"verdict"`
	Note      string  `json:"note,omitempty"`
}

// Delta is how much more head is than base, relative; 0 if base is 0.
func (f Finding) Delta() float64 {
	if f.Base == 0 {
		return 0
	}
	return f.Head/f.Base - 1
}

// notRun is the finding for something that was left out.
func notRun(tier, benchmark, metric, why string) Finding {
	return Finding{Tier: tier, Benchmark: benchmark, Metric: metric, P: 1, Verdict: NotRun, Note: why}
}

// finite keeps what JSON cannot hold out of a report.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}
