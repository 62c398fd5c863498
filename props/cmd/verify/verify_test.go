package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eventide/model"
	"eventide/props"
	"eventide/props/lane"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// passing is a verification in which everything went well.
func passing() *verification {
	v := &verification{
		settings: settings{root: "../../.."},
		model:    model.Result{States: 1, Complete: true},
		regs:     model.Result{States: 1, Complete: true},
		real:     lane.Result{Runs: 500, Seed: 7, Exercised: map[string]int{"G3": realMinimum}, Failed: map[string]string{}},
		interleave: lane.Result{
			Runs: 900, Seed: 7, Classes: 800, Exercised: map[string]int{"G3": interleaveMinimum, "G4": interleaveMinimum - 1}, Failed: map[string]string{},
			Exhausted: &lane.Exhausted{Scenarios: 118, To: map[int]int{0: 118, 1: 93}, Exercised: map[string]int{"G3": 8}},
		},
		shadows: map[string]lane.Result{
			"sockets":  {Runs: shadowMinimum, Seed: 7, Failed: map[string]string{}},
			"blocking": {Runs: shadowMinimum, Seed: 7, Failed: map[string]string{}},
			"exits":    {Runs: shadowMinimum, Seed: 7, Failed: map[string]string{}},
		},
		traces:  traceResult{Model: 1, History: 1},
		lane:    lane.Result{Runs: 5000, Seed: 7, Exercised: map[string]int{}, Failed: map[string]string{}},
		mutants: map[string]mutantResult{},
	}
	for _, g := range checked() {
		v.lane.Exercised[g.ID] = g.Needed()
		v.mutants[g.Mutant] = mutantResult{Killed: true, By: "its violation"}
	}
	return v
}

func rowOf(t *testing.T, r report, id string) guaranteeRow {
	for _, g := range r.Guarantees {
		if g.ID == id {
			return g
		}
	}
	require.Fail(t, "no row", "%s", id)
	return guaranteeRow{}
}

// TestVerdicts: a guarantee passes only if nothing violated it, it was exercised
// often enough, and its planted bug was seen. Anything less is not a pass.
func TestVerdicts(t *testing.T) {
	for name, c := range map[string]struct {
		change          func(*verification)
		verdict, reason string
		code, strict    int
	}{
		"all is well":              {func(*verification) {}, pass, "", 0, 0},
		"a violation":              {func(v *verification) { v.lane.Failed["G3"] = "G3 task 2 never ran" }, fail, "task 2 never ran", 1, 1},
		"too seldom":               {func(v *verification) { v.lane.Exercised["G3"]-- }, notRun, "exercised by 199 runs, want 200", 0, 3},
		"mutant not seen":          {func(v *verification) { v.mutants["g3-no-final-drain"] = mutantResult{} }, notRun, "planted bug g3-no-final-drain was not seen", 0, 3},
		"mutant not run":           {func(v *verification) { delete(v.mutants, "g3-no-final-drain") }, notRun, "was not seen", 0, 3},
		"nothing was run":          {func(v *verification) { v.lane = lane.Result{} }, notRun, "exercised by 0 runs", 0, 3},
		"a violation in real time": {func(v *verification) { v.real.Failed["G3"] = "G3 task 3 never ran" }, fail, "in real time: G3 task 3 never ran", 1, 1},
		"a fault not injected": {func(v *verification) {
			v.real.Runs, v.real.Faults = enoughPrograms, map[string]int64{"write EINTR": 0}
		}, pass, "", 0, 3},
		"a fault not injected yet":     {func(v *verification) { v.real.Faults = map[string]int64{"write EINTR": 0} }, pass, "", 0, 0},
		"a violation in a schedule":    {func(v *verification) { v.interleave.Failed["G3"] = "G3 task 4 never ran" }, fail, "in the interleave lane: G3 task 4 never ran", 1, 1},
		"a violation of a connection":  {func(v *verification) { v.shadows["sockets"].Failed["sockets"] = "G22: Active 2 times" }, pass, "", 1, 1},
		"few programs of connections":  {func(v *verification) { v.shadows["sockets"] = lane.Result{Runs: shadowMinimum - 1} }, pass, "", 0, 3},
		"a violation of core/blocking": {func(v *verification) { v.shadows["blocking"].Failed["blocking"] = "G22: Active 2 times" }, pass, "", 1, 1},
		"no program of core/blocking":  {func(v *verification) { delete(v.shadows, "blocking") }, pass, "", 0, 3},
		"a violation of an exit":       {func(v *verification) { v.shadows["exits"].Failed["exits"] = "the exit code is 1" }, pass, "", 1, 1},
		"no exit":                      {func(v *verification) { delete(v.shadows, "exits") }, pass, "", 0, 3},
		"no program of connections":    {func(v *verification) { delete(v.shadows, "sockets") }, pass, "", 0, 3},
		"channels are cut":             {func(v *verification) { v.regs.Complete = false }, pass, "", 1, 1},
		"channels violated":            {func(v *verification) { v.regs.Violation = &model.Violation{} }, pass, "", 1, 1},
		"model is cut":                 {func(v *verification) { v.model.Complete = false }, pass, "", 1, 1},
		"model is violated":            {func(v *verification) { v.model.Violation = &model.Violation{} }, pass, "", 1, 1},
		"a trace is wrong":             {func(v *verification) { v.traces.Wrong = []string{"x"} }, pass, "", 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			v := passing()
			c.change(v)
			r := v.report()
			row := rowOf(t, r, "G3")
			require.Equal(t, c.verdict, row.Verdict)
			require.Contains(t, row.Reason, c.reason)
			require.Equal(t, c.code, r.exitCode(false))
			require.Equal(t, c.strict, r.exitCode(true))
			var b bytes.Buffer
			r.table(&b)
			_, end, _ := strings.Cut(b.String(), " not run, in ")
			require.Equal(t, c.code == 1, strings.Contains(end, "\nFAILED: "), "the output says last what failed")
			require.Equal(t, c.strict == 3, strings.Contains(end, "\nnot shown: "), "the output says last what was not shown")
			require.Contains(t, end, c.reason)
		})
	}
}

