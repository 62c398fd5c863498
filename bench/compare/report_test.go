package compare

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"eventide/bench"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"golang.org/x/perf/benchfmt"
)

func TestTargets(t *testing.T) {
	row := func(workload, impl, unit string, ratio float64) Row {
		return Row{Workload: workload, Impl: impl, Unit: unit, Ratio: ratio}
	}
	for _, c := range []struct {
		row  Row
		want string // verdict, or "" for no target
	}{
		{row("Execute/producers=1", "core", "ns/task", 0.35), "met"},
		{row("Execute/producers=1", "core", "ns/task", 0.351), "MISSED"},
		{row("Execute/producers=1", "core-bounded", "ns/task", 0.7), "MISSED"},
		{row("Execute/producers=1", "mutex", "ns/task", 9), ""},
		{row("Execute/producers=64", "core", "ns/task", 1), "met"},
		{row("RoundTrip", "core", "p50 ns/trip", 2.1), "MISSED"},
		{row("RoundTrip", "core", "p99 ns/trip", 9), ""},
		{row("ShutdownIdle", "core", "p50 ns/stop", 20), "met"},
		{row("ShutdownIdle", "channel", "p50 ns/stop", 21), ""},
		{row("RoundTrip", "loop", "p50 ns/trip", 2.9), "met"},
		{row("RoundTrip", "loop", "p50 ns/trip", 3.1), "MISSED"},
		{row("RoundTrip", "loop-blocking", "p50 ns/trip", 9), ""},
		{row("TimerLateness", "loop", "p50 ns/timer", 0.21), "MISSED"},
		{row("TimerLateness", "loop", "p99 ns/timer", 0.5), "met"},
		{row("TimerLateness", "core", "p50 ns/timer", 1), ""},
		{row("SubmitLatency/load=50/producers=4", "core", "p99.9 ns/task", 1), "met"},
		{row("SubmitLatency/load=90/producers=64", "loop", "p50 ns/task", 0.51), "MISSED"},
	} {
		report := Report{Targets: RatioTargets([]Row{c.row})}
		var table strings.Builder
		if err := report.WriteTable(&table, nil); err != nil {
			t.Fatal(err)
		}
		got := ""
		switch text := table.String(); {
		case strings.Contains(text, "MISSED"):
			got = "MISSED"
		case strings.Contains(text, " met"):
			got = "met"
		}
		if got != c.want {
			t.Errorf("%+v: got %q, want %q\n%s", c.row, got, c.want, table.String())
		}
		if missed := report.Missed() == 1; missed != (c.want == "MISSED") {
			t.Errorf("%+v: Missed() is %d", c.row, report.Missed())
		}
	}
}

func TestShortTargets(t *testing.T) {
	quiet := series{Case: bench.Case{Workload: "QuietPeriod/quiet=3ms", Impl: "core"}, slices: []bench.Slice{{Ops: 9}, {Ops: 9}}}
	other := series{Case: bench.Case{Workload: "QuietPeriod/quiet=3ms", Impl: "timer"}, slices: []bench.Slice{{Ops: 9, Short: 9}}}
	for short, met := range map[int]bool{0: true, 1: false} {
		quiet.slices[1].Short = short
		targets := Results{quiet, other}.ShortTargets()
		if len(targets) != 1 || targets[0].Met != met {
			t.Errorf("%d short: got %+v, want one target with met %v", short, targets, met)
		}
	}
}

// TestEarlyTimerTargets: one early timer of a loop is seen, a rival's is not ours.
func TestEarlyTimerTargets(t *testing.T) {
	lateness := series{Case: bench.Case{Workload: "TimerLateness", Impl: "loop", Against: "afterfunc"}, slices: []bench.Slice{{Short: 1}}}
	rival := series{Case: bench.Case{Workload: "TimerLateness", Impl: "afterfunc", Against: "afterfunc"}, slices: []bench.Slice{{Short: 9}}}
	targets := Results{lateness, rival}.ShortTargets()
	if len(targets) != 1 || targets[0].Met || targets[0].Ratio != 1 {
		t.Errorf("got %+v, want one target missed by 1", targets)
	}
}

