package main

import (
	"fmt"
	"io"
	"runtime"
	"strconv"
	"time"

	"eventide/internal/contract"
	"eventide/model"
	"eventide/props"
	"eventide/props/internal/runner"
	"eventide/props/lane"
	"eventide/props/lanes/sockets/shadow"
)

// The verdicts. Only pass is a pass.
const (
	pass   = "pass"
	fail   = "fail"
	notRun = "not run"
)

// schema is the version of verify.json.
const schema = 1

// report is verify.json. Its schema is versioned; fields are added, not changed.
type report struct {
	Schema     int            `json:"schema"`
	Commit     string         `json:"commit"`
	Go         string         `json:"go"`
	Seconds    float64        `json:"seconds"`
	Began      time.Time      `json:"began"`
	Seed       uint64         `json:"seed"`
	Model      modelReport    `json:"model"`
	Channels   modelReport    `json:"model_channels"`
	Traces     traceResult    `json:"traces"`
	Undecided  int            `json:"linearizability_undecided"`
	Virtual    virtualReport  `json:"virtual"`
	Real       realReport     `json:"real"`
	Interleave scheduleReport `json:"interleave"`
	Sockets    shadowReport   `json:"sockets"`
	Blocking   shadowReport   `json:"blocking"`
	Exits      shadowReport   `json:"exits"`
	Guarantees []guaranteeRow `json:"guarantees"`
}

// virtualReport is what the virtual lane did.
type virtualReport struct {
	Programs int     `json:"programs"`
	Rate     float64 `json:"programs_per_processor_second"` // generated, run and judged
}

func (r virtualReport) print(w io.Writer) {
	if r.Rate > 0 {
		fmt.Fprintf(w, "virtual  %d programs, %.0f per second of processor time\n", r.Programs, r.Rate)
	}
}

type modelReport struct {
	States    int    `json:"states"`
	Edges     int    `json:"edges"`
	Depth     int    `json:"depth"`
	Complete  bool   `json:"complete"`
	Violation string `json:"violation,omitempty"`
}

type guaranteeRow struct {
	ID        string       `json:"id"`
	Sentence  string       `json:"sentence"`
	Verdict   string       `json:"verdict"`
	Reason    string       `json:"reason,omitempty"` // of a verdict that is not pass
	Exercised int          `json:"exercised"`
	Minimum   int          `json:"minimum"`
	Mutant    mutantRow    `json:"mutant"`
	Lanes     []laneReport `json:"lanes"`
}

type mutantRow struct {
	Name   string `json:"name"`
	Killed bool   `json:"killed"`
	By     string `json:"by,omitempty"`
	Runs   int    `json:"runs,omitempty"`
}

type laneReport struct {
	Lane      string `json:"lane"`
	Verdict   string `json:"verdict"`
	Runs      int    `json:"runs"`
	Exercised int    `json:"exercised"`
	Seed      uint64 `json:"seed"`

	// Of the interleave lane: the small scenarios that exercise the guarantee and of
	// which every schedule with at most one preemption was seen.
	Exhausted int `json:"exhausted,omitempty"`
}

func (v *verification) report() report {
	r := report{
		Schema: schema, Commit: runner.Commit(v.root), Go: runtime.Version(), Seconds: time.Since(v.began).Seconds(), Began: v.began, Seed: v.seed,
		Model: modelOf(v.model), Channels: modelOf(v.regs),
		Traces: v.traces, Undecided: v.lane.Undecided + v.real.Undecided + v.interleave.Undecided,
		Virtual: virtualReport{v.lane.Runs, v.lane.Rate()}, Real: realOf(v.real), Interleave: schedulesOf(v.interleave), Sockets: shadowOf(v.shadows["sockets"]),
		Blocking: shadowOf(v.shadows["blocking"]), Exits: shadowOf(v.shadows["exits"]),
	}
	for _, g := range props.Guarantees {
		r.Guarantees = append(r.Guarantees, v.row(g))
	}
	return r
}

func modelOf(r model.Result) modelReport {
	m := modelReport{States: r.States, Edges: r.Edges, Depth: r.Depth, Complete: r.Complete}
	if r.Violation != nil {
		m.Violation = fmt.Sprint(r.Violation)
	}
	return m
}

