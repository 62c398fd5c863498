package measure

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"eventide/props/interleave/evidence"
	"eventide/props/interleave/kernels"
	"eventide/props/interleave/overlay"
	"eventide/props/interleave/protocol"
)

// TestMain runs the tests in the root of the repository, as the functions expect.
func TestMain(m *testing.M) {
	if err := os.Chdir("../../.."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// controlled compiles the kernels with the overlay.
func controlled(t *testing.T) *binary {
	t.Helper()
	file, _, err := overlayOf()
	if err != nil {
		t.Fatal(err)
	}
	b, err := compile(KernelDir, filepath.Join(t.TempDir(), "kernels.test"), overlay.BuildFlags(file)...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A search needs as many schedules in each process, another seed needs others, and
// nothing is found in a twin.
func TestSearch(t *testing.T) {
	b := controlled(t)
	find := func(kernel, strategy string, seed uint64) uint64 {
		t.Helper()
		row := &evidence.Row{Kernel: kernel, Verdicts: []string{protocol.Failed}}
		s := &search{binary: b, row: row, strategy: strategy, seed: seed, limit: 200, bound: 1}
		n, err := s.run()
		if err != nil {
			t.Fatal(err)
		}
		if strategy == protocol.StrategyDFS && n == 0 && !s.complete {
			t.Errorf("%s: the exhaustive search is not complete", kernel)
		}
		return n
	}
	seen := map[uint64]bool{}
	for seed := range uint64(5) {
		n := find("TestPublication", protocol.StrategyWalk, seed+1)
		if again := find("TestPublication", protocol.StrategyWalk, seed+1); n != again || n < 2 {
			t.Errorf("seed %d: %d schedules, then %d", seed+1, n, again)
		}
		seen[n] = true
	}
	if len(seen) < 2 {
		t.Errorf("five seeds need %v schedules", seen)
	}
	for _, strategy := range []string{protocol.StrategyPCT3, protocol.StrategyDFS} {
		if n := find("TestPublicationRepaired", strategy, 1); n != 0 {
			t.Errorf("%s finds something in a twin after %d schedules", strategy, n)
		}
		if n := find("TestPublication", strategy, 1); n == 0 {
			t.Errorf("%s finds nothing", strategy)
		}
	}
	// The bug of this kernel is on the default schedule, which is the warm-up, and has
	// another verdict than the one that is looked for.
	if n := find("TestGroupLimit", protocol.StrategyWalk, 1); n != 0 {
		t.Errorf("a deadlock counts as a failure after %d schedules", n)
	}
}

// The tools find what they are for, and nothing in the twins.
func TestTools(t *testing.T) {
	dir := t.TempDir()
	extra, err := writeWrappers(dir, KernelDir, []string{"TestTickerLeak", "TestGroupLimit"})
	if err != nil {
		t.Fatal(err)
	}
	l := &laboratory{limits: evidence.Limits{Batches: 1, Runs: 100, Timeout: 5}}
	if l.plain, err = compile(KernelDir, filepath.Join(dir, "plain.test")); err != nil {
		t.Fatal(err)
	}
	if l.wrappers, err = compile(KernelDir, filepath.Join(dir, "wrappers.test"), "-overlay="+extra); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ tool, kernel, want string }{
		{evidence.GoTest, "TestTickerLeak", ""},
		{evidence.Goleak, "TestTickerLeak", "leak"},
		{evidence.Synctest, "TestTickerLeak", "leak"},
		{evidence.Synctest, "TestGroupLimit", "deadlock"},
		{evidence.Goleak, "TestGroupLimit", hung},
		{evidence.GoTest, "TestAddAfterWait", "failed"},
	} {
		tool := &evidence.Tool{Tool: c.tool}
		if err := l.tool(&evidence.Row{Kernel: c.kernel}, tool); err != nil {
			t.Fatal(err)
		}
		if tool.Found() != tool.How[c.want] || c.want != "" && tool.Found() == 0 || len(tool.Twin) != 0 {
			t.Errorf("%s, %s: %+v, want %q", c.tool, c.kernel, tool, c.want)
		}
	}
	if _, _, err := l.batch(evidence.GoTest, "TestNoSuchKernel"); err == nil {
		t.Error("a batch without a run counts")
	}
}

func TestHowFailed(t *testing.T) {
	for output, want := range map[string]string{
		"--- FAIL: TestX": "failed", "panic: test timed out after 5s": hung, "fatal error: all goroutines are asleep - deadlock!": "deadlock",
		"panic: send on closed channel": "panicked", "WARNING: DATA RACE\npanic: x": "race",
	} {
		if got := howFailed(output); got != want {
			t.Errorf("%q: got %q, want %q", output, got, want)
		}
	}
	if n := countRuns("=== RUN   TestX\n=== RUN   TestX/TestA\n=== RUN   TestX/TestAB\n", "TestA"); n != 1 {
		t.Errorf("%d runs, want 1", n)
	}
}

// The time of a measurement ends it, and the rest is not run.
func TestOutOfTime(t *testing.T) {
	l := &laboratory{until: time.Now().Add(-time.Second)}
	row := &evidence.Row{Kernel: "TestABA"}
	if err := l.measure(row); err != nil {
		t.Fatal(err)
	}
	for _, c := range row.Strategies {
		if c.NotRun == "" {
			t.Errorf("%+v", c)
		}
	}
	if len(row.Strategies) != len(strategies)+1 || len(row.Tools) != len(evidence.Tools) || row.Tools[0].NotRun == "" {
		t.Errorf("%+v", row)
	}
}

// Schedules that depend on the process are told apart from schedules that do not.
func TestRepeat(t *testing.T) {
	source := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module x\n\ngo 1.26\n", "x_test.go": `package x

import (
	"os"
	"sync"
	"testing"
)

func TestSame(t *testing.T) { spawn(3) }

func TestPid(t *testing.T) { spawn(os.Getpid() % 1000) }

func TestFails(t *testing.T) { t.Fail() }

func spawn(n int) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for range n {
				mu.Lock()
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}
`} {
		if err := os.WriteFile(filepath.Join(source, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, _, err := overlayOf()
	if err != nil {
		t.Fatal(err)
	}
	b, err := compile(source, filepath.Join(t.TempDir(), "x.test"), overlay.BuildFlags(file)...)
	if err != nil {
		t.Fatal(err)
	}
	names, err := b.tests("^Test[^F]")
	if err != nil || !slices.Equal(names, []string{"TestSame", "TestPid"}) {
		t.Errorf("tests %v, %v", names, err)
	}
	same, pid := evidence.Repeated{Test: "TestSame"}, evidence.Repeated{Test: "TestPid"}
	if err := errors.Join(b.repeat(&same, 20, 6), b.repeat(&pid, 20, 6)); err != nil {
		t.Fatal(err)
	}
	if same.Different != 0 || same.Uncontrolled != 0 || pid.Different == 0 {
		t.Errorf("%+v, %+v", same, pid)
	}
	if err := b.repeat(&evidence.Repeated{Test: "TestFails"}, 5, 2); err == nil {
		t.Error("a test that fails is repeated")
	}
}

// Of several rounds the best of each line counts, and other lines are an error.
func TestSpeed(t *testing.T) {
	first := `go1.26.8 linux/amd64
build                                                     2.5s
three goroutines, load and store                         97000 schedules/s     101000 of processor time
a process for each schedule, -race                         300 schedules/s        400 of processor time
`
	second := strings.NewReplacer("2.5s", "120ms", "97000", "90000", "101000", "103000").Replace(first)
	s, err := Speed([]string{first, second})
	if err != nil {
		t.Fatal(err)
	}
	want := []evidence.Rate{{What: "build", Build: 0.12}, {What: "three goroutines, load and store", PerSecond: 97000, PerCPU: 103000},
		{What: "a process for each schedule, -race", PerSecond: 300, PerCPU: 400}}
	if !slices.Equal(s.Rows, want) || s.Rounds != 2 {
		t.Errorf("%+v", s)
	}
	for _, bad := range []string{"", "go1.26.8 linux/amd64\n", "go1.26.8\nnonsense", "go1.26.8\nbuild      soon", strings.Replace(first, "load and store", "locks", 1)} {
		if _, err := Speed([]string{first, bad}); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

// The kept figures are of the kernels as they are, each cell is there, and the page
// states them.
func TestKeptKernels(t *testing.T) {
	k, err := evidence.ReadKernels("testdata/interleave/kernels.json")
	if err != nil {
		t.Fatal(err)
	}
	sources, err := SourcesOf(KernelDir)
	if err != nil {
		t.Fatal(err)
	}
	if k.Sources != sources {
		t.Errorf("the figures are of kernels %s, and the kernels are %s: run make interleave-kernels", k.Sources, sources)
	}
	verdicts := kernels.Verdicts()
	if len(k.Rows) != len(verdicts) || k.Limits.Seeds < 5 {
		t.Errorf("%d rows of %d kernels, %d seeds", len(k.Rows), len(verdicts), k.Limits.Seeds)
	}
	for _, r := range k.Rows {
		if !slices.Equal(verdicts[r.Kernel], r.Verdicts) || r.Class == "" {
			t.Errorf("%+v: want verdicts %v and a class", r, verdicts[r.Kernel])
		}
		for _, name := range append(slices.Clone(strategies), evidence.Exhaustive) {
			seeds := k.Limits.Seeds
			if name == evidence.Exhaustive {
				seeds = 1
			}
			if c := r.Cell(name); c == nil || c.NotRun == "" && len(c.Schedules) != seeds {
				t.Errorf("%s, %s: %+v", r.Kernel, name, c)
			}
		}
		for _, name := range evidence.Tools {
			if c := r.Tool(name); c == nil || c.NotRun == "" && len(c.Runs) != k.Limits.Batches {
				t.Errorf("%s, %s: %+v", r.Kernel, name, c)
			}
		}
	}
	page, err := k.Page()
	if err != nil {
		t.Fatal(err)
	}
	if err := evidence.Render("docs/kernels.md", page, true); err != nil {
		t.Error(err)
	}
}

// The kept comparison has a row for each package, and is of as many processes as the
// pages claim.
func TestKeptDeterminism(t *testing.T) {
	d, err := evidence.ReadDeterminism("testdata/interleave/determinism.json")
	if err != nil {
		t.Fatal(err)
	}
	if d.Schedules < 100 || d.Processes < 20 || d.Load < 1 {
		t.Errorf("%d schedules in %d processes beside %d busy goroutines, want 100, 20 and 1 at least", d.Schedules, d.Processes, d.Load)
	}
	for _, p := range controlledTests {
		if !slices.ContainsFunc(d.Rows, func(r evidence.Repeated) bool { return r.Package == strings.TrimPrefix(p.dir, "props/interleave/") }) {
			t.Errorf("there is no row of %s", p.dir)
		}
	}
}
