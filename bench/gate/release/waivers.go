package release

import (
	"fmt"
	"slices"
	"strings"

	"eventide/bench/gate/waiver"
)

// waiverMetrics are the figures that a waiver may name.
var waiverMetrics = append(slices.Clone(exactMetrics), metricTime, metricP50, metricP99)

// waive marks the regressions that have a waiver as waived, and returns the unused waivers.
func waive(found []Finding, waivers []waiver.Waiver) (unused []waiver.Waiver) {
	for _, w := range waivers {
		used := false
		for j := range found {
			f := &found[j]
			if f.Verdict == Regression && f.Benchmark == w.Benchmark && f.Metric == w.Metric {
				f.Verdict, used = Waived, true
				f.Note = strings.TrimSpace(fmt.Sprintf("until %s: %s. %s", w.Until, w.Reason, f.Note))
			}
		}
		if !used {
			unused = append(unused, w)
		}
	}
	return unused
}
