package gate

import (
	"fmt"
	"slices"
	"strings"

	"eventide/bench/gate/waiver"
)

// waive marks the regressions that have a waiver as waived, and returns the unused waivers. A
// waiver names a benchmark with or without its package.
func waive(found []Finding, waivers []waiver.Waiver) (unused []string) {
	for _, w := range waivers {
		used := false
		for i := range found {
			f := &found[i]
			if f.Verdict == Regression && f.Figure == w.Metric && slices.Contains([]string{f.Benchmark, f.name()}, w.Benchmark) {
				f.Verdict, used = Waived, true
				f.Note = strings.TrimSpace(fmt.Sprintf("until %s: %s. %s", w.Until, w.Reason, f.Note))
			}
		}
		if !used {
			unused = append(unused, w.String())
		}
	}
	return unused
}
