package results

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"eventide/props/interleave/evidence"
)

const fewModules = `{"Go":"go1","Options":{"Schedules":200},"Modules":[
	{"Module":"a","Commit":"r1","Tests":5,"Run":4,"Schedules":100,"Failing":1,"Failed":"killed","Findings":[{"Class":"module","Repeats":"minimal"},{"Class":"test","Repeats":"seed"}]},
	{"Module":"b","Commit":"r2","Tests":2,"Run":2,"Schedules":30,"Findings":[{"Class":"test","Repeats":"minimal"}]},
	{"Module":"c","Commit":"r2","Tests":1,"Run":1,"Schedules":10}]}`

// TestChosen: each part about chosen schedules appears when its file is there, and is
// said to be missing when it is not.
func TestChosen(t *testing.T) {
	dir := copyRaw(t)
	without, err := Generate(dir)
	require.NoError(t, err)
	for _, want := range []string{"make interleave-kernels", "make interleave-modules", "make interleave-healthy", "make interleave-determinism", "make interleave-speed"} {
		require.Contains(t, string(without.Page), "Not run (`"+want+"`)")
	}
	require.Contains(t, string(without.Page), "With the race detector: not run.")

	folder := filepath.Join(filepath.Dir(dir), "interleave")
	require.NoError(t, os.Mkdir(folder, 0o755))
	about := evidence.About{Schema: 1, Revision: "r3", Go: "go1", CPU: "cpu", CPUs: 2, Command: "make x"}
	for name, value := range map[string]any{
		"kernels.json": evidence.Kernels{About: about, Limits: evidence.Limits{Seeds: 3, Schedules: 10, Bound: 2, Batches: 2, Runs: 7}, Rows: []evidence.Row{{
			Kernel:     "TestA",
			Strategies: []evidence.Cell{{Strategy: "walk", Schedules: []uint64{4, 2, 9}}},
			Tools:      []evidence.Tool{{Tool: evidence.GoTest, Runs: []int{3, 0}, How: map[string]int{"failed": 1}}},
		}}},
		"healthy.json":     evidence.Healthy{About: about, Seed: 5, Rows: []evidence.HealthyRun{{Tests: 2, Schedules: 70, Findings: 3}, {Tests: 1, Schedules: 30, Undecided: 1}}},
		"determinism.json": evidence.Determinism{About: about, Schedules: 100, Processes: 20, Load: 2, Rows: []evidence.Repeated{{Package: "p", Test: "TestA"}, {Package: "p", Test: "TestB", Uncontrolled: 1, Different: 3}}},
		"speed.json":       evidence.Speed{About: about, Rounds: 3, Rows: []evidence.Rate{{What: "build", Build: 2.5}, {What: "locks", PerSecond: 97000, PerCPU: 101000}}},
	} {
		require.NoError(t, evidence.Write(filepath.Join(folder, name), value))
	}
	for _, name := range []string{"modules.json", "modules-race.json"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(fewModules), 0o644))
	}
	with, err := Generate(dir)
	require.NoError(t, err)
	for _, want := range []string{
		"| walk | 1 | 0 | 0 | 0 | 4 | 9 |", "| go test | 0 | 1 | 0 | 0 | 0 |", "| synctest | 0 | 0 | 0 | 1 | 0 |", "2 batches of 7 runs",
		"The tests of 3 modules", "8 tests, 7 of them explored, 140 schedules, at most 200", "1 tests fail without control too. 1 modules were cut off", " 1 by r1; 2 by r2;",
		"| module | 1 | 1 |\n| test | 2 | 2 |\n", ` 2 repeat "minimal"; 1 repeat "seed";`,
		"With the race detector: 3 modules, 8 tests",
		"3 in 100 schedules of 3 tests without bugs; 1 of them undecided. Revision r3, go1, seed 5",
		"| p | yes | 1 | 1 | 20 | 0 |", "| 1 | 0 | 20 | 3 |", "the best of 3 rounds", "| build | 2.5 | - | - |", "| locks | - | 97000 | 101000 |",
	} {
		require.Contains(t, string(with.Page), want)
	}

	page := filepath.Join(filepath.Dir(dir), "RESULTS.md")
	require.NoError(t, Write(dir, page))
	require.NoError(t, Check(dir, page))
	require.NoError(t, evidence.Write(filepath.Join(folder, "healthy.json"), evidence.Healthy{About: about, Rows: []evidence.HealthyRun{{Schedules: 1e9}}}))
	require.ErrorContains(t, Check(dir, page), "RESULTS.md, line ")
	require.NoError(t, os.WriteFile(filepath.Join(folder, "speed.json"), []byte(`{"Schema":9}`), 0o644))
	_, err = Generate(dir)
	require.ErrorContains(t, err, "schema is 9, want 1")
	require.NoError(t, os.Remove(filepath.Join(folder, "speed.json")))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "modules.json"), []byte(`nonsense`), 0o644))
	_, err = Generate(dir)
	require.ErrorContains(t, err, "modules.json")
}