// row is the verdict on one guarantee: passed only if nothing violated it, its
// premise occurred often enough, and its planted bug was seen.
func (v *verification) row(g props.Guarantee) guaranteeRow {
	planted := v.mutants[g.Mutant]
	row := guaranteeRow{
		ID: g.ID, Sentence: g.Sentence, Verdict: notRun, Exercised: v.lane.Exercised[g.ID], Minimum: g.Needed(),
		Mutant: mutantRow{Name: g.Mutant, Killed: planted.Killed, By: planted.By, Runs: planted.Runs},
		Lanes: []laneReport{
			{Lane: "virtual", Verdict: notRun}, {Lane: "interleave", Verdict: notRun}, {Lane: "real", Verdict: notRun},
		},
	}
	if !g.Checked() {
		row.Reason, row.Minimum = "no lane of this build checks it", 0
		return row
	}
	virtual := &row.Lanes[0]
	virtual.Runs, virtual.Seed, virtual.Exercised = v.lane.Runs, v.lane.Seed, row.Exercised
	row.Lanes[1], row.Lanes[2] = v.interleaveLane(g), laneOf("real", v.real, g, realMinimum)
	switch text := v.lane.Failed[g.ID]; {
	case text != "":
		virtual.Verdict, row.Verdict, row.Reason = fail, fail, text
	case row.Exercised < g.Needed():
		row.Reason = fmt.Sprintf("exercised by %d runs, want %d", row.Exercised, g.Needed())
	case !planted.Killed:
		virtual.Verdict = pass
		row.Reason = fmt.Sprintf("its planted bug %s was not seen: the check has not been shown to work", g.Mutant)
	default:
		virtual.Verdict, row.Verdict = pass, pass
	}
	if text := v.real.Failed[g.ID]; text != "" {
		row.Verdict, row.Reason = fail, "in real time: "+text
	}
	if text := v.interleave.Failed[g.ID]; text != "" {
		row.Verdict, row.Reason = fail, "in the interleave lane: "+text
	}
	return row
}

// realMinimum is how many runs in real time must have exercised a guarantee. They
// are fewer, as they take as long as they take.
const realMinimum = 20

// laneOf is what a lane beside the virtual one says of a guarantee. Those that it did not
// exercise often enough it has not run: the virtual lane is the one that must.
func laneOf(name string, r lane.Result, g props.Guarantee, minimum int) laneReport {
	l := laneReport{Lane: name, Verdict: notRun, Runs: r.Runs, Seed: r.Seed, Exercised: r.Exercised[g.ID]}
	switch {
	case r.Failed[g.ID] != "":
		l.Verdict = fail
	case l.Exercised >= minimum:
		l.Verdict = pass
	}
	return l
}

func (r report) write(path string) error { return runner.WriteJSON(path, r) }

// readReport reads what write wrote. Sentences are those of the contract now.
func readReport(path string) (report, error) {
	r, err := runner.ReadJSON[report](path)
	if err != nil {
		return r, err
	}
	if r.Schema != schema {
		return r, fmt.Errorf("%s: schema is %d, want %d", path, r.Schema, schema)
	}
	for i := range r.Guarantees {
		g := &r.Guarantees[i]
		if g.Sentence = contract.Sentence(g.ID); g.Sentence == "" || len(g.Lanes) != 3 {
			return r, fmt.Errorf("%s: %s has %d lanes and the sentence %q, want 3 and one of the contract", path, g.ID, len(g.Lanes), g.Sentence)
		}
	}
	return r, nil
}

// table prints the verdicts for a person: below each lane in how many of its runs the
// guarantee was exercised, or "-" if the lane gives no verdict. What counts against the run
// comes last, whole.
func (r report) table(w io.Writer) {
	fmt.Fprintln(w)
	r.Model.print(w, "model")
	r.Channels.print(w, "channels")
	fmt.Fprintf(w, "traces   %d of the model and %d histories judged, %d with a wrong verdict\n", r.Traces.Model, r.Traces.History, len(r.Traces.Wrong))
	r.Virtual.print(w)
	r.Real.print(w)
	r.Interleave.print(w)
	for i, s := range r.shadows() {
		s.print(w, shadow.Lanes[i].Name)
	}
	fmt.Fprintf(w, "\n%-4s %-8s %8s %10s %9s %7s  %-7s %s\n", "", "verdict", "virtual", "interleave", "exhausted", "real", "bug", "guarantee")
	for _, g := range r.Guarantees {
		seen := "-"
		if g.Mutant.Name != "" {
			seen = map[bool]string{true: "killed", false: "ALIVE"}[g.Mutant.Killed]
		}
		fmt.Fprintf(w, "%-4s %-8s %8s %10s %9s %7s  %-7s %s\n", g.ID, g.Verdict, g.Lanes[0], g.Lanes[1], g.Lanes[1].exhausted(), g.Lanes[2], seen, g.Sentence)
		if g.Verdict != pass {
			fmt.Fprintf(w, "     %s\n", firstLine(g.Reason))
		}
	}
	r.summary(w)
}

// String is the lane's cell of the table.
func (l laneReport) String() string {
	switch l.Verdict {
	case pass:
		return strconv.Itoa(l.Exercised)
	case fail:
		return "FAIL"
	}
	return "-"
}

func (l laneReport) exhausted() string {
	if l.Exhausted == 0 {
		return "-"
	}
	return strconv.Itoa(l.Exhausted)
}

func (m modelReport) print(w io.Writer, name string) {
	complete := "complete"
	if !m.Complete {
		complete = "NOT COMPLETE"
	}
	fmt.Fprintf(w, "%-8s %d states, %d edges, depth %d, %s\n", name, m.States, m.Edges, m.Depth, complete)
}

// shadows are the reports of the lanes over a model, in the order of shadow.Lanes.
func (r report) shadows() []shadowReport { return []shadowReport{r.Sockets, r.Blocking, r.Exits} }
