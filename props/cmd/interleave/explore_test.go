package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"eventide/props/interleave/driver"
)

func TestHealthy(t *testing.T) {
	module(t, "x_test.go", healthy)
	out := want(t, driver.ExitNothing, []string{"test", "-v", "-schedules", "100"}, "self-check: planted bug", "--- PASS: TestHealthy", "100 schedules", "ok  \texample.com/x")
	if strings.Contains(out, "not controlled") {
		t.Errorf("something is not controlled\n%s", out)
	}
}

var replayLine = regexp.MustCompile(`replay: interleave replay (\S+)`)

// A finding is explained, minimised, and repeated from its file.
func TestFindAndReplay(t *testing.T) {
	module(t, "x_test.go", lost)
	out := want(t, driver.ExitFinding, []string{"test", "-schedules", "200"}, "--- FAIL: TestLost", "failed: the test failed",
		"1 updates of 2", "confirmed in a fresh process", "FAIL\texample.com/x")
	m := replayLine.FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("no replay line\n%s", out)
	}
	want(t, driver.ExitFinding, []string{"replay", m[1]}, "reproduced: the verdict and the message of the file", "1 updates of 2")
}

// A module and a cache whose names have blanks lose nothing: positions, names of objects
// and goroutines, and a replay line for a shell.
func TestBlanksInNames(t *testing.T) {
	t.Chdir(t.TempDir())
	cache := filepath.Join(t.TempDir(), "the cache")
	t.Setenv("INTERLEAVE_CACHE", cache)
	write(t, "my module/go.mod", "module example.com/x\n\ngo 1.25\n")
	write(t, "my module/x_test.go", `package x

import (
	"sync"
	"testing"
)

func TestOrder(t *testing.T) {
	var a, b sync.Mutex
	both := func(x, y *sync.Mutex) {
		x.Lock()
		y.Lock()
		y.Unlock()
		x.Unlock()
	}
	go both(&a, &b)
	both(&b, &a)
}
`)
	t.Chdir("my module")
	out := want(t, driver.ExitFinding, []string{"test", "-schedules", "200"}, "cycle: g1 waits for g2 waits for g1", "(lock) at x_test.go:12, which g2 holds", "g2 TestOrder")
	m := regexp.MustCompile(`replay: interleave replay '(.*)'`).FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("no replay line with quotes\n%s", out)
	}
	want(t, driver.ExitFinding, []string{"replay", m[1]}, "reproduced: the verdict and the message of the file")
	want(t, driver.ExitFinding, []string{"test", "-race", "-schedules", "200"}, "which g2 holds")
}

// hunt writes a regression file. test replays it first, and says when it is obsolete.
func TestRegressionFile(t *testing.T) {
	dir := module(t, "x_test.go", lost)
	want(t, driver.ExitFinding, []string{"hunt", "-run", "TestLost", "-schedules", "200", "."}, "testdata/interleave/TestLost-failed-")
	files, err := filepath.Glob(filepath.Join(dir, "testdata/interleave/*.replay"))
	if err != nil || len(files) != 1 {
		t.Fatalf("regression files %v, %v; want one", files, err)
	}
	out := want(t, driver.ExitFinding, []string{"test", "-v", "-schedules", "1"}, "reproduced: the verdict and the message")
	if strings.Index(out, "regression TestLost") > strings.Index(out, "1 schedule in ") {
		t.Errorf("the regression file was not replayed first\n%s", out)
	}

	// A test that is there and left out is no reason to distrust the file.
	write(t, filepath.Join(dir, "y_test.go"), healthy)
	for _, args := range [][]string{{"-run", "TestHealthy"}, {"-skip", "TestLost"}} {
		want(t, driver.ExitNothing, append([]string{"test", "-schedules", "50"}, args...))
	}
	if err := os.Remove(filepath.Join(dir, "y_test.go")); err != nil {
		t.Fatal(err)
	}

	repaired := strings.Replace(lost, "n.Store(n.Load() + 1)", "n.Add(1)", 1)
	write(t, filepath.Join(dir, "x_test.go"), repaired)
	want(t, driver.ExitNothing, []string{"test", "-v", "-schedules", "50"}, "regression TestLost")

	write(t, filepath.Join(dir, "x_test.go"), "package x\n\nimport \"testing\"\n\nfunc TestLost(t *testing.T) {}\n")
	want(t, driver.ExitUndecided, []string{"test", "-schedules", "50"}, "no longer applies: ", "switches were not met: the package's sources have changed")
	want(t, driver.ExitUndecided, []string{"replay", files[0]}, "no longer applies")

	write(t, filepath.Join(dir, "x_test.go"), strings.Replace(repaired, "TestLost", "TestOther", 1))
	const gone = "no longer applies: example.com/x has no test TestLost any more"
	want(t, driver.ExitUndecided, []string{"test", "-schedules", "50"}, gone)
	want(t, driver.ExitUndecided, []string{"test", "-schedules", "50", "-state", "state.json"}, gone)
	want(t, driver.ExitUndecided, []string{"test", "-schedules", "50", "-state", "state.json", "-v"}, gone, "kept in state.json")
	want(t, driver.ExitUndecided, []string{"hunt", "-schedules", "50", "-run", "TestOther"}, gone, "searching with -time mixed")
	write(t, filepath.Join(dir, "y/y_test.go"), strings.Replace(healthy, "package x", "package y", 1))
	want(t, driver.ExitUndecided, []string{"test", "-schedules", "50", "-run", "TestHealthy", "./..."}, gone, "[no tests to run]")
	want(t, driver.ExitUndecided, []string{"replay", files[0]}, "no longer applies")
}

