package release

import "math"

// A Verdict is the result of comparing one figure.
type Verdict string

// The verdicts. Only Regression and Failed stop a release by themselves.
const (
	Pass         Verdict = "pass"
	Better       Verdict = "better"       // an improvement, by the same rule as a regression
	Regression   Verdict = "REGRESSION"   //
	Failed       Verdict = "FAILED"       // the benchmark or the command failed
	Inconclusive Verdict = "INCONCLUSIVE" // base differs from itself
	Waived       Verdict = "waived"       // a regression that a waiver covers
	NotRun       Verdict = "not run"      // a tool is missing, or it was not requested
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

// Tiers are the tiers that -tiers can select; the self-test always runs.
var Tiers = []string{TierExact, TierTime, TierLatency, TierProperties, TierMutants}

// A Finding is one line of the report: one figure of one benchmark, or one command.
type Finding struct {
	Tier      string  `json:"tier"`
	Benchmark string  `json:"benchmark"`
	Metric    string  `json:"metric"`
	Base      float64 `json:"base"`  // the median; of an exact figure the greatest value
	Head      float64 `json:"head"`  // the median; of an exact figure the least value
	Limit     float64 `json:"limit"` // the greatest value that passes for head
	P         float64 `json:"p"`     // Holm-corrected; for time and latency
	Noise     float64 `json:"noise"` // 90th percentile of base against itself, relative; for time and latency
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

// notRun returns the finding for a figure or command that was not run.
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
