package exectest_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"eventide/props/exectest"
	"eventide/props/exectest/subjects"
)

// TestCheckOutsideTests builds and runs a program that is no test and calls
// Check, as its bubbles need a *testing.T that nobody gives them there.
func TestCheckOutsideTests(t *testing.T) {
	out, err := exec.Command("go", "run", "./testdata/outside").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimRight(string(out), "\n"), "\n")
	want := []string{"     verdict       exercised  guarantee", "G2   pass", "G6   not supported", "G10  FAIL"}
	if len(lines) != len(want) {
		t.Fatalf("got\n%s\nwant %d lines", out, len(want))
	}
	for i, line := range lines {
		if !strings.HasPrefix(line, want[i]) {
			t.Errorf("got %q, want it to begin with %q", line, want[i])
		}
	}
}

// asChild names, in the process that a test starts, what is to be run there.
const asChild = "EXECTEST_CHILD"

// inChild starts this test binary again for one test, whose function does what the
// environment tells it, and returns what it wrote.
func inChild(t *testing.T, what string) (out string, err error) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	child.Env = append(os.Environ(), asChild+"="+what)
	text, err := child.CombinedOutput()
	return string(text), err
}

// TestRunReports reads what a user would of a broken executor: the failure, once,
// with its line to paste and the line of the test, and what was skipped.
func TestRunReports(t *testing.T) {
	if os.Getenv(asChild) != "" {
		exectest.Run(t, bare(subjects.Reorders), exectest.Only("G2", "G4", "G6"))
		return
	}
	out, err := inChild(t, "reorders")
	if err == nil {
		t.Errorf("a broken executor does not fail the test:\n%s", out)
	}
	for _, want := range []string{
		"--- PASS: TestRunReports/G2", "--- FAIL: TestRunReports/G4", "--- SKIP: TestRunReports/G6",
		"outside_test.go:", "not supported: Hooker",
		" -run '^TestRunReports$/^G4$' eventide/props/exectest",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("got\n%s\nwant it to contain %q", out, want)
		}
	}
	if n := strings.Count(out, "G4 tasks begin in the order submitted: task"); n != 1 {
		t.Errorf("the failure is told %d times, want once:\n%s", n, out)
	}
	if strings.Contains(out, "kit.go:") {
		t.Errorf("a line is attributed to the kit, want the caller's:\n%s", out)
	}
}

// TestOneSubtest wants -run to be able to leave every subtest but one out.
func TestOneSubtest(t *testing.T) {
	if os.Getenv(asChild) != "" {
		exectest.Run(t, bare(subjects.Reorders), exectest.Only("G2", "G4"))
		return
	}
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$/^G4$", "-test.v")
	child.Env = append(os.Environ(), asChild+"=G4")
	out, err := child.CombinedOutput()
	if text := string(out); err == nil || !strings.Contains(text, "--- FAIL: TestOneSubtest/G4") || strings.Contains(text, "panic:") || strings.Contains(text, "/G2") {
		t.Errorf("got %v and\n%s\nwant G4 alone, and its failure", err, out)
	}
}

// TestAPanicThatKillsTellsWhatWasFound has an executor that does not recover: G14
// ends the process, after everything else, and its last words are what had failed
// and what to do.
func TestAPanicThatKillsTellsWhatWasFound(t *testing.T) {
	if os.Getenv(asChild) != "" {
		exectest.Run(t, func() exectest.Subject { return subjects.NewChannelled(nil) }, exectest.Rounds(3))
		return
	}
	out, err := inChild(t, "does not recover")
	if err == nil {
		t.Fatalf("a planted panic does not end the process:\n%s", out)
	}
	_, words, _ := strings.Cut(out, "panic: ")
	for _, want := range []string{
		"Recover in your loop", `exectest.Without("G14", "why")`,
		"G16 the first shutdown call wins: ", "G17 no goroutine before first use: 1 ran",
	} {
		if !strings.Contains(words, want) {
			t.Errorf("got the last words\n%s\nwant them to contain %q", words, want)
		}
	}
	if g24, g14 := strings.Index(out, "/G24\n"), strings.Index(out, "RUN   "+t.Name()+"/G14"); g24 < 0 || g14 < g24 {
		t.Errorf("G14 is not checked last:\n%s", out)
	}
}

// fragile does not recover, and has hooks and futures of a sort.
type fragile struct{ *subjects.Channelled }

func (f fragile) AddShutdownHook(hook func()) (func() bool, error) {
	return func() bool { return false }, f.Execute(hook)
}

func (f fragile) Submit(task func() error) exectest.Future {
	over := &future{done: make(chan struct{})}
	if err := f.Execute(func() { over.err = task(); close(over.done) }); err != nil {
		over.err, over.refused = err, true
		close(over.done)
	}
	return over
}

// future is the result of a task of fragile.
type future struct {
	done    chan struct{}
	err     error
	refused bool
}

func (f *future) Done() <-chan struct{} { return f.done }
func (f *future) Refused() bool         { return f.refused }
func (f *future) Err() error            { return f.err }

// TestWithoutG14NothingPanics wants no panic in hooks and futures either when the
// subject is declared not to stand them.
func TestWithoutG14NothingPanics(t *testing.T) {
	factory := func() exectest.Subject { return fragile{subjects.NewChannelled(nil)} }
	if only := os.Getenv(asChild); only != "" {
		exectest.Run(t, factory, exectest.Only(only))
		return
	}
	for _, g := range []string{"G6", "G9"} {
		if out, err := inChild(t, g); err == nil || !strings.Contains(out, "Recover in your loop") {
			t.Errorf("%s: got %v and\n%s\nwant a panic that kills", g, err, out)
		}
		r := exectest.Check(factory, exectest.Only(g, "G14"), exectest.Without("G14", "it does not recover"))
		if row := r.Row(g); row.Programs == 0 { // that we are still here is the rest
			t.Errorf("%s was not checked: %+v", g, row)
		}
	}
}

// TestBadInputInRun wants Run to fail at once, with the line of its caller.
func TestBadInputInRun(t *testing.T) {
	runs := map[string]func(){
		`exectest: Only("g3"): `:                       func() { exectest.Run(t, bare(subjects.None), exectest.Only("g3")) },
		"exectest: the factory returned nil":           func() { exectest.Run(t, func() exectest.Subject { return nil }) },
		"exectest: the run was cut short by runtime.G": func() { exectest.Run(t, func() exectest.Subject { t.Fatal("no"); return nil }) },
	}
	if what := os.Getenv(asChild); what != "" {
		runs[what]()
		t.Log("Run returned")
		return
	}
	for want := range runs {
		out, err := inChild(t, want)
		if err == nil || !strings.Contains(out, want) || !strings.Contains(out, "outside_test.go:") || strings.Contains(out, "kit.go:") {
			t.Errorf("got %v and\n%s\nwant a failure, at this file, that says %q", err, out, want)
		}
		if strings.Contains(out, "Run returned") || strings.Contains(out, "=== RUN   "+t.Name()+"/") {
			t.Errorf("Run went on:\n%s", out)
		}
	}
}
