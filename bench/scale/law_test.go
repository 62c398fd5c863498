package scale

import (
	"math"
	"testing"
)

func TestFitFindsTheLaw(t *testing.T) {
	for _, want := range []Law{
		{Lambda: 1e6, Sigma: 0.05, Kappa: 0.002},
		{Lambda: 40, Sigma: 0.3, Kappa: 0},
		{Lambda: 40, Sigma: 0, Kappa: 0.01},
		{Lambda: 7, Sigma: 0, Kappa: 0},
	} {
		var n, x []float64
		for _, i := range []float64{1, 2, 4, 8, 16, 32} {
			n, x = append(n, i), append(x, want.At(i))
		}
		got, ok := Fit(n, x)
		near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9*max(1, math.Abs(b)) }
		if !ok || !near(got.Lambda, want.Lambda) || !near(got.Sigma, want.Sigma) || !near(got.Kappa, want.Kappa) {
			t.Errorf("got %+v, %v; want %+v", got, ok, want)
		}
	}
}

// A throughput that grows faster than n has neither cost.
func TestFitOfACurveThatNoLawAllows(t *testing.T) {
	got, ok := Fit([]float64{1, 2, 4}, []float64{10, 30, 90})
	if want := (Law{Lambda: 10}); !ok || got != want {
		t.Errorf("got %+v, %v; want %+v", got, ok, want)
	}
}

func TestFitRefuses(t *testing.T) {
	for name, c := range map[string][2][]float64{
		"two points":          {{1, 2}, {1, 2}},
		"no point of one":     {{2, 4, 8}, {1, 2, 3}},
		"a throughput of 0":   {{1, 2, 4}, {1, 0, 3}},
		"lengths that differ": {{1, 2, 4}, {1, 2}},
	} {
		if law, ok := Fit(c[0], c[1]); ok {
			t.Errorf("%s: got %+v, want no law", name, law)
		}
	}
}

// TestKneeIsTheMaximum: no n nearby has more.
func TestKneeIsTheMaximum(t *testing.T) {
	law := Law{Lambda: 3, Sigma: 0.1, Kappa: 0.001}
	n, ok := law.Knee()
	if !ok || n < 29.9 || n > 30.1 { // the root of 0.9/0.001
		t.Fatalf("got %v, %v; want 30", n, ok)
	}
	for _, other := range []float64{n - 1, n + 1, 1, 100} {
		if law.At(other) > law.At(n) {
			t.Errorf("throughput %v at %v, want at most %v as at the knee", law.At(other), other, law.At(n))
		}
	}
	if n, ok := (Law{Lambda: 1, Sigma: 0.5}).Knee(); ok {
		t.Errorf("without κ: got a knee at %v, want none", n)
	}
}