// TestTailRows: a case with a tail has four rows, and the maximum is one.
func TestTailRows(t *testing.T) {
	s := series{Case: bench.Case{Workload: "SubmitLatency/load=10/producers=1", Impl: "core", Unit: "task", Tail: true}}
	for range 10 {
		s.slices = append(s.slices, bench.Slice{Latency: histogramOf(t, 10, 20, 900)})
	}
	rows := Results{s}.Rows()
	if len(rows) != 4 || rows[3].Unit != "max ns/task" || rows[3].Median != 900 {
		t.Errorf("got %+v, want p50, p99, p99.9 and the maximum 900", rows)
	}
}

func TestAllocTargets(t *testing.T) {
	targets, err := AllocTargets()
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range targets {
		if !target.Met {
			t.Errorf("%s: got %v, want at most %v", target.Name, target.Ratio, target.Limit)
		}
	}
}

// TestJSON: the keys are those that others read.
func TestJSON(t *testing.T) {
	rows := Results{constant("core", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10), constant("channel", 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)}.Rows()
	report := Report{
		Schema: 1, Commit: "c", Go: "g", CPU: "p", Procs: 2, Command: "compare",
		Rows: rows[:1], Targets: []Target{newTarget("t", 0.5, 0.6)},
	}
	var out bytes.Buffer
	if err := report.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, out.Bytes()); err != nil {
		t.Fatal(err)
	}
	want := `{"schema":1,"commit":"c","go":"g","cpu":"p","procs":2,"command":"compare",` +
		`"rows":[{"workload":"W","impl":"core","unit":"ns/op","median":5.5,"rounds":10,"median_low":2,"median_high":9,"ratio":5.5,"low":2,"high":9}],` +
		`"targets":[{"name":"t","ratio":0.5,"limit":0.6,"met":true}]}`
	if got := strings.TrimSpace(compact.String()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestBenchFormat writes two rounds and reads them back.
func TestBenchFormat(t *testing.T) {
	trip := series{Case: bench.Case{Workload: "RoundTrip/x=1", Impl: "core", Unit: "trip"}}
	for _, ns := range []int64{100, 300} {
		h := hdr.New(1, int64(time.Minute), 3)
		if err := h.RecordValue(ns); err != nil {
			t.Fatal(err)
		}
		trip.slices = append(trip.slices, bench.Slice{Ops: 1, Elapsed: time.Duration(ns), Latency: h})
	}
	var out bytes.Buffer
	if err := (Results{trip}).WriteBenchFormat(&out, Report{Commit: "abc", Go: "go1", CPU: "x", Procs: 2, Command: "compare"}); err != nil {
		t.Fatal(err)
	}
	reader := benchfmt.NewReader(&out, "bench.txt")
	var seconds []float64
	for reader.Scan() {
		r, ok := reader.Result().(*benchfmt.Result)
		if !ok {
			t.Fatalf("got %v, want a result", reader.Result())
		}
		if got, want := r.Name.String(), "RoundTrip/impl=core/x=1-2"; got != want {
			t.Errorf("got name %s, want %s", got, want)
		}
		if got, want := r.GetConfig("commit"), "abc"; got != want {
			t.Errorf("got commit %s, want %s", got, want)
		}
		v, ok := r.Value("p99-sec")
		if !ok {
			t.Errorf("got values %v, want a p99", r.Values)
		}
		seconds = append(seconds, v)
	}
	if err := reader.Err(); err != nil {
		t.Fatal(err)
	}
	if len(seconds) != 2 || math.Abs(seconds[0]-100e-9) > 1e-12 || math.Abs(seconds[1]-300e-9) > 1e-12 {
		t.Errorf("got p99 %v s, want 100 ns and 300 ns", seconds)
	}
}
