package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	kept = "../../testdata/bench"
	site = "../../RESULTS.md"
)

// TestResultsAreCurrent: RESULTS.md is what the kept raw files give.
func TestResultsAreCurrent(t *testing.T) { require.NoError(t, Check(kept, site)) }

// TestCheckSeesAChangedNumber: one digit typed by hand is found, with its line.
func TestCheckSeesAChangedNumber(t *testing.T) {
	now, err := Generate(kept)
	require.NoError(t, err)
	page := now.Page
	states := bytes.Index(page, []byte("Model: ")) + len("Model: ")
	page[states]++
	path := filepath.Join(t.TempDir(), "RESULTS.md")
	require.NoError(t, os.WriteFile(path, page, 0o644))
	require.ErrorContains(t, Check(kept, path), "RESULTS.md, line 10: got ")
}

func TestCheckSeesAMissingEnd(t *testing.T) {
	now, err := Generate(kept)
	require.NoError(t, err)
	lines := strings.Split(string(now.Page), "\n")
	path := filepath.Join(t.TempDir(), "RESULTS.md")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines[:len(lines)-3], "\n")), 0o644))
	require.ErrorContains(t, Check(kept, path), `got "(nothing)"`)
}

func TestRawFilesAreRequired(t *testing.T) {
	dir := t.TempDir()
	generate := func() (string, error) {
		s, err := Generate(dir)
		return string(s.Page), err
	}
	_, err := generate()
	require.ErrorContains(t, err, "bench.json")
	require.NoError(t, os.WriteFile(filepath.Join(dir, benchFile), []byte(`{"schema":7}`), 0o644))
	_, err = generate()
	require.ErrorContains(t, err, "schema is 7, want 1")
	require.NoError(t, os.WriteFile(filepath.Join(dir, benchFile), []byte(`{"schema":1}`), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, verifyFile), []byte(`{"schema":1}`), 0o644))
	page, err := generate()
	require.NoError(t, err)
	require.Contains(t, page, "is not kept here")
	require.NoError(t, os.WriteFile(filepath.Join(dir, mutantsFile), []byte(`nonsense`), 0o644))
	_, err = generate()
	require.ErrorContains(t, err, "mutants.json")
}

// copyRaw copies the kept raw files.
func copyRaw(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "bench")
	require.NoError(t, os.CopyFS(dir, os.DirFS(kept)))
	return dir
}

