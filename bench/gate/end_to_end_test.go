package gate

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"eventide/bench/gate/measure"
)

// module makes a git repository with the module of the self-test, in one commit.
func module(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	require.NoError(t, commitPlanted(t.Context(), root))
	return root
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "git %v: %s", args, out)
	return strings.TrimSpace(string(out))
}

func commit(t *testing.T, root, subject string) string {
	t.Helper()
	git(t, root, "add", "-A")
	git(t, root, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", subject)
	return git(t, root, "rev-parse", "HEAD")
}

// edit replaces a text in the working tree.
func edit(t *testing.T, root, from, to string) {
	t.Helper()
	path := filepath.Join(root, "work.go")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(text), from), "%s", from)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(text), from, to, 1)), 0o666))
}

func options(root string) Options {
	o := Default()
	o.Dir, o.Base, o.Rounds, o.Layouts = root, "HEAD", 14, 2
	return o
}

// of returns the finding for a figure.
func of(t *testing.T, r Report, benchmark, figure string) Finding {
	t.Helper()
	for _, f := range r.Findings {
		if f.Benchmark == benchmark && f.Figure == figure {
			return f
		}
	}
	require.Fail(t, "no such figure", "%s of %s in %+v", figure, benchmark, r.Findings)
	return Finding{}
}

// TestPlantedRegressions plants 3 % of time, an allocation, a system call, a lock and a
// tail of 1 in 50 in a module with no configuration, and looks for each. The noise of a machine must not
// make the test fail: an allocation and a system call are counted; of the others one is measured by a clock
// that no machine disturbs, and one is a factor. What the machine did not let the gate see is logged as
// inconclusive, and the gate must not have passed.
func TestPlantedRegressions(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and measures; -short leaves it out")
	}
	root := module(t)
	require.NoError(t, plantAll(root))
	o := options(root)
	o.Times = TimesOn
	report, err := Run(t.Context(), o)
	require.NoError(t, err)
	for _, p := range plants {
		if p.name == "work" {
			continue // a single run may overlook 3 % of real time: Prove counts how often
		}
		f := of(t, report, p.benchmark, p.figure)
		if f.Verdict == Inconclusive || f.Verdict == NotRun {
			t.Logf("INCONCLUSIVE on this machine: planted %s: %s", p.name, f.Note)
			continue
		}
		require.Equal(t, Regression, f.Verdict, "planted %s: %+v", p.name, f)
		t.Logf("planted %s: %s", p.name, f.Note)
	}
	require.Equal(t, ExitRegression, report.ExitCode(), "the allocation is counted: %+v", report)
	requireClean(t, root)
}

// TestProve: a proof of two runs counts both, and refuses one of none.
func TestProve(t *testing.T) {
	o := Default()
	o.Rounds, o.Layouts = 10, 1
	p, err := Prove(t.Context(), o, 1, 1)
	require.NoError(t, err)
	require.Equal(t, 1, p.Equal.Runs)
	require.Len(t, p.Planted, len(plants))
	for _, row := range p.Planted {
		require.Equal(t, 1, row.Runs, "%+v", row)
		if row.Figure == measure.Allocs {
			require.Equal(t, 1, row.Found, "%+v", row)
		}
	}
	_, err = Prove(t.Context(), o, 0, 0)
	require.ErrorContains(t, err, "the numbers of runs are 0 and 0")
}

// TestSoundProof: an alarm, or more than a tenth of the conclusive runs without what was planted, is unsound.
func TestSoundProof(t *testing.T) {
	row := func(found, inconclusive int) Proof {
		return Proof{Planted: []ProofRow{{Runs: 10, Found: found, Inconclusive: inconclusive}}}
	}
	require.True(t, row(9, 0).Sound())
	require.False(t, row(4, 6).Sound(), "too noisy a machine")
	require.False(t, Proof{Figures: 11, blind: map[string][]float64{"B ns/op": make([]float64, 6)}}.Sound(), "too noisy a machine")
	require.True(t, Proof{Figures: 12, blind: map[string][]float64{"B ns/op": make([]float64, 6)}}.Sound())
	require.False(t, row(8, 0).Sound())
	require.True(t, row(5, 5).Sound())
	require.False(t, row(4, 5).Sound())
	p := row(10, 0)
	p.count(Report{Findings: []Finding{{Benchmark: "Op", Figure: "ns/op", Verdict: Regression, Change: 0.1}}}, false)
	require.False(t, p.Sound())
	require.Equal(t, 1, p.Equal.Found)
	require.Equal(t, []string{"Op ns/op: +10.0 %"}, p.Alarms)
}

// TestEqualSides: equal binaries are not measured; with Always they are, and their counts do
// not differ.
func TestEqualSides(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and measures; -short leaves it out")
	}
	root := module(t)
	o := options(root)
	o.Times = TimesOff
	report, err := Run(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, ExitPass, report.ExitCode(), "%+v", report)
	require.Equal(t, Identical, of(t, report, "all", "all").Verdict)
	require.Equal(t, "PASS: both sides are the same binaries", report.Verdict())
	o.Always = true
	report, err = Run(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, ExitPass, report.ExitCode(), "%+v", report)
	require.Equal(t, Pass, of(t, report, "Tail", measure.Allocs).Verdict)
	requireClean(t, root)
}

