package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"eventide/props/interleave/driver"
)

func TestDoctor(t *testing.T) {
	out := want(t, driver.ExitNothing, []string{"doctor"}, "found    plain: lost update", "found    -race: unsynchronised write", "clean    plain", "not controlled\n")
	if strings.Contains(out, "MISSED") {
		t.Errorf("a planted bug was missed\n%s", out)
	}
}

// Child processes of a test are not controlled, and do not see the request.
func TestChildrenAreNotControlled(t *testing.T) {
	module(t, "x_test.go", `package x

import (
	"os/exec"
	"strings"
	"testing"
)

func TestChild(t *testing.T) {
	out, err := exec.Command("env").Output()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains("\n"+string(out), "\nINTERLEAVE=") {
		t.Fatalf("the child sees the request\n%s", out)
	}
}
`)
	want(t, driver.ExitNothing, []string{"test", "-schedules", "20"}, "ok  \texample.com/x", "not controlled:", "child processes")
}

// A run writes nothing below GOROOT.
func TestGorootIsNotWritten(t *testing.T) {
	module(t, "x_test.go", healthy)
	begin := time.Now()
	want(t, driver.ExitNothing, []string{"test", "-schedules", "20"})
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(strings.TrimSpace(string(root)), func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.ModTime().After(begin) {
			t.Errorf("%s was written", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestExhaust(t *testing.T) {
	module(t, "x_test.go", healthy)
	want(t, driver.ExitNothing, []string{"test", "-v", "-exhaust", "1"}, "complete")
	module(t, "x_test.go", lost)
	want(t, driver.ExitFinding, []string{"test", "-exhaust", "1"}, "1 updates of 2", "a complete search ends at its first finding")
}

func TestTestMainAndFlags(t *testing.T) {
	module(t, "x_test.go", `package x

import (
	"flag"
	"os"
	"testing"
)

var name = flag.String("name", "", "")

func TestMain(m *testing.M) {
	flag.Parse()
	os.Stdout.WriteString("TestMain runs\n")
	os.Exit(m.Run())
}

func TestArgs(t *testing.T) {
	if *name != "x" || !testing.Short() {
		t.Fatal(*name)
	}
	t.Run("parallel", func(t *testing.T) { t.Parallel() })
}
`)
	want(t, driver.ExitNothing, []string{"test", "-short", "-schedules", "20", "-args", "-name=x"}, "20 schedules")
	want(t, driver.ExitFinding, []string{"test", "-short", "-schedules", "20", "-args", "-name=y"}, "x_test.go:19: y")
}

func TestHTML(t *testing.T) {
	module(t, "x_test.go", lost)
	want(t, driver.ExitFinding, []string{"test", "-schedules", "200", "-html", "out"}, "timeline: out/TestLost-failed-")
	names, err := filepath.Glob("out/*.html")
	if err != nil || len(names) != 1 {
		t.Fatalf("%v %v, want one timeline", names, err)
	}
	text, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`<tr class="row switch"`, `<tr class="row breach"`, "interleave replay "} {
		if strings.Count(string(text), part) != 1 {
			t.Errorf("the page has %d times %q, want once", strings.Count(string(text), part), part)
		}
	}
}
