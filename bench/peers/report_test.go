package peers

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// recorded is a run of twelve rounds in which core takes so many nanoseconds per task,
// Netty 100, and the machine doubles its pace in the middle.
func recorded(core int64) Recording {
	rec := Recording{Header: RawHeader{
		Schema: 1, Rounds: 12,
		Versions: map[string]string{"core": "1", "netty-nio": "4.1", "channel": "go"},
		NotRun:   map[string]string{"libuv": "uv is missing"},
	}}
	for round := range 12 {
		pace := int64(1 + round/6)
		for impl, ns := range map[string]int64{"core": core, "netty-nio": 100} {
			rec.Slices = append(rec.Slices, Slice{Round: round, Workload: "execute/producers=1", Impl: impl, Answer: Answer{Ops: 1000, Elapsed: 1000 * ns * pace}})
		}
		rec.Slices = append(rec.Slices, Slice{Round: round, Workload: "execute/producers=1", Impl: "channel", Answer: Answer{None: "for the test"}})
	}
	return rec
}

func target(t *testing.T, r Report, name string) Target {
	t.Helper()
	for _, g := range r.Targets {
		if g.Name == name {
			return g
		}
	}
	t.Fatalf("no target %q in %+v", name, r.Targets)
	return Target{}
}

func TestTargetsAreJudgedByRatiosOfRounds(t *testing.T) {
	for core, met := range map[int64]bool{60: true, 61: false} {
		g := target(t, recorded(core).Report(), "execute/producers=1 core / netty-nio")
		if want := float64(core) / 100; g.Ratio != want || g.Met != met {
			t.Errorf("core at %d ns: got ratio %v, met %v; want %v, %v", core, g.Ratio, g.Met, want, met)
		}
	}
}

func TestWhatWasNotMeasuredIsNeverMet(t *testing.T) {
	report := recorded(1).Report()
	g := target(t, report, "execute/producers=1 core / channel")
	if g.Met || !strings.Contains(g.Reason, NotOffered) {
		t.Errorf("got %+v, want a target that is not met, and why", g)
	}
	for _, row := range report.Rows {
		switch row.Impl {
		case "libuv":
			if row.Status != NotRun || row.Reason != "uv is missing" || row.Rounds != 0 {
				t.Errorf("got %+v, want not run with its reason", row)
			}
		case "channel":
			if row.Status != NotOffered || row.Rounds != 0 {
				t.Errorf("got %+v, want not offered", row)
			}
		}
	}
	var table bytes.Buffer
	if err := report.WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"not run: libuv: uv is missing", "not offered: channel: for the test", "NOT JUDGED"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("got\n%s\nwant it to contain %q", &table, want)
		}
	}
}

// TestATrialJudgesNothing: ten rounds are the least that a target is judged by.
func TestATrialJudgesNothing(t *testing.T) {
	rec := recorded(1)
	rec.Header.Rounds = MinRounds - 1
	if g := target(t, rec.Report(), "execute/producers=1 core / netty-nio"); g.Met || !strings.Contains(g.Reason, "trial") {
		t.Errorf("got %+v, want a target that is not judged", g)
	}
}

// TestWhoWasNotAskedHasItsColumn: the figures of the others stay in theirs.
func TestWhoWasNotAskedHasItsColumn(t *testing.T) {
	rec := recorded(50)
	rec.Header.Versions["core-loop-blocking"] = "1"
	for _, impl := range []string{"core", "core-loop-blocking"} {
		rec.Slices = append(rec.Slices, Slice{Workload: "readiness/burn", Impl: impl, Answer: Answer{Samples: Samples{{7, 1}}}})
	}
	var table bytes.Buffer
	if err := rec.Report().WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string][]string{
		"execute/producers=1": {"execute/producers=1", "ns/task", "75.0", "not asked", "150", "not offered", "not run"},
		"readiness/burn/p50":  {"readiness/burn/p50", "ns", "7.00", "7.00", "not run", "not run", "not run"},
	} {
		at := strings.Index(table.String(), "\n"+line) + 1
		got, _, _ := strings.Cut(table.String()[at:], "\n")
		if fields := regexp.MustCompile(`\s{2,}`).Split(strings.TrimSpace(got), -1); !reflect.DeepEqual(fields, want) {
			t.Errorf("got %q, want %q", fields, want)
		}
	}
}

func TestAFailedSliceFailsTheRow(t *testing.T) {
	rec := recorded(1)
	rec.Slices[0].Error = "it broke"
	failed := rec.Slices[0].Impl
	for _, row := range rec.Report().Rows {
		if row.Impl == failed && row.Status != Failed {
			t.Errorf("got %+v, want failed", row)
		}
	}
}

func TestTheRawFileGivesTheSameReport(t *testing.T) {
	rec := recorded(50)
	rec.Slices = append(rec.Slices, Slice{Workload: "shutdown/idle", Impl: "core", Answer: Answer{Samples: Samples{{5, 2}, {7, 1}}, Void: 2}})
	var raw bytes.Buffer
	w := newRawWriter(&raw)
	w.header(rec.Header)
	for _, s := range rec.Slices {
		w.slice(s)
	}
	again, err := ReadRaw(&raw)
	if err != nil || w.err != nil {
		t.Fatal(err, w.err)
	}
	if got, want := again.Report(), rec.Report(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestSchema: the fields that RESULTS.md and others read.
func TestSchema(t *testing.T) {
	var text bytes.Buffer
	if err := recorded(50).Report().WriteJSON(&text); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Schema int
		Rows   []struct {
			Workload, Impl, Unit string
			Median               *float64
			Rounds               *int
		}
		Targets []struct {
			Name         string
			Ratio, Limit *float64
			Met          *bool
		}
	}
	if err := json.Unmarshal(text.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Schema != 1 || len(got.Rows) == 0 || len(got.Targets) == 0 {
		t.Fatalf("got %s", &text)
	}
	for _, r := range got.Rows {
		if r.Workload == "" || r.Impl == "" || r.Unit == "" || r.Median == nil || r.Rounds == nil {
			t.Errorf("got an incomplete row: %+v", r)
		}
	}
	for _, g := range got.Targets {
		if g.Name == "" || g.Ratio == nil || g.Limit == nil || g.Met == nil {
			t.Errorf("got an incomplete target: %+v", g)
		}
	}
}

// TestEveryTargetHasAWorkload: a limit on a workload that does not exist would never
// be judged.
func TestEveryTargetHasAWorkload(t *testing.T) {
	names, impls := map[string]bool{}, map[string]bool{"": true}
	for _, w := range Workloads() {
		for _, f := range w.Figures {
			names[w.Name+f.Suffix] = true
		}
	}
	for _, im := range Impls {
		impls[im.Name] = true
	}
	for _, l := range limits() {
		if !names[l.workload] {
			t.Errorf("no workload yields %q", l.workload)
		}
		for _, impl := range append(l.ours, l.against) {
			if !impls[impl] {
				t.Errorf("%s: no implementation is called %q", l.workload, impl)
			}
		}
	}
}
