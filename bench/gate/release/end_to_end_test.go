package release

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"eventide/bench/gate/measure"
)

// module makes a git repository with a module that has only the packages that the gate needs:
// stand-ins for core and bench, with a clock that no load disturbs.
func module(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	require.NoError(t, os.CopyFS(root, os.DirFS("testdata/module")))
	git(t, root, "init", "-q")
	git(t, root, "add", "-A")
	git(t, root, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "base")
	return root
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "git %v: %s", args, out)
	return string(out)
}

// edit replaces a text in head.
func edit(t *testing.T, root, file, from, to string) {
	t.Helper()
	path := filepath.Join(root, file)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(text), from), "%s in %s", from, file)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(text), from, to, 1)), 0o666))
}

func options(root string) Options {
	return Options{
		Root: root, Base: "HEAD", Rounds: MinRounds, Waivers: "waivers",
		slices:     1,
		benchmarks: []Benchmark{{Name: inLoop.Name, Benchtime: "1000x", ExactOps: 1000}},
		withTools: func() []tool {
			return []tool{
				{metric: metricSyscalls, missing: "left out of this test"},
				{metric: metricInstructions, missing: "left out of this test"},
			}
		},
	}
}

// TestEndToEnd builds and compares real commits: equal ones, then a head that is
// slower, which is waived, and allocates, which is not.
func TestEndToEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("builds some programs; -short leaves it out")
	}
	root := module(t)
	report, err := Run(t.Context(), options(root))
	require.NoError(t, err)
	require.Equal(t, workloadsHead, report.Workloads)
	require.Equal(t, ExitPass, report.ExitCode(), "%+v", report.Findings)

	edit(t, root, "core/core.go", "Cost = 100", "Cost = 115")
	edit(t, root, "core/core.go", "Allocs = 0", "Allocs = 1")
	waiver := inLoop.Name + " | ns/op | 9999-12-31 | known"
	require.NoError(t, os.WriteFile(filepath.Join(root, "waivers"), []byte(waiver), 0o666))
	report, err = Run(t.Context(), options(root))
	require.NoError(t, err)
	var table, text bytes.Buffer
	require.NoError(t, report.WriteTable(&table))
	require.NoError(t, report.WriteJSON(&text))
	require.Equal(t, ExitRegression, report.ExitCode(), table.String())
	for _, want := range []string{"REGRESSION: 1 findings", "until 9999-12-31: known. confirmed with fresh rounds: +15.0 %", "NOT RUN: exact, syscalls/op"} {
		require.Contains(t, table.String(), want)
	}
	var back struct{ Exit int }
	require.NoError(t, json.Unmarshal(text.Bytes(), &back))
	require.Equal(t, ExitRegression, back.Exit)
	requireClean(t, root)
}

// TestFailedCheck: the report has the message of a failed property.
func TestFailedCheck(t *testing.T) {
	root := module(t)
	f, err := check{TierProperties, []string{"go", "vet", "./core"}, whyCommand}.run(t.Context(), root)
	require.NoError(t, err)
	require.Equal(t, Pass, f.Verdict, f.Note)
	f, err = check{TierProperties, []string{"go", "vet", "./nothing"}, whyCommand}.run(t.Context(), root)
	require.NoError(t, err)
	require.Equal(t, Failed, f.Verdict)
	require.Contains(t, f.Note, "nothing")
}

// TestTooFewKeptRuns: a comparison of kept runs is NotRun if too few runs are kept; every other
// failure of the comparison is Failed.
func TestTooFewKeptRuns(t *testing.T) {
	verdict, note := whyKept([]byte("not run: score.json has 1 runs, want two to compare\nexit status 3\n"))
	require.Equal(t, NotRun, verdict)
	require.Contains(t, note, "has 1 runs")
	verdict, _ = whyKept([]byte("generic checks: HAS FALLEN\nexit status 1\n"))
	require.Equal(t, Failed, verdict)
}

