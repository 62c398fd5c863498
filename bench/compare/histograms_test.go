package compare

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"eventide/bench"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

func histogramOf(t *testing.T, values ...int64) *hdr.Histogram {
	t.Helper()
	h := hdr.New(1, int64(time.Minute), 3)
	for _, v := range values {
		if err := h.RecordValue(v); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// TestHistogramsAreKept: what was written is read, all rounds together; a case
// without a distribution is left out.
func TestHistogramsAreKept(t *testing.T) {
	trips := series{Case: bench.Case{Workload: "RoundTrip", Impl: "core", Unit: "trip"}, slices: []bench.Slice{
		{Latency: histogramOf(t, 100, 200)}, {Latency: histogramOf(t, 300)},
	}}
	mean := series{Case: bench.Case{Workload: "Execute", Impl: "core", Unit: "task"}, slices: []bench.Slice{{Ops: 1}}}
	var out bytes.Buffer
	if err := (Results{mean, trips}).WriteHistograms(&out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	got, err := ReadHistograms(&out)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].Name != "RoundTrip/impl=core" || got[0].Unit != "ns/trip" {
		t.Fatalf("got %+v, want RoundTrip/impl=core in ns/trip", got)
	}
	if h := got[0]; h.TotalCount() != 3 || h.Max() != 300 || h.ValueAtQuantile(50) != 200 {
		t.Errorf("got %d samples, p50 %d, max %d; want 3, 200, 300", h.TotalCount(), h.ValueAtQuantile(50), h.Max())
	}
	if trips.slices[0].Latency.TotalCount() != 2 {
		t.Error("writing has changed a slice's own histogram")
	}
	for name, bad := range map[string]string{
		"no header":          strings.TrimPrefix(text, histogramHeader),
		"other count":        strings.Replace(text, "\t3\t", "\t4\t", 1),
		"a field is missing": strings.Replace(text, "\t3\t", "\t", 1),
		"cut off":            text[:len(text)-20],
	} {
		if _, err := ReadHistograms(strings.NewReader(bad)); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}
