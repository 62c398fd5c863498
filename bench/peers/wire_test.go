package peers

import (
	"reflect"
	"testing"
)

func TestAnswersSurviveTheWire(t *testing.T) {
	for _, want := range []Answer{
		{Ops: 10, Elapsed: 1234567},
		{Samples: Samples{{-20, 1}, {1000, 3}, {123000, 2}}, Void: 4, Short: 1},
		{Ops: 1, Elapsed: 7, Lost: 12},
		{None: "a pool has no timers"},
	} {
		got, err := ParseAnswer(want.String())
		got.text = nil
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, %v; want %+v", want.String(), got, err, want)
		}
	}
}

func TestBadLinesAreErrors(t *testing.T) {
	for _, line := range []string{"", "yes", "ok ops", "ok ops=x", "ok elapsed=1.5", "ok samples=1", "ok samples=1:0", "error it broke"} {
		if a, err := ParseAnswer(line); err == nil {
			t.Errorf("answer %q: got %+v, want an error", line, a)
		}
	}
	for _, line := range []string{"", "execute producers"} {
		if r, err := ParseRequest(line); err == nil {
			t.Errorf("request %q: got %v, want an error", line, r)
		}
	}
	r, err := ParseRequest("execute n=-1")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := r.Int("n"); err == nil {
		t.Errorf("n=-1: got %d, want an error", n)
	}
}

func TestQuantiles(t *testing.T) {
	var values []int64
	for v := range int64(1000) {
		values = append(values, 1000-v) // 1 to 1000
	}
	s := collect(values)
	for percent, want := range map[float64]float64{0.1: 1, 50: 500, 99: 990, 99.9: 999, 100: 1000} {
		if got := s.Quantile(percent); got != want {
			t.Errorf("p%v: got %v, want %v", percent, got, want)
		}
	}
	if got, want := s.Total(), len(values); got != want {
		t.Errorf("got %d values, want %d", got, want)
	}
}

func TestRoundTo3(t *testing.T) {
	for v, want := range map[int64]int64{0: 0, 999: 999, 1234: 1230, 1235: 1240, -98765: -98800, 50: 50, 999500: 1000000} {
		if got := roundTo3(v); got != want {
			t.Errorf("%d: got %d, want %d", v, got, want)
		}
	}
}