// TestOwnWorkloads: if head's workloads use a function that base's core does not have, each side
// is measured by its own workloads.
func TestOwnWorkloads(t *testing.T) {
	if testing.Short() {
		t.Skip("builds; -short leaves it out")
	}
	root := module(t)
	edit(t, root, "core/core.go", "// Allocs is", "// New is new.\nconst New = 0\n\n// Allocs is")
	edit(t, root, "bench/bench_test.go", "core.Cost+", "core.New+core.Cost+")
	w, err := openWorkspace(t.Context(), root, "HEAD")
	require.NoError(t, err)
	base, err := w.buildBase(t.Context())
	require.NoError(t, err)
	require.Equal(t, workloadsOwn, w.workloads)
	r, err := base.run(t.Context(), request{benchmark: inLoop.Name, benchtime: "100x"})
	require.NoError(t, err)
	require.Equal(t, 100, r.ops)
	_, err = base.run(t.Context(), request{benchmark: "New/impl=core", benchtime: "100x"})
	require.ErrorIs(t, err, measure.ErrNoBenchmark)
	require.NoError(t, w.Close())
	requireClean(t, root)
}

// TestNothingToPlantIn: a core without the method is an error, not a self-test that
// shows nothing.
func TestNothingToPlantIn(t *testing.T) {
	root := module(t)
	edit(t, root, "core/core.go", "func (e *Executor) claimWake() { e.wakes++ }", "")
	_, err := plant(root, t.TempDir())
	require.ErrorContains(t, err, "no method (*Executor).claimWake")
}

// TestInterruptCleansUp: the worktree is removed, at whichever point the gate is interrupted.
func TestInterruptCleansUp(t *testing.T) {
	root := module(t)
	points := []string{"checking out", "building", "self-test"}
	if testing.Short() {
		points = points[:2] // the third is after the building
	}
	for _, at := range points {
		ctx, cancel := context.WithCancel(t.Context())
		o := options(root)
		o.Progress = writerFunc(func(p []byte) {
			if strings.HasPrefix(string(p), at) {
				cancel()
			}
		})
		_, err := Run(ctx, o)
		require.ErrorIs(t, err, context.Canceled, at)
		requireClean(t, root)
		cancel()
	}
}

func TestBadOptions(t *testing.T) {
	root := module(t)
	o := options(root)
	o.Base = "no-such-commit"
	_, err := Run(t.Context(), o)
	require.ErrorContains(t, err, "no-such-commit")
	o = options(root)
	o.Rounds = MinRounds - 1
	_, err = Run(t.Context(), o)
	require.ErrorContains(t, err, "9 rounds, want at least 10")
	o = options(root)
	o.Tiers = []string{"speed"}
	_, err = Run(t.Context(), o)
	require.ErrorContains(t, err, `tier is "speed"`)
	require.NoError(t, os.WriteFile(filepath.Join(root, "waivers"), []byte("Gone/impl=core | ns/op | 9999-12-31 | x"), 0o666))
	_, err = Run(t.Context(), options(root))
	require.ErrorContains(t, err, `there is no benchmark "Gone/impl=core"`)
	require.NoError(t, os.WriteFile(filepath.Join(root, "waivers"), []byte(inLoop.Name+" | ns/op | HEAD | x"), 0o666))
	_, err = Run(t.Context(), options(root))
	require.ErrorContains(t, err, "expired: base contains HEAD")
	requireClean(t, root)
}

// requireClean checks that the repository has no worktree besides its own.
func requireClean(t *testing.T, root string) {
	t.Helper()
	require.Equal(t, 1, strings.Count(git(t, root, "worktree", "list"), "\n"))
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "gate-*", "base"))
	require.NoError(t, err)
	for _, dir := range left {
		text, err := os.ReadFile(filepath.Join(dir, ".git"))
		if err == nil {
			require.NotContains(t, string(text), root, "a worktree was left")
		}
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) {
	f(p)
	return len(p), nil
}

var _ io.Writer = writerFunc(nil)

// TestPlantsApply: the planted regressions of the self-test compile in the current core.
func TestPlantsApply(t *testing.T) {
	dir := t.TempDir()
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	overlay, err := plant(root, dir)
	require.NoError(t, err)
	out, err := exec.Command("go", "build", "-overlay", overlay, "eventide/core").CombinedOutput()
	require.NoError(t, err, "%s", out)
	planted := 0
	paths, err := filepath.Glob(filepath.Join(dir, "planted*.go"))
	require.NoError(t, err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		planted += strings.Count(string(text), "gatePlantIn")
	}
	require.Equal(t, len(plants), planted)
}
