package main

import (
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"eventide/props/interleave/driver"
)

// A test that closes the descriptor of the records is not explored, and the run says so.
func TestClosesTheRecords(t *testing.T) {
	module(t, "x_test.go", `package x

import (
	"syscall"
	"testing"
)

func TestCloses(t *testing.T) {
	for fd := 3; fd < 20; fd++ {
		syscall.Close(fd)
	}
}
`)
	want(t, driver.ExitUndecided, []string{"test", "-schedules", "5"}, "TestCloses: undecided: the process closed the descriptor on which it reports")
}

// What the environment asks for, and chosen schedules cannot have, is refused by name.
func TestBadEnvironment(t *testing.T) {
	dir := module(t, "x_test.go", healthy)
	for _, c := range []struct{ name, value, text string }{
		{"GOOS", "windows", "windows/amd64 is not supported: the supported systems are linux/amd64"},
		{"GOARCH", "386", "linux/386 is not supported"},
		{"GOFLAGS", "-race", "GOFLAGS has -race: give it to interleave instead"},
		{"GOFLAGS", "-overlay=x", "GOFLAGS has -overlay: it has no meaning under chosen schedules"},
		{"GOCACHE", filepath.Join(dir, "go.mod", "cache"), "the go command cannot compile with the overlay"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(c.name, c.value)
			want(t, driver.ExitInput, []string{"test"}, "interleave: ", c.text)
		})
	}
	t.Chdir(t.TempDir())
	want(t, driver.ExitInput, []string{"test"}, "go.mod file not found")
}

// A package whose TestMain runs the tests twice has each of them once.
func TestMainRunsTwice(t *testing.T) {
	module(t, "x_test.go", "package x\n\nimport \"testing\"\n\nfunc TestMain(m *testing.M) {\n\tm.Run()\n\tm.Run()\n}\n\nfunc TestX(t *testing.T) {}\n")
	want(t, driver.ExitNothing, []string{"test", "-schedules", "5"}, "1 test, ")
}

// A TestMain that ends the process without running the tests leaves them unexplored.
func TestMainRunsNothing(t *testing.T) {
	const ended = "TestMain ended the process before it ran a test"
	module(t, "x_test.go", "package x\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(m *testing.M) { os.Exit(0) }\n\nfunc TestX(t *testing.T) { t.Error(\"never\") }\n",
		"y/y_test.go", strings.Replace(healthy, "package x", "package y", 1))
	want(t, driver.ExitUndecided, []string{"test"}, ended)
	want(t, driver.ExitUndecided, []string{"test", "-schedules", "5", "./..."}, "?   \texample.com/x\t["+ended, "ok  \texample.com/x/y")
	module(t, "x_test.go", "package x\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(m *testing.M) { os.Exit(m.Run()) }\n")
	want(t, driver.ExitInput, []string{"test"}, "no tests in example.com/x")
}

// A run writes nothing into the module cache.
func TestModuleCacheIsNotWritten(t *testing.T) {
	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	want(t, driver.ExitNothing, []string{"test", "-run", "TestSwitchForms", "-schedules", "2", "eventide/props/interleave/protocol"})
	cache := strings.TrimSpace(string(out))
	seen := 0
	err = filepath.WalkDir(cache, func(name string, d fs.DirEntry, err error) error {
		if err != nil || strings.HasPrefix(name, filepath.Join(cache, "cache")) {
			return err
		}
		info, err := d.Info()
		if seen++; err == nil && info.ModTime().After(begin) {
			t.Errorf("%s was written", name)
		}
		return err
	})
	if err != nil || seen < 100 {
		t.Errorf("%d files, %v", seen, err)
	}
}

// A file that cannot be written, and a regression file that cannot be read, are refused
// before anything is explored.
func TestBadFiles(t *testing.T) {
	dir := module(t, "x_test.go", healthy)
	below := filepath.Join(dir, "go.mod", "x") // not even root can make it
	for _, flag := range []string{"-junit", "-html", "-state"} {
		out := want(t, driver.ExitInput, []string{"test", "-v", flag, below}, "interleave: "+flag, "not a directory")
		if strings.Contains(out, "TestHealthy") {
			t.Errorf("%s: the test was explored\n%s", flag, out)
		}
	}
	write(t, "testdata/interleave/a.replay", "interleave replay 9\n")
	want(t, driver.ExitInput, []string{"test"}, "a.replay: replay file of version 9, want 1")
	write(t, "testdata/interleave/a.replay", "nonsense\n")
	want(t, driver.ExitInput, []string{"test"}, "a.replay: not a replay file: the first line is \"nonsense\"")
}
