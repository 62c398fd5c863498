package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"eventide/props/interleave/driver"
)

// TestMain gives the tests a cache of their own. The go command's build cache is the
// user's, so the standard library is compiled with the overlay once and not in each run.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "interleave")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Setenv("INTERLEAVE_CACHE", dir)
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// module writes a module into a temporary directory and makes it the current one.
// Files are pairs of a name and a text.
func module(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module example.com/x\n\ngo 1.25\n")
	for i := 0; i < len(files); i += 2 {
		write(t, filepath.Join(dir, files[i]), files[i+1])
	}
	t.Chdir(dir)
	return dir
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// call runs one command line and returns what it printed, both streams together.
func call(t *testing.T, args ...string) (int, string) {
	t.Helper()
	var out bytes.Buffer
	code := run(args, &out, &out)
	return code, out.String()
}

// want fails unless the command line has the exit code and prints all the texts.
func want(t *testing.T, code int, args []string, texts ...string) string {
	t.Helper()
	got, out := call(t, args...)
	if got != code {
		t.Errorf("interleave %s: exit code %d, want %d\n%s", strings.Join(args, " "), got, code, out)
	}
	for _, text := range texts {
		if !strings.Contains(out, text) {
			t.Errorf("interleave %s: no %q in the output\n%s", strings.Join(args, " "), text, out)
		}
	}
	return out
}

const healthy = `package x

import (
	"sync"
	"testing"
)

func TestHealthy(t *testing.T) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			mu.Lock()
			mu.Unlock()
		})
	}
	wg.Wait()
}
`

const lost = `package x

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
		t.Fatalf("%d updates of 2", n.Load())
	}
}
`

func TestUnknownCommand(t *testing.T) {
	want(t, driver.ExitInput, nil, "usage:")
	want(t, driver.ExitInput, []string{"explore"}, `there is no command "explore"`)
	want(t, driver.ExitNothing, []string{"help"}, "exit codes:")
	want(t, driver.ExitNothing, []string{"test", "-h"}, "-schedules")
}

func TestBadFlags(t *testing.T) {
	module(t, "x_test.go", healthy)
	for _, c := range []struct {
		args string
		text string
	}{
		{"test -nosuch", "not defined: -nosuch"},
		{"test -bench .", "-bench of go test is not supported"},
		{"test . -cover", "-cover of go test is not supported"},
		{"test -budget x", "invalid value"},
		{"test -budget -1s", "-budget is -1s, want more than 0"},
		{"test -schedules 0", "-schedules is 0, want more than 0"},
		{"test -count 0", "-count is 0, want more than 0"},
		{"test -strategy best", `-strategy is "best", want one of mix, walk`},
		{"test -time fast", `-time is "fast", want one of idle, mixed, early`},
		{"test -net virtual", `-net is "virtual", want one of memory, real`},
		{"test -exhaust 2 -strategy walk", "-exhaust and -strategy exclude each other"},
		{"test -exhaust 2 -schedules 9", "-exhaust and -schedules exclude each other"},
		{"test -exhaust -2", "-exhaust is -2, want at least 0"},
		{"test -p 0", "-p is 0, want more than 0"},
		{"test -seed 0", "-seed is 0, want more than 0"},
		{"test -steps 0", "-steps is 0, want more than 0"},
		{"test -parallel -1", "-parallel is -1, want more than 0"},
		{"test -timeout 0s", "-timeout is 0s, want more than 0"},
		{"test -faults fire", "-faults fire: want all, or some of [short reset slow files contexts cancels]"},
		{"test -faults all -exhaust 2", "exclude each other"},
		{"test -run (", "-run (:"},
		{"hunt", "-run has to name the test"},
		{"replay", "want one file"},
		{"replay nosuch.replay", "no such file"},
		{"doctor x", "doctor takes no packages"},
		{"replay -budget 3s x", "not defined: -budget"},
		{"merge -race x", "not defined: -race"},
		{"doctor -schedules 3", "not defined: -schedules"},
		{"bench -run X", "not defined: -run"},
	} {
		out := want(t, driver.ExitInput, strings.Fields(c.args), "interleave", c.text)
		if strings.Count(out, "\n") != 1 {
			t.Errorf("interleave %s: want one line\n%s", c.args, out)
		}
	}
}

func TestNoTests(t *testing.T) {
	module(t, "x_test.go", healthy, "empty/y.go", "package empty\n", "example/e_test.go", "package example\n\nfunc ExampleX() {\n\t// Output:\n}\n")
	want(t, driver.ExitInput, []string{"test", "-run", "NoSuch"}, "no tests match -run NoSuch")
	want(t, driver.ExitInput, []string{"test", "./empty"}, "no tests in example.com/x/empty")
	want(t, driver.ExitInput, []string{"test", "./example"}, "examples, fuzz tests and benchmarks (ExampleX) do not run under control")
	write(t, "b_test.go", "package x\n\nimport \"testing\"\n\nfunc BenchmarkX(b *testing.B) {}\n")
	want(t, driver.ExitInput, []string{"test", "-run", "BenchmarkX"}, "examples, fuzz tests and benchmarks (BenchmarkX) do not run under control")
	want(t, driver.ExitNothing, []string{"test", "-schedules", "5"}, "not explored: 1 example, fuzz test or benchmark (BenchmarkX)")
	want(t, driver.ExitInput, []string{"test", "./nosuch"}, "nosuch")
	want(t, driver.ExitInput, []string{"test", "sync"}, "standard library")
}

func TestDoesNotBuild(t *testing.T) {
	module(t, "x_test.go", healthy, "bad/b_test.go", "package bad\n\nimport \"testing\"\n\nfunc TestB(t *testing.T) { undefined() }\n")
	out := want(t, driver.ExitInput, []string{"test", "-schedules", "5", "./..."}, "undefined: undefined", "FAIL\texample.com/x/bad", "[build failed]")
	if !strings.Contains(out, "ok  \texample.com/x\t") {
		t.Errorf("the other package was not explored\n%s", out)
	}
}

func TestCgo(t *testing.T) {
	module(t, "c/c.go", "package c\n\n// int one() { return 1; }\nimport \"C\"\n\nfunc One() int { return int(C.one()) }\n",
		"x_test.go", "package x\n\nimport (\n\t\"testing\"\n\n\t\"example.com/x/c\"\n)\n\nfunc TestC(t *testing.T) { c.One() }\n")
	t.Setenv("CGO_ENABLED", "1")
	want(t, driver.ExitInput, []string{"test"}, "cgo is not supported, and is used by example.com/x/c")
}

func TestUnsupportedRelease(t *testing.T) {
	dir := module(t, "x_test.go", healthy)
	real, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	// A go command that claims to be of another release.
	fake := "#!/bin/sh\nif [ \"$1\" = env ]; then\n" + real + " \"$@\" | sed 's/\"GOVERSION\": \".*\"/\"GOVERSION\": \"go1.99.1\"/'\nelse exec " + real + " \"$@\"\nfi\n"
	write(t, filepath.Join(dir, "bin", "go"), fake)
	if err := os.Chmod(filepath.Join(dir, "bin", "go"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	want(t, driver.ExitInput, []string{"test"}, "go1.99.1", "not supported", "go1.26")
}

func TestUnsupportedSystem(t *testing.T) {
	module(t, "x_test.go", healthy)
	t.Setenv("GOOS", "darwin")
	want(t, driver.ExitInput, []string{"test"}, "darwin/"+runtime.GOARCH+" is not supported", "linux/amd64")
	t.Setenv("GOOS", "linux")
	t.Setenv("GOARCH", "386")
	want(t, driver.ExitInput, []string{"test"}, "linux/386 is not supported", "linux/amd64")
}

func TestReadOnlyCache(t *testing.T) {
	dir := module(t, "x_test.go", healthy)
	write(t, filepath.Join(dir, "file"), "") // a directory below a file cannot be made, not even by root
	t.Setenv("INTERLEAVE_CACHE", filepath.Join(dir, "file", "cache"))
	want(t, driver.ExitInput, []string{"test"}, "the cache cannot be written", "INTERLEAVE_CACHE")
}

func TestFlagsAroundPackages(t *testing.T) {
	c := newCommand("test", &bytes.Buffer{}, &bytes.Buffer{})
	if err := c.parse(strings.Fields("./a -run X ./b -race -args -v ./c")); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(c.opts.Patterns, c.opts.Run, c.opts.Race, c.opts.Args, c.opts.Verbose); got != "[./a ./b]Xtrue [-v ./c] false" {
		t.Errorf("got %s", got)
	}
}