func TestSubtest(t *testing.T) {
	module(t, "x_test.go", strings.Replace(strings.Replace(lost, "TestLost(t *testing.T) {", "TestLost(t *testing.T) {\n\tt.Run(\"sub\", func(t *testing.T) {", 1), "\tif n.Load() != 2 {\n\t\tt.Fatalf(\"%d updates of 2\", n.Load())\n\t}\n", "\tif n.Load() != 2 {\n\t\tt.Fatalf(\"%d updates of 2\", n.Load())\n\t}\n\t})\n", 1))
	want(t, driver.ExitUndecided, []string{"test", "-schedules", "50", "-run", "TestLost/other"}, "not explored: no subtest matches -run")
	want(t, driver.ExitFinding, []string{"test", "-schedules", "200", "-run", "TestLost/sub"}, "1 updates of 2")
}

// One process has several distinct findings: the search goes on after each.
func TestSearchGoesOn(t *testing.T) {
	module(t, "x_test.go", `package x

import (
	"sync"
	"sync/atomic"
	"testing"
)

func TestTwo(t *testing.T) {
	var n, m atomic.Int64
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			n.Store(n.Load() + 1)
			m.Store(m.Load() + 1)
		})
	}
	wg.Wait()
	if n.Load() != 2 {
		t.Fatal("an update of n is lost")
	}
	if m.Load() != 2 {
		t.Fatal("an update of m is lost")
	}
}
`)
	want(t, driver.ExitFinding, []string{"test", "-schedules", "400"}, "an update of n is lost", "an update of m is lost", "finding 2 of 2")
}

func TestRace(t *testing.T) {
	module(t, "x_test.go", `package x

import "testing"

func TestRace(t *testing.T) {
	n, done := 0, make(chan bool)
	go func() {
		n++
		done <- true
	}()
	n++
	<-done
}
`)
	want(t, driver.ExitNothing, []string{"test", "-schedules", "50"})
	want(t, driver.ExitFinding, []string{"test", "-schedules", "50", "-race"}, "race: two goroutines access the same memory", "x_test.go:11 and ", "x_test.go:8\n")
}

// What a test prints to standard output is no part of the protocol, and is shown.
func TestOutputBetweenSchedules(t *testing.T) {
	noisy := strings.Replace(lost, "var wg sync", "os.Stdout.WriteString(\"finding verdict=failed\\n--- FAIL: TestOther (0.00s)\\n\")\n\tvar wg sync", 1)
	noisy = strings.Replace(noisy, "import (", "import (\n\t\"os\"", 1)
	module(t, "x_test.go", noisy)
	want(t, driver.ExitFinding, []string{"test", "-schedules", "200"}, "the test printed", "    finding verdict=failed", "1 updates of 2")
}

func TestExits(t *testing.T) {
	for code, text := range map[string]string{"0": "unexpected call to os.Exit(0)", "3": "exited: the test ended the process"} {
		module(t, "x_test.go", "package x\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestExits(t *testing.T) { os.Exit("+code+") }\n")
		want(t, driver.ExitFinding, []string{"test", "-schedules", "5"}, "--- FAIL: TestExits", "fails without control too", text)
	}
}

// A test that fails without control too is said to.
func TestFailsPlainly(t *testing.T) {
	module(t, "x_test.go", "package x\n\nimport \"testing\"\n\nfunc TestBad(t *testing.T) { t.Fatal(\"always\") }\n")
	want(t, driver.ExitFinding, []string{"test", "-schedules", "5"}, "fails without control too: x_test.go:5: always", "failed: the test failed")
}

// A test that needs an earlier test fails alone, and is said to.
func TestNeedsAnother(t *testing.T) {
	module(t, "x_test.go", `package x

import "testing"

var ready bool

func TestFirst(t *testing.T) { ready = true }

func TestSecond(t *testing.T) {
	if !ready {
		t.Fatal("not ready")
	}
}
`)
	want(t, driver.ExitFinding, []string{"test", "-schedules", "5"}, "--- FAIL: TestSecond", "fails without control too if it runs alone, and not after the other tests: x_test.go:11: not ready")
}

