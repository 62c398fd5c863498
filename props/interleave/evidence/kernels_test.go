package evidence

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// small is a measurement of two kernels.
func small() *Kernels {
	return &Kernels{About: About{Schema: 1, Revision: "abc", Go: "go1", CPU: "cpu", CPUs: 2}, Limits: Limits{Seeds: 3, Schedules: 10, Exhaustive: 20, Bound: 2, Batches: 2},
		Rows: []Row{
			{Kernel: "TestA", Class: "locks", Strategies: []Cell{
				{Strategy: "walk", Schedules: []uint64{3, 0, 7}, Milliseconds: []float64{2, 9, 4}},
				{Strategy: "pos", Schedules: []uint64{0, 0, 2}},
				{Strategy: Exhaustive, Schedules: []uint64{0}, Complete: true},
			}, Tools: []Tool{{Tool: GoTest, Runs: []int{0, 0}}, {Tool: Goleak, Runs: []int{4, 0}, How: map[string]int{"leak": 1}, Twin: map[string]int{"hung": 2}}}},
			{Kernel: "TestB", Class: "wait", Race: true, Strategies: []Cell{
				{Strategy: "walk", Schedules: []uint64{1, 1, 1}}, {Strategy: "pos", NotRun: "no time"}, {Strategy: Exhaustive, Schedules: []uint64{0}},
			}, Tools: []Tool{{Tool: GoTest, Runs: []int{1, 2}, How: map[string]int{"failed": 2}}, {Tool: Goleak, NotRun: "no time"}}},
		}}
}

// A seed that did not find the bug counts as more than every number of schedules.
func TestMedian(t *testing.T) {
	for _, c := range []struct {
		schedules []uint64
		want      uint64
		ok        bool
	}{{nil, 0, false}, {[]uint64{5}, 5, true}, {[]uint64{0, 9, 2}, 9, true}, {[]uint64{0, 9, 0}, 0, false}, {[]uint64{4, 1, 3}, 3, true}} {
		got, ok := (&Cell{Schedules: c.schedules}).Median()
		if got != c.want || ok != c.ok {
			t.Errorf("median of %v: got %d, %v, want %d, %v", c.schedules, got, ok, c.want, c.ok)
		}
	}
}

func TestScores(t *testing.T) {
	k := small()
	want := []Score{
		{Name: "walk", Always: 1, Sometimes: 1, Median: 7, Most: 7},
		{Name: "pos", Sometimes: 1, NotRun: 1, Most: 2},
		{Name: Exhaustive, Never: 2, Complete: 1},
	}
	got := k.Scores()
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got %+v, want %+v", got[i], want[i])
		}
	}
	tools := k.ToolScores()
	if s := tools[0]; s.Name != GoTest || s.Always != 1 || s.Never != 1 || s.Twins != 0 {
		t.Errorf("%+v", s)
	}
	if s := tools[2]; s.Name != Goleak || s.Sometimes != 1 || s.NotRun != 1 || s.Twins != 1 {
		t.Errorf("%+v", s)
	}
	if s := tools[3]; s.Name != Synctest || s.NotRun != 2 {
		t.Errorf("%+v: a tool without cells is not run", s)
	}
}

// The page says which cells were not run, and which seeds did not find a bug.
func TestPage(t *testing.T) {
	page, err := small().Page()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| A | locks | 7 (2 of 3) | >10 (1 of 3) | complete, none | 0 | 1 leak (4); twin 2 hung |",
		"| B | wait | 1 | not run | none | 2 failed (2) | not run |",
		"| B (-race) |",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	name := filepath.Join(t.TempDir(), "page.md")
	if err := Render(name, page, true); err == nil {
		t.Error("a missing page is accepted")
	}
	if err := Render(name, page, false); err != nil {
		t.Fatal(err)
	}
	if err := Render(name, page, true); err != nil {
		t.Error(err)
	}
	if err := Render(name, append(page, '.'), true); err == nil {
		t.Error("another page is accepted")
	}
}

func TestFiles(t *testing.T) {
	name := filepath.Join(t.TempDir(), "kernels.json")
	if err := Write(name, small()); err != nil {
		t.Fatal(err)
	}
	k, err := ReadKernels(name)
	if err != nil || len(k.Rows) != 2 || k.Revision != "abc" {
		t.Errorf("%+v, %v", k, err)
	}
	for _, bad := range []string{`{"Schema":2}`, `nonsense`} {
		if err := os.WriteFile(name, []byte(bad), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadKernels(name); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
	if _, err := Describe("target", nil); err == nil {
		t.Error("a measurement without a revision is accepted")
	}
	Revision = "abc"
	defer func() { Revision = "" }()
	if a, err := Describe("target", []string{"-side", "2"}); err != nil || a.Command != "make target ARGS='-side 2'" || a.version() != schema || a.Revision != "abc" {
		t.Errorf("%+v, %v", a, err)
	}
}