// TestWhatIsNotCheckedIsListed: guarantees and lanes that this build does not
// have are in the table as not run, and do not count against it.
func TestWhatIsNotCheckedIsListed(t *testing.T) {
	r := passing().report()
	require.Len(t, r.Guarantees, len(props.Guarantees))
	v := passing()
	nobody := v.row(props.Guarantee{ID: "G25"})
	require.Equal(t, notRun, nobody.Verdict)
	require.Equal(t, "no lane of this build checks it", nobody.Reason)
	require.Equal(t, notRun, rowOf(t, r, "G4").Lanes[2].Verdict, "what the real lane exercised too seldom it has not run")
	require.Equal(t, pass, rowOf(t, r, "G3").Lanes[2].Verdict)
	for _, row := range r.Guarantees {
		require.Len(t, row.Lanes, 3, row.ID)
		require.Equal(t, map[bool]string{true: pass, false: notRun}[row.ID == "G3"], row.Lanes[1].Verdict, row.ID)
	}
	require.Equal(t, 8, rowOf(t, r, "G3").Lanes[1].Exhausted)
	require.Equal(t, 900, rowOf(t, r, "G3").Lanes[1].Runs)
	require.Zero(t, r.exitCode(true))
}

// TestSchema pins the names that readers of verify.json rely on.
func TestSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "verify.json")
	require.NoError(t, passing().report().write(path))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var top map[string]any
	require.NoError(t, json.Unmarshal(data, &top))
	require.EqualValues(t, 1, top["schema"])
	require.Contains(t, top, "commit")
	require.Subset(t, keys(top["model"]), []string{"states", "edges", "complete"})
	first := top["guarantees"].([]any)[0]
	require.Subset(t, keys(first), []string{"id", "sentence", "verdict", "exercised", "minimum", "mutant", "lanes"})
	require.Subset(t, keys(first.(map[string]any)["mutant"]), []string{"name", "killed"})
	require.Subset(t, keys(first.(map[string]any)["lanes"].([]any)[0]), []string{"lane", "verdict", "runs", "seed"})
}

func keys(object any) []string {
	var names []string
	for name := range object.(map[string]any) {
		names = append(names, name)
	}
	return names
}

// TestTableShowsEveryReason: what did not pass says why.
func TestTableShowsEveryReason(t *testing.T) {
	v := passing()
	v.lane.Failed["G6"] = "G6 hook 4 never ran"
	v.mutants["g7-fixed-rate-drifts"] = mutantResult{}
	v.interleave.Failed["G9"] = "G9 a future never ended"
	var b bytes.Buffer
	v.report().table(&b)
	for _, want := range []string{"G6 hook 4 never ran", "ALIVE", "21 pass, 2 fail, 1 not run",
		"in the interleave lane: G9 a future never ended", "interleave -case out/cases/G9-",
		"G3   pass          200        100         8      20  killed  An accepted task",
		"of 118 small scenarios every schedule was seen: to 0 preemptions of 118; to 1 preemptions of 93; without a bound of 0",
	} {
		require.Contains(t, b.String(), want)
	}
}