// A test that another test makes able to run again cannot run twice alone.
func TestOnceInAProcessAlone(t *testing.T) {
	module(t, "x_test.go", `package x

import "testing"

var runs int

func TestReset(t *testing.T) { runs = 0 }

func TestOnce(t *testing.T) {
	if runs++; runs > 1 {
		t.Fatal("runs again")
	}
}
`)
	want(t, driver.ExitNothing, []string{"test", "-v", "-schedules", "5"}, "it cannot run twice in one process", "5 schedules")
}

// A first run that is much longer than the second one, which fails at its start, does not
// hide that the test cannot run twice.
func TestOnceInAProcessAfterALongRun(t *testing.T) {
	module(t, "x_test.go", `package x

import (
	"sync"
	"testing"
)

var ran bool
var mu sync.Mutex

func TestOnce(t *testing.T) {
	if ran {
		t.Fatal("it ran before")
	}
	ran = true
	for range 100000 {
		mu.Lock()
		mu.Unlock()
	}
}

func TestReset(t *testing.T) { ran = false }
`)
	want(t, driver.ExitNothing, []string{"test", "-v", "-schedules", "5"}, "it cannot run twice in one process", "5 schedules")
}

// A second run that takes so long that there is no time to minimise its failure does not
// hide that the test cannot run twice either.
func TestOnceInAProcessSlowly(t *testing.T) {
	module(t, "x_test.go", `package x

import (
	"sync"
	"syscall"
	"testing"
)

var ran bool

func TestOnce(t *testing.T) {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {})
	}
	wg.Wait()
	if ran {
		pause := syscall.NsecToTimespec(5e9)
		syscall.Nanosleep(&pause, nil)
		t.Fatal("it ran before")
	}
	ran = true
}

func TestReset(t *testing.T) { ran = false }
`)
	want(t, driver.ExitNothing, []string{"test", "-v", "-schedules", "5"}, "it cannot run twice in one process", "5 schedules")
}

// A test that cannot run twice in one process gets a process for each schedule.
func TestCannotRunTwice(t *testing.T) {
	module(t, "x_test.go", "package x\n\nimport \"testing\"\n\nvar ran bool\n\nfunc TestOnce(t *testing.T) {\n\tif ran {\n\t\tt.Fatal(\"again\")\n\t}\n\tran = true\n}\n")
	want(t, driver.ExitNothing, []string{"test", "-v", "-schedules", "5"}, "it cannot run twice in one process", "5 schedules")
}

func TestSkips(t *testing.T) {
	module(t, "x_test.go", "package x\n\nimport \"testing\"\n\nfunc TestSkips(t *testing.T) { t.Skip(\"no\") }\n")
	want(t, driver.ExitNothing, []string{"test", "-v", "-schedules", "5"}, "--- SKIP: TestSkips")
}

// A test that never ends and comes to no operation is killed.
func TestNeverEnds(t *testing.T) {
	module(t, "x_test.go", "package x\n\nimport \"testing\"\n\nvar n int\n\nfunc TestSpins(t *testing.T) {\n\tfor {\n\t\tn++\n\t}\n}\n")
	want(t, driver.ExitFinding, []string{"test", "-schedules", "5", "-timeout", "3s"}, "--- FAIL: TestSpins", "hung: a schedule did not end", "it did not end within 1s without control")
}

// The default schedule has no end. Others have, so the test is not too large.
func TestEndlessByDefault(t *testing.T) {
	module(t, "x_test.go", `package x

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

func TestPolite(t *testing.T) {
	var want [2]atomic.Bool
	var turns atomic.Int64
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() {
			want[i].Store(true)
			for i == 1 && want[0].Load() && turns.Add(1) < 200000 {
				runtime.Gosched()
			}
		})
	}
	wg.Wait()
}
`)
	want(t, driver.ExitFinding, []string{"test", "-steps", "20000", "-schedules", "20"}, "livelock: goroutines run for ever", "confirmed in a fresh process")
	want(t, driver.ExitNothing, []string{"test", "-steps", "1000000", "-schedules", "20"}, "ok  ")
}

// A test that is too large is undecided, and the report says what it needs.
func TestTooLarge(t *testing.T) {
	module(t, "x_test.go", `package x

import (
	"sync/atomic"
	"testing"
)

func TestLarge(t *testing.T) {
	var n atomic.Int64
	for range 100000 {
		n.Add(1)
	}
}
`)
	out := want(t, driver.ExitUndecided, []string{"test", "-steps", "10000", "-schedules", "20"}, "one has at least 30001, and -steps raises the limit",
		"the default schedule is undecided, so processes have no warm-up")
	if strings.Contains(out, "fails") {
		t.Errorf("a schedule that is undecided is said to fail\n%s", out)
	}
	want(t, driver.ExitNothing, []string{"test", "-steps", "200000", "-schedules", "20"}, "ok  ")
}