const (
	manyTasks = `{"workload":"Shutdown/tasks=%s","impl":"core","unit":"p50 ns/stop","median":%s,"rounds":10}`
	fewPeers  = `{"schema":1,"about":{"commit":"abc","versions":{"core":"1"},"not_run":{"uv":"no libuv"}},"rows":[
		{"workload":"execute","impl":"uv","unit":"ns","status":"not run"},
		{"workload":"execute","impl":"core","unit":"ns","status":"measured","median":12.5,"rounds":10},
		{"workload":"echo/connections=50","impl":"core","status":"not offered","reason":"no I/O"},
		{"workload":"echo","impl":"ants","status":"not offered","reason":"no I/O"},
		{"workload":"readiness/idle/p50","impl":"ants","status":"not offered","reason":"no I/O"},
		{"workload":"readiness/idle/p99","impl":"ants","status":"not offered","reason":"no I/O"},
		{"workload":"memory/idle-channels=10000/resident","impl":"core","unit":"B/channel","status":"measured","median":443,"low":440,"high":450,"ratio":1.5,"rounds":12},
		{"workload":"shutdown/channels=100","impl":"gnet","unit":"ns/shutdown","status":"measured","median":1000,"rounds":10},
		{"workload":"shutdown/channels=1000","impl":"gnet","unit":"ns/shutdown","status":"measured","median":9000,"rounds":10}
	],"targets":[
		{"name":"t","limit":0.6,"reason":"no libuv"},
		{"name":"fast","ratio":1.2,"low":1,"high":1.5,"limit":0.95,"at_least":true,"met":true},
		{"name":"slow","ratio":2.5,"low":2,"high":3,"limit":0.6}
	]}`
	smallTable = `{"schema":1,"seed":7,"guarantees":[{"guarantee":"G3"},{"guarantee":"G4"}],"cells":[{"subject":"core","guarantee":"G3","verdict":"yes"},{"subject":"other","guarantee":"G3","verdict":"no","by":"its README","text":"task 2 | lost"}]}`
	fewServers = `{"schema":1,"verdicts":["none-lost","ended"],"servers":[
		{"name":"good","rounds":3,"cells":[{"verdict":"none-lost","status":"pass"},{"verdict":"ended","status":"pass"}]},
		{"name":"bad","breaks":"ended","rounds":2,"cells":[{"verdict":"none-lost","status":"inconclusive","text":"it did | not occur"},{"verdict":"ended","status":"FAIL","text":"not in 1 s"}]},
		{"name":"away","not_run":"no port"}]}`
	twoCurves = `{"schema":1,"commit":"abc","transfer_ns":90,"locked_ns":5,"assumed":{"Transfer":90,"Local":5},"curves":[
		{"name":"tasks/impl=core/loops=1","x":"producers","unit":"tasks/s","law":{"lambda":1e7,"sigma":0,"kappa":0},"points":[
			{"n":1,"median":1e7,"rounds":12},{"n":2,"median":2e7,"low":1.8e7,"high":2.2e7,"rounds":12},{"n":4,"median":4e7,"rounds":12}]},
		{"name":"echo/impl=core/loops=2","x":"connections","unit":"requests/s","points":[{"n":100000,"median":0,"rounds":0,"not_run":"needs descriptors"}]}],
		"simulated":[{"name":"one lock","x":"processors","unit":"tasks/s","points":[{"n":1,"median":3e7,"rounds":1},{"n":64,"median":2e6,"rounds":1}]}]}`
	onePart  = `{"schema":1,"procs":2,"rows":[{"ablation":"timer-lock","part":"the lock | of a timer","guarantee":"G5","benchmark":"Timers","with_ns":100,"without_ns":81,"ratio":0.8,"low":0.7,"high":0.9,"rounds":20}]}`
	oneProof = `{"schema":1,"rounds":20,"layouts":5,"equal":{"what":"nothing","benchmark":"all","figure":"all","runs":50,"found":1,"inconclusive":2},"figures":350,"blind":["Op ns/op: in 2 runs, could see +14.0 %"],
		"planted":[{"what":"one lock","benchmark":"Locked","figure":"ns/op","runs":10,"found":9,"inconclusive":1,"change":0.31,"visible":0.024,"overlooked":["+0.9 %, -0.2 % to +2.1 %, could see +2.4 %"]}],"alarms":["Op ns/op: +2.1 %"]}`
	oneLanes = `{"schema":1,"commit":"abc","cpu":"a cpu","seconds":20,"lanes":[{"lane":"virtual","runs_per_processor_second":[4100,4300,3900]},
		{"lane":"interleave","runs_per_processor_second":[15100],"steps_per_processor_second":[5.5e6],"speed":[{"program":"as a user","steps_per_second":1.2e7,"schedules_per_second":26000}]}]}`
	oneGate = `{"schema":1,"exit":1,"verdict":"REGRESSION: 1 findings","base":"abc","findings":[{"verdict":"pass"},{"verdict":"pass"},{"verdict":"REGRESSION"}]}`
)

