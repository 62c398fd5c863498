package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"eventide/props/interleave/driver"
)

// A progress is what a file of state says of its tests.
type progress struct {
	Tests map[string]struct {
		Test     string
		Next     uint64
		Done     bool
		Coverage struct{ Schedules uint64 }
		Findings []struct{ Finding struct{ Times int } }
	}
}

func readProgress(t *testing.T, name string) progress {
	t.Helper()
	var p progress
	b, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// counted are the schedules of a file of state, and those with a failure.
func (p progress) counted() (schedules uint64, failures int) {
	for _, one := range p.Tests {
		schedules += one.Coverage.Schedules
		for _, f := range one.Findings {
			failures += f.Finding.Times
		}
	}
	return schedules, failures
}

// A test that has not changed is not explored again, and its findings are shown again.
func TestStateIsKept(t *testing.T) {
	dir := module(t, "x_test.go", lost, "y/y_test.go", strings.Replace(healthy, "package x", "package y", 1))
	args := []string{"test", "-v", "-state", "out/state.json", "-schedules", "100", "./..."}
	want(t, driver.ExitFinding, args, "1 updates of 2", "--- PASS: TestHealthy")
	out := want(t, driver.ExitFinding, args, "1 updates of 2", "--- PASS: TestHealthy", "kept in out/state.json: the binary, testdata and options have not changed")
	if n := strings.Count(out, "kept in "); n != 2 {
		t.Errorf("%d tests are kept, want 2\n%s", n, out)
	}

	write(t, filepath.Join(dir, "x_test.go"), strings.Replace(lost, "n.Store(n.Load() + 1)", "n.Add(1)", 1))
	out = want(t, driver.ExitNothing, args, "--- PASS: TestLost", "--- PASS: TestHealthy")
	if n := strings.Count(out, "kept in "); n != 1 {
		t.Errorf("%d tests are kept, want the one that has not changed\n%s", n, out)
	}
	args[5] = "200"
	if out = want(t, driver.ExitNothing, args); strings.Contains(out, "kept in ") {
		t.Errorf("a test is kept that was explored with other flags\n%s", out)
	}
	if out = want(t, driver.ExitNothing, append(args[:len(args):len(args)], "-failfast")); strings.Contains(out, "kept in ") {
		t.Errorf("a test is kept that was explored without -failfast\n%s", out)
	}
	write(t, filepath.Join(dir, "out/state.json"), "{}")
	want(t, driver.ExitInput, args, "out/state.json is a file of state of version 0, want 1")
}

// A run that was killed goes on where it was.
func TestStateAfterKill(t *testing.T) {
	bin := installed(t)
	module(t, "x_test.go", lost)
	args := []string{"test", "-state", "state.json", "-schedules", "2000", "-strategy", "walk"}
	cmd := exec.Command(bin, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	begun := uint64(0)
	for deadline := time.Now().Add(5 * time.Minute); begun < 50 && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat("state.json"); err == nil {
			begun, _ = readProgress(t, "state.json").counted()
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	before := readProgress(t, "state.json")
	for _, one := range before.Tests {
		if one.Done || one.Next == 0 || one.Next >= 2000 {
			t.Fatalf("killed at %+v, want it in the middle", before)
		}
	}
	want(t, driver.ExitFinding, args, "1 updates of 2")
	n, failures := readProgress(t, "state.json").counted()
	if n != 2000 {
		t.Errorf("%d schedules, want 2000", n)
	}
	want(t, driver.ExitFinding, []string{"test", "-state", "other.json", "-schedules", "2000", "-strategy", "walk"})
	if _, same := readProgress(t, "other.json").counted(); same != failures {
		t.Errorf("%d schedules failed, and %d in a run that was not killed", failures, same)
	}
}

// Shards explore other schedules each, and together those of one run.
func TestShards(t *testing.T) {
	module(t, "x_test.go", lost)
	sum, failed := uint64(0), 0
	for _, n := range []string{"1", "2", "3"} {
		t.Setenv("SHARD", n+"/3")
		want(t, driver.ExitFinding, []string{"test", "-state", n + ".json", "-schedules", "100", "-strategy", "walk"}, "1 updates of 2")
		schedules, failures := readProgress(t, n+".json").counted()
		sum, failed = sum+schedules, failed+failures
	}
	want(t, driver.ExitInput, []string{"test", "-state", "1.json"}, "-state 1.json is of shard 1 of 3, and this is shard 3 of 3")
	t.Setenv("SHARD", "4/3")
	want(t, driver.ExitInput, []string{"test"}, `SHARD is "4" of "3", want a number from 1`)
	t.Setenv("SHARD", "")
	want(t, driver.ExitFinding, []string{"test", "-state", "all.json", "-schedules", "100", "-strategy", "walk"})
	if all, failures := readProgress(t, "all.json").counted(); sum != 100 || all != 100 || failed != failures {
		t.Errorf("shards: %d schedules, %d failed; one run: %d schedules, %d failed", sum, failed, all, failures)
	}

	want(t, driver.ExitFinding, []string{"merge", "-junit", "junit.xml", "1.json", "2.json", "3.json"}, "1 updates of 2", "100 schedules in ", ", at least ", "of 3 shards", "FAIL\texample.com/x")
	if _, err := os.Stat("junit.xml"); err != nil {
		t.Error(err)
	}
	want(t, driver.ExitInput, []string{"merge", "1.json", "3.json"}, "got the files of 2 shards, want 3")
	want(t, driver.ExitInput, []string{"merge", "1.json", "1.json", "3.json"}, "1.json and 1.json are both of shard 1 of 3")
	want(t, driver.ExitInput, []string{"merge", "1.json", "all.json"}, "all.json of a run without shards")
	want(t, driver.ExitInput, []string{"merge", "nosuch.json"}, "no such file")
	want(t, driver.ExitInput, []string{"merge"}, "want the files")
}

// The report of a search says what PCT grants, and a test without choices has none.
func TestChanceOfPCT(t *testing.T) {
	module(t, "x_test.go", healthy)
	want(t, driver.ExitNothing, []string{"test", "-v", "-schedules", "300", "-strategy", "pct2"}, "chance that PCT would have shown a bug, at least: of depth 2 ")
	want(t, driver.ExitNothing, []string{"test", "-v", "-schedules", "1000"}, "of depth 2 0.", ", of depth 3 0.")
	if out := want(t, driver.ExitNothing, []string{"test", "-v", "-schedules", "100", "-strategy", "walk"}); strings.Contains(out, "PCT") {
		t.Errorf("PCT grants something to schedules of another strategy\n%s", out)
	}
}