// TestCountsKeepToTheBudget: a clock that has passed the budget when the counts begin leaves none, and
// the verdict says so. If times are wanted, counts take a third.
func TestCountsKeepToTheBudget(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and measures; -short leaves it out")
	}
	root := module(t)
	o := options(root)
	o.Times, o.Always = TimesOff, true
	began := time.Now()
	calls := 0
	o.now = func() time.Time { // the first call is the begin of the run
		if calls++; calls == 1 {
			return began
		}
		return began.Add(o.Budget + time.Duration(calls))
	}
	report, err := Run(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, ExitInconclusive, report.ExitCode(), "%+v", report)
	f := of(t, report, "Op", allCounts)
	require.Equal(t, NotRun, f.Verdict)
	require.Equal(t, "the budget of 9m0s sufficed for the 0 quickest of 5 benchmarks", f.Note)

	g := gate{Options: o, began: began, report: &Report{}}
	require.Equal(t, began.Add(o.Budget), g.countsUntil())
	g.Times = TimesOn
	require.Equal(t, began.Add(o.Budget/3), g.countsUntil())
}

// TestBlame: the allocation came with the second of three commits, and is in Op.
func TestBlame(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and measures; -short leaves it out")
	}
	root := module(t)
	base := git(t, root, "rev-parse", "HEAD")
	edit(t, root, "turns := 4", "turns := 3+1")
	commit(t, root, "first")
	edit(t, root, `always = ""`, `always = "alloc"`)
	guilty := commit(t, root, "second")
	edit(t, root, "turns := 3+1", "turns := 2+2")
	commit(t, root, "third")
	require.NoError(t, os.Mkdir(filepath.Join(root, "docs"), 0o777))
	for _, page := range []string{"first", "second"} { // the middle of the commits: none changes the program
		require.NoError(t, os.WriteFile(filepath.Join(root, "docs", page+".md"), nil, 0o666))
		commit(t, root, page)
	}
	o := options(root)
	var progress bytes.Buffer
	o.Progress = &progress
	o.Base, o.Run, o.Times, o.Blame = base, regexp.MustCompile("^Op$"), TimesOff, true
	waivers := filepath.Join(t.TempDir(), "waivers")
	require.NoError(t, os.WriteFile(waivers, []byte("example.org/work.Op | B/op | 9999-12-31 | known\n"), 0o666))
	o.Waivers = waivers
	report, err := Run(t.Context(), o)
	require.NoError(t, err)
	culprit := of(t, report, "Op", measure.Allocs).Culprit
	require.Contains(t, culprit, guilty)
	require.Contains(t, culprit, "example.org/work.Op (")
	require.Equal(t, 1, strings.Count(progress.String(), "the gate has already measured this program"), "a commit that changes a page only: %s", progress.String())
	require.Equal(t, Waived, of(t, report, "Op", measure.Bytes).Verdict)
	var table, text, markdown bytes.Buffer
	require.NoError(t, report.WriteTable(&table))
	require.NoError(t, report.WriteJSON(&text))
	require.NoError(t, report.WriteMarkdown(&markdown))
	for _, out := range []string{table.String(), markdown.String()} {
		for _, want := range []string{"REGRESSION: 1 of", "1 more, from 0 to 1", guilty, "until 9999-12-31: known"} {
			require.Contains(t, out, want)
		}
	}
	var back struct{ Exit int }
	require.NoError(t, json.Unmarshal(text.Bytes(), &back))
	require.Equal(t, ExitRegression, back.Exit)
	requireClean(t, root)
}

// TestRefused: sides that cannot be compared are an error, and no file is left.
func TestRefused(t *testing.T) {
	root := module(t)
	for want, spoil := range map[string]func(*Options){
		"base is empty":         func(o *Options) { o.Base = "" },
		`base is "nowhere"`:     func(o *Options) { o.Base = "nowhere" },
		"rounds is 9":           func(o *Options) { o.Rounds = 9 },
		"layouts is 8":          func(o *Options) { o.Layouts = 8 },
		"least is 0.2":          func(o *Options) { o.Least = 0.2 },
		`times is "perhaps"`:    func(o *Options) { o.Times = "perhaps" },
		"keep needs history":    func(o *Options) { o.Keep = true },
		"matches none of the":   func(o *Options) { o.Run, o.Always = regexp.MustCompile("^NoSuch$"), true },
		"want that of a module": func(o *Options) { o.Dir = t.TempDir() },
	} {
		o := options(root)
		spoil(&o)
		_, err := Run(t.Context(), o)
		require.ErrorContains(t, err, want)
	}
	requireClean(t, root)
}

// TestInterruptCleansUp: the worktree is removed, at whichever point the gate is interrupted.
func TestInterruptCleansUp(t *testing.T) {
	root := module(t)
	for _, at := range []string{"checking out", "self-test"} {
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

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) {
	f(p)
	return len(p), nil
}

// requireClean checks that the repository has no worktree besides its own.
func requireClean(t *testing.T, root string) {
	t.Helper()
	require.Len(t, strings.Split(git(t, root, "worktree", "list"), "\n"), 1)
}
