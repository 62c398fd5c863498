package evidence

import (
	"strings"
	"testing"
)

func TestHealthy(t *testing.T) {
	h := &Healthy{About: About{Go: "go1", Revision: "abc", Command: "make x"}, Seed: 7, Rows: []HealthyRun{
		{Package: "./a", Run: "Repaired$", Tests: 2, Schedules: 100, Seconds: 3},
		{Package: "./b", Skip: "TestX", Race: true, Tests: 3, Undecided: 1, Schedules: 50, Seconds: 2, Findings: 1},
	}}
	if got, want := h.Total(), (HealthyRun{Tests: 5, Undecided: 1, Schedules: 150, Seconds: 5, Findings: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for _, want := range []string{"| `./a -run Repaired$` | 2 | 0 | 100 | 3 | 0 |", "| `./b -skip TestX -race` | 3 | 1 | 50 | 2 | 1 |", "| all | 5 | 1 | 150 | 5 | 1 |", "seed 7, the tool at abc, `make x`"} {
		if !strings.Contains(h.Table(), want) {
			t.Errorf("no %q in\n%s", want, h.Table())
		}
	}
}
