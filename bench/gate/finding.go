package gate

import (
	"fmt"
	"math"
)

// A Verdict is the result of comparing one figure.
type Verdict string

// The verdicts. Regression and Failed make the exit code 1.
const (
	Pass         Verdict = "pass"
	Identical    Verdict = "identical"    // both sides are the same binary
	Better       Verdict = "better"       // an improvement, by the same rule as a regression
	Regression   Verdict = "REGRESSION"   //
	Failed       Verdict = "FAILED"       // the benchmark does not run in head
	Inconclusive Verdict = "INCONCLUSIVE" // base differs from itself, or only large changes could be found
	Waived       Verdict = "waived"       // a regression that a waiver covers
	NotRun       Verdict = "not run"      // it could not be measured, or was not requested
	NotCompared  Verdict = "not compared" // only one side has it
)

// A Finding is one line of the report: one figure of one benchmark.
type Finding struct {
	Package   string  `json:"package"`
	Benchmark string  `json:"benchmark"`         // without "Benchmark"
	Figure    string  `json:"figure"`            // its unit
	Base      float64 `json:"base"`              // the median of a time, the greatest value of a count
	Head      float64 `json:"head"`              // the median of a time, the least value of a count
	Change    float64 `json:"change"`            // of the pairs of rounds, relative: 0.03 is 3 % more; 0 if base counted 0
	Low       float64 `json:"low"`               // 95 % interval of Change, by rounds and layouts; for times only
	High      float64 `json:"high"`              //
	P         float64 `json:"p"`                 // of the first stage; of a suspect that of the later ones, Holm-corrected; 1 for counts
	Visible   float64 `json:"visible"`           // the least change that would have been found in 19 of 20 runs; -1: none would
	Verdict   Verdict `json:"verdict"`           //
	Note      string  `json:"note,omitempty"`    //
	Culprit   string  `json:"culprit,omitempty"` // the commit and the functions, if -blame found them

	leaning int  // of a suspect: 1 worse, -1 better
	open    bool // a suspect that its rounds so far neither confirm nor clear: worth another stage
}

// key tells the figures of a run apart.
func (f Finding) key() string { return f.name() + " " + f.Figure }

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

// visible writes the least change that would have been found.
func visible(v float64) string {
	if v < 0 {
		return "nothing"
	}
	return percent(v)
}

// number writes three significant digits, or all digits before the point.
func number(v float64) string {
	if math.Abs(v) >= 1000 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