// TestSections: what others write appears when it is there, and is said to be missing
// when it is not.
func TestSections(t *testing.T) {
	dir := copyRaw(t)
	for _, name := range []string{lanesFile, peersFile, matrixFile, drainFile, gateFile, scaleFile, ablationFile, proofFile} {
		require.NoError(t, os.RemoveAll(filepath.Join(dir, name)))
	}
	without, err := Generate(dir)
	require.NoError(t, err)
	for _, want := range []string{"no testdata/bench/lanes.json", "no testdata/bench/peers.json", "no testdata/bench/matrix.json", "no testdata/bench/drain.json", "no testdata/bench/gate.json", "no testdata/bench/scale.json", "no testdata/bench/ablation.json", "no testdata/bench/gateproof.json"} {
		require.Contains(t, string(without.Page), want)
	}
	for name, text := range map[string]string{lanesFile: oneLanes, peersFile: fewPeers, matrixFile: smallTable, drainFile: fewServers, gateFile: oneGate, scaleFile: twoCurves, ablationFile: onePart, proofFile: oneProof} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	with, err := Generate(dir)
	require.NoError(t, err)
	for _, want := range []string{
		"| execute | uv | not run | ns |", "| execute | core | 12.5 | ns |", "* uv: not run: no libuv",
		"| NOT JUDGED: no libuv | t | - | - | at most 0.6 | `make peers` |",
		"| MISSED | slow | 2.5 | 2..3 | at most 0.6 | `make peers` |", "| met | fast | 1.2 | 1..1.5 | at least 0.95 | `make peers` |",
		"| memory/idle-channels=10000/resident | core | 443 | 440..450 | 1.5 | 12 |",
		"* not offered: core, ants: no I/O (echo/connections, echo, readiness/idle)",
		"(testdata/bench/plots/shutdown-channels.svg)",
		"| G3 | yes | no |", "| G4 | not run | not run |", `* other, G3, by its README: task 2 \| lost`,
		"| good | pass | pass |", "| bad | inconclusive | **FAIL** |", "| away | NOT RUN | NOT RUN |", "* away: NOT RUN: no port",
		`* bad, none-lost, inconclusive: it did \| not occur; 2 rounds`, "* bad, ended, FAIL: not in 1 s; 2 rounds",
		"REGRESSION: 1 findings", "1 REGRESSION; 2 pass;",
		"| tasks/impl=core/loops=1/producers | 2 | 20000000 | tasks/s | 18000000..22000000 | 12 |",
		"| echo/impl=core/loops=2/connections | 100000 | NOT RUN: needs descriptors | requests/s | - | 0 |",
		"`tasks/impl=core/loops=1`: no knee and no level up to 4 producers (σ 0, κ 0)",
		"moves between two processors in 90ns", "| processors | 1 | 64 |", "| one lock | 30 | 2 |", "(testdata/bench/plots/scale-tasks-1.svg)",
		"50 runs between equal sides and 10 with regressions", "| nothing | all | all | 50 | 1 | 2 | - | - |", "| one lock | Locked | ns/op | 10 | 9 | 1 | +31.0 % | +2.4 % |",
		"False alarm: Op ns/op: +2.1 %", "* Overlooked: one lock: Locked ns/op +0.9 %, -0.2 % to +2.1 %, could see +2.4 %",
		"commit abc, a cpu, per second of processor time, the median of 3 runs of 20 s", "Virtual time: 4100 (3900 to 4300) programs.",
		"Chosen schedules: 15100 (15100 to 15100) schedules, 5.50 (5.50 to 5.50) million steps; the scheduler alone 26000 of the program as a user, 12.00 million steps;",
		"350 figures were compared", "* Op ns/op: in 2 runs, could see +14.0 %",
		`| the lock \| of a timer | G5 | Timers | 100 | 81 | 0.8 | 0.7..0.9 | 20 |`,
	} {
		require.Contains(t, string(with.Page), want)
	}
	require.NotContains(t, string(with.Page), "| echo | ants |", "what is not offered has a list of its own")
}

// TestTheScoreCountsEveryTarget: none is left out of the three verdicts.
func TestTheScoreCountsEveryTarget(t *testing.T) {
	r := raw{Peers: &peers{}}
	require.NoError(t, json.Unmarshal([]byte(fewPeers), r.Peers))
	require.Equal(t, map[string]int{missed: 1, notJudged: 1, met: 1}, r.Score())
	require.Equal(t, []string{missed, notJudged, met}, []string{r.Goals()[0].Verdict, r.Goals()[1].Verdict, r.Goals()[2].Verdict})
}

// TestPlotsAreChecked: a plot that was changed, is missing, or is of no raw file.
func TestPlotsAreChecked(t *testing.T) {
	dir := copyRaw(t)
	path := filepath.Join(filepath.Dir(dir), "RESULTS.md")
	bench := `{"schema":1,"rows":[` + fmt.Sprintf(manyTasks, "100", "2000") + "," + fmt.Sprintf(manyTasks, "10000", "90000") + `]}`
	require.NoError(t, os.WriteFile(filepath.Join(dir, benchFile), []byte(bench), 0o644))
	require.NoError(t, Write(dir, path))
	require.NoError(t, Check(dir, path))
	plot := filepath.Join(dir, plotDir, "shutdown-tasks.svg")
	text, err := os.ReadFile(plot)
	require.NoError(t, err)
	page, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(page), "(testdata/bench/plots/shutdown-tasks.svg)")

	require.NoError(t, os.WriteFile(plot, bytes.Replace(text, []byte("cx=\""), []byte("cx=\"1"), 1), 0o644))
	require.ErrorContains(t, Check(dir, path), "shutdown-tasks.svg, line ")
	require.NoError(t, os.Remove(plot))
	require.ErrorContains(t, Check(dir, path), "shutdown-tasks.svg")
	require.NoError(t, os.WriteFile(plot, text, 0o644))
	stale := filepath.Join(dir, plotDir, "old.svg")
	require.NoError(t, os.WriteFile(stale, text, 0o644))
	require.ErrorContains(t, Check(dir, path), "old.svg")
	require.NoError(t, Write(dir, path))
	require.NoError(t, Check(dir, path))
}
