package gate

import (
	"fmt"
	"math"
)

// A Verdict is what became of one figure.
type Verdict string

// The verdicts. Regression and Failed make the exit code 1.
const (
	Pass         Verdict = "pass"
	Identical    Verdict = "identical"    // both sides are the same binary
	Better       Verdict = "better"       // by the rule that would make it a regression the other way
	Regression   Verdict = "REGRESSION"   //
	Failed       Verdict = "FAILED"       // the benchmark does not run in head
	Inconclusive Verdict = "INCONCLUSIVE" // base differs from itself, or too little could be seen
	Waived       Verdict = "waived"       // a regression that a waiver covers
	NotRun       Verdict = "not run"      // it could not be measured, or was not asked for
	NotCompared  Verdict = "not compared" // only one side has it
)

// A Finding is one line of the report: one figure of one benchmark.
type Finding struct {
	Package   string  `json:"package"`
	Benchmark string  `json:"benchmark"`         // without "Benchmark"
	Figure    string  `json:"figure"`            // its unit
	Base      float64 `json:"base"`              // median, or the most of a count
	Head      float64 `json:"head"`              // median, or the least of a count
	Change    float64 `json:"change"`            // of the pairs of rounds, relative: 0.03 is 3 % more; 0 of a count of 0
	Low       float64 `json:"low"`               // 95 % interval of Change; of times
	High      float64 `json:"high"`              //
	P         float64 `json:"p"`                 // Holm-corrected; 1 of counts
	Visible   float64 `json:"visible"`           // the least change that would have been found; -1: none would
	Verdict   Verdict `json:"verdict"`           //
	Note      string  `json:"note,omitempty"`    //
	Culprit   string  `json:"culprit,omitempty"` // the commit and the functions, if -blame found them
}

func (f Finding) bad() bool { return f.Verdict == Regression || f.Verdict == Failed }

// judged reports whether base and head were really compared.
func (f Finding) judged() bool { return f.Verdict != NotRun && f.Verdict != NotCompared }

// unmeasured is the finding for a figure without a value.
func unmeasured(pkg, benchmark, figure string, v Verdict, why string) Finding {
	return Finding{Package: pkg, Benchmark: benchmark, Figure: figure, P: 1, Visible: -1, Verdict: v, Note: why}
}

// ratio turns the logarithm of a ratio into a relative change that JSON can hold.
func ratio(log float64) float64 {
	if math.IsInf(log, 0) || math.IsNaN(log) {
		return -1
	}
	return math.Expm1(log)
}

// percent writes a relative change.
func percent(v float64) string { return fmt.Sprintf("%+.1f %%", 100*v) }

// visible writes what could have been seen.
func visible(v float64) string {
	if v < 0 {
		return "nothing"
	}
	return percent(v)
}

// number writes three digits, or all before the point.
func number(v float64) string {
	if math.Abs(v) >= 1000 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
