package gate

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestVerdictNamesWhatHeadLacks: a regression must not hide behind a benchmark that head renames or skips.
func TestVerdictNamesWhatHeadLacks(t *testing.T) {
	passed := Finding{Package: "m", Benchmark: "Sum", Figure: "allocs/op", Verdict: Pass}
	r := Report{Findings: []Finding{
		passed,
		unmeasured("m", "Old", "all", NotCompared, lacking),
		unmeasured("m/p", "all", "all", NotCompared, lacking),
		unmeasured("m", "New", "all", NotCompared, "base does not have it, or skips it"),
	}}
	require.Contains(t, r.Verdict(), "; NOT COMPARED, because head does not have it, or skips it: Old, all of m/p")
	r = Report{Findings: []Finding{passed}}
	require.NotContains(t, r.Verdict(), "NOT COMPARED")
}
