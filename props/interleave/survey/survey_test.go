package survey

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"eventide/props/interleave/driver"
	"eventide/props/interleave/evidence"
)

func file(t *testing.T, name, text string) string {
	t.Helper()
	if !filepath.IsAbs(name) {
		name = filepath.Join(t.TempDir(), name)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestReadList(t *testing.T) {
	all, err := ReadList(file(t, "list", "# a comment\nexample.com/a v1.0.0\n\nexample.com/b/v2 v2.1.0 ./x ./y # why\n"))
	if err != nil || len(all) != 2 {
		t.Fatalf("%v, %v; want two modules", all, err)
	}
	if b := all[1]; b.Path != "example.com/b/v2" || b.Version != "v2.1.0" || strings.Join(b.Packages, " ") != "./x ./y" || b.Name() != "example.com_b_v2" {
		t.Errorf("%+v", b)
	}
	for _, bad := range []string{"example.com/a\n", "example.com/a v1\nexample.com/a v2\n"} {
		if _, err := ReadList(file(t, "list", bad)); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

// Explore reports each test of a module: one that loses an update, one that skips
// itself, and a package that does not build.
func TestExplore(t *testing.T) {
	t.Setenv("INTERLEAVE_CACHE", t.TempDir())
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "")
	dir := t.TempDir()
	file(t, filepath.Join(dir, "go.mod"), "module example.com/x\n\ngo 1.25\n")
	file(t, filepath.Join(dir, "x_test.go"), `package x

import (
	"sync"
	"sync/atomic"
	"testing"
)

func TestLost(t *testing.T) {
	var n atomic.Int64
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { n.Store(n.Load() + 1) })
	}
	wg.Wait()
	if n.Load() != 2 {
		t.Error("an update is lost")
	}
}

func TestSkips(t *testing.T) { t.Skip() }
`)
	if err := os.Mkdir(filepath.Join(dir, "bad"), 0o755); err != nil {
		t.Fatal(err)
	}
	file(t, filepath.Join(dir, "bad", "bad_test.go"), "package bad\n\nvar x int = \"\"\n")
	var reports, pages bytes.Buffer
	if err := Explore(Module{Path: "example.com/x"}, dir, Options{Schedules: 100}, &reports, &pages); err != nil {
		t.Fatalf("%v\n%s", err, &pages)
	}
	name := file(t, "reports", reports.String()+`{"Package": "cut in the mid`)
	r := &Result{Module: "example.com/x"}
	if err := r.read(name); err != nil {
		t.Fatal(err)
	}
	if r.Tests != 2 || r.Run != 1 || r.NotRun["skips itself"] != 1 || r.NotRun["does not build"] != 1 || r.Schedules < 50 {
		t.Errorf("%v\n%s", r, &pages)
	}
	if len(r.Findings) != 1 || r.Findings[0].Test != "TestLost" || r.Findings[0].Repeats != "minimal" || r.Verdicts["failed"] != 1 {
		t.Errorf("findings %+v, want the lost update\n%s", r.Findings, &pages)
	}
}

// A failure of the tool is an error, and not the end of a module without findings.
func TestFailureOfTheTool(t *testing.T) {
	t.Setenv("INTERLEAVE_CACHE", t.TempDir())
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "")
	dir := t.TempDir()
	file(t, filepath.Join(dir, "go.mod"), "module example.com/x\n\ngo 1.25\n")
	file(t, filepath.Join(dir, "x_test.go"), `package x

import (
	"os"
	"testing"
)

func TestGarbage(t *testing.T) {
	os.NewFile(3, "records").WriteString("finding nonsense\n")
}
`)
	var reports, pages bytes.Buffer
	err := Explore(Module{Path: "example.com/x"}, dir, Options{Schedules: 10}, &reports, &pages)
	if err == nil || !strings.Contains(err.Error(), "record") {
		t.Errorf("got %v\n%s\n%s", err, &reports, &pages)
	}
}

func TestClasses(t *testing.T) {
	all, err := readClasses(file(t, "classes", "# a comment\nexample.com/x | TestA.* | ^deadlock | module | Close waits for itself.\nexample.com/x | TestA | failed | test | It sleeps.\n"))
	if err != nil {
		t.Fatal(err)
	}
	for verdict, want := range map[string]string{"deadlock": Defect, "failed": TestDefect, "race": Unread} {
		f := &Finding{Test: "TestA", Finding: driver.Finding{Verdict: verdict}}
		if got, _ := all.of("example.com/x", f); got != want {
			t.Errorf("class of %s is %s, want %s", verdict, got, want)
		}
	}
	for _, bad := range []string{"a | b | c | module", "a | b | c | bug | d", "a | ( | c | module | d"} {
		if _, err := readClasses(file(t, "classes", bad)); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

// The page states the kept results, each finding has been read, and each class applies.
func TestKeptResults(t *testing.T) {
	const root = "../../../"
	list, err := ReadList(root + "testdata/interleave/modules.txt")
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]*Kept{}
	for part, name := range map[string]string{"modules": "modules.json", "modules-race": "modules-race.json"} {
		k, err := ReadKept(root + "testdata/interleave/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := Page(root+"docs/interleave.md", part, k.Table(list), true); err != nil {
			t.Error(err)
		}
		kept[part] = k
	}
	h, err := evidence.ReadHealthy(root + "testdata/interleave/healthy.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := Page(root+"docs/interleave.md", "healthy", h.Table(), true); err != nil {
		t.Error(err)
	}
	if sum := h.Total(); sum.Schedules < 1e6 || sum.Findings != 0 || len(h.Rows) != len(HealthyPackages) {
		t.Errorf("%d schedules of healthy tests, %d false alarms, %d packages; want a million, none, %d", sum.Schedules, sum.Findings, len(h.Rows), len(HealthyPackages))
	}
	classes, err := readClasses(root + "testdata/interleave/findings.txt")
	if err != nil {
		t.Fatal(err)
	}
	listed, err := ReadList(root + "testdata/interleave/modules.txt")
	if err != nil {
		t.Fatal(err)
	}
	replays, err := filepath.Glob(root + "testdata/interleave/found/*.replay")
	if err != nil || len(replays) == 0 {
		t.Errorf("%d replay files, %v", len(replays), err)
	}
	for _, name := range replays {
		if _, err := driver.ReadReplay(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	versions := map[string]string{}
	for _, m := range listed {
		versions[m.Path] = m.Version
	}
	for _, r := range slices.Concat(kept["modules"].Modules, kept["modules-race"].Modules) {
		if r.Commit == "" {
			t.Errorf("%s does not say which sources the tool was built from", r.Module)
		}
		if versions[r.Module] != r.Version {
			t.Errorf("%s %s is not the listed version", r.Module, r.Version)
		}
		for _, f := range r.Findings {
			if class, about := classes.of(r.Module, &f); class != f.Class || about != f.About || class == Unread {
				t.Errorf("%s %s, %s: class %q, %q by findings.txt", r.Module, f.Test, f.Verdict, f.Class, class)
			}
		}
	}
}

// A page without the marks, and one with another table, are errors.
func TestPage(t *testing.T) {
	var k Kept
	list := []Module{{Path: "example.com/b", Version: "v1.0.0"}, {Path: "example.com/z", Version: "v2.0.0"}, {Path: "example.com/aa", Version: "v3.0.0"}}
	if text := k.Table(list); text != "Not run.\n" {
		t.Errorf("%q for no modules", text)
	}
	k.Put(&Result{Module: "example.com/b", Version: "v1.0.0", Commit: "abc", Tests: 3, Run: 2, Findings: []Finding{{Class: Defect}}})
	k.Put(&Result{Module: "example.com/a", Version: "v0.0.0-20200101000000-abcdef", Tests: 1})
	k.Put(&Result{Module: "example.com/a", Version: "v0.0.0-20200101000000-abcdef", Tests: 2})
	page := file(t, "page", "before\n<!-- modules: begin -->\nold\n<!-- modules: end -->\nafter\n")
	if err := Page(page, "modules", k.Table(list), true); err == nil {
		t.Error("the old table is accepted")
	}
	if err := Page(page, "modules", k.Table(list), false); err != nil {
		t.Fatal(err)
	}
	if err := Page(page, "modules", k.Table(list), true); err != nil {
		t.Error(err)
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"before\n", "after\n", "example.com/a v0.0.0-20200101000000 | 2 |", "2 modules, 5 tests, 2 of them run", "(1 module)", "| 1 module | abc |",
		"| example.com/aa v3.0.0 | - | - | **the module was not run** | - | - | - | - | - |\n| example.com/b v1.0.0 |",
		"| example.com/z v2.0.0 | - | - | **the module was not run** | - | - | - | - | - |\n\n2 modules"} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if err := Page(file(t, "page", "no marks\n"), "modules", k.Table(list), false); err == nil {
		t.Error("a page without marks is accepted")
	}
}