// TestLanesOverAModelHaveLines: a program that violated something is printed with the command that
// repeats it, and a lane that was not run says so.
func TestLanesOverAModelHaveLines(t *testing.T) {
	violated := func(v *verification) { v.shadows["sockets"].Failed["sockets"] = "G22: Active 2 times\nprogram  {}" }
	for want, change := range map[string]func(*verification){
		"sockets  100 programs of connections, peers and shutdowns over a model of the kernel, in 0 s, pass\n": func(*verification) {},
		"blocking 100 programs of core/blocking over the same model, in 0 s, pass\n":                           func(*verification) {},
		"exits    NOT RUN 0 programs have run, want 100\n":                                                     func(v *verification) { delete(v.shadows, "exits") },
		"sockets  NOT RUN 7 programs have run, want 100\n":                                                     func(v *verification) { v.shadows["sockets"] = lane.Result{Runs: 7} },
		"sockets  FAIL after 100 programs: G22: Active 2 times\n":                                              violated,
		" s\nFAILED: sockets after 100 programs: G22: Active 2 times\n    program  {}\n" +
			"    again: go run ./props/lanes/sockets/cmd/sockets -lane sockets -case out/cases/sockets-....json\n": violated,
	} {
		v := passing()
		change(v)
		var b bytes.Buffer
		v.report().table(&b)
		require.Contains(t, b.String(), want)
	}
}

// TestLaneThatDoesNotEnd: to have found nothing until a hang or a crash is no pass.
func TestLaneThatDoesNotEnd(t *testing.T) {
	require.NoError(t, cameToItsEnd(lane.Result{Runs: 3}))
	require.ErrorContains(t, cameToItsEnd(lane.Result{Runs: 3, Ending: lane.Hung}), "hung after 3 runs")
	require.ErrorContains(t, cameToItsEnd(lane.Result{Runs: 3, Ending: lane.Crashed, Output: "panic: x"}), "crashed after 3 runs:\npanic: x")
	found := map[string]string{"G3": "task 2 never ran"}
	require.NoError(t, cameToItsEnd(lane.Result{Runs: 3, Ending: lane.Hung, Failed: found}))
}

func TestUsage(t *testing.T) {
	for want, args := range map[string][]string{
		"-budget is -1s, want more than 0":     {"-budget", "-1s"},
		"-budget is 0s, want more than 0":      {"-budget", "0"},
		`got arguments ["extra"], want none`:   {"extra"},
		"flag provided but not defined":        {"-colour"},
		`invalid value "x" for flag -seed`:     {"-seed", "x"},
		`invalid value "-1" for flag -seed`:    {"-seed", "-1"},
		`invalid value "soon" for flag`:        {"-budget", "soon"},
		"flag needs an argument: -budget":      {"-budget"},
		`invalid boolean value "maybe" for -s`: {"-strict=maybe"},
		"-speed is 0, want at least 1":         {"-speed", "0"},
		"got -speed and one of -show and":      {"-speed", "1", "-strict"},
	} {
		var stdout, stderr bytes.Buffer
		require.Equal(t, 2, run(args, &stdout, &stderr), "%v", args)
		require.Contains(t, stderr.String(), want)
		require.Empty(t, stdout.String(), "%v", args)
	}
	var stdout, help bytes.Buffer
	require.Zero(t, run([]string{"-h"}, &stdout, &help))
	require.Contains(t, help.String(), "-budget duration")
}

func TestBadBudgetFromTheEnvironment(t *testing.T) {
	for _, text := range []string{"soon", "-3s", "0s", "30"} {
		t.Setenv("BUDGET", text)
		var stdout, stderr bytes.Buffer
		require.Equal(t, 2, run(nil, &stdout, &stderr))
		require.Contains(t, stderr.String(), fmt.Sprintf(`BUDGET is %q, want a duration such as 30s`, text))
	}
}

// TestFaultsArePrinted: the line of the real lane has the count of each fault, and there is none without faults.
func TestFaultsArePrinted(t *testing.T) {
	var b bytes.Buffer
	realReport{Programs: 7}.print(&b)
	require.Empty(t, b.String())
	realReport{Programs: 7, Faults: map[string]int64{"write EINTR": 3, "epoll_wait ENOMEM": 0}}.print(&b)
	require.Equal(t, "real     7 programs, faults injected: 0 epoll_wait ENOMEM, 3 write EINTR\n", b.String())
}
