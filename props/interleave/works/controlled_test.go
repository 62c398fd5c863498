// Package works tests the engine by controlled test binaries: those of testdata and the
// kernels, which package overlay builds and package protocol runs.
package works

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"eventide/props/interleave/overlay"
	"eventide/props/interleave/protocol"
)

// built are the controlled binaries of this test process, by package and flags.
var built struct {
	sync.Mutex
	dir      string
	binaries map[string]func() (string, error)
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "works")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	built.dir = dir
	built.binaries = map[string]func() (string, error){}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// directoryOf returns the folder of a package of tests: below testdata, or the kernels of
// package kernels.
func directoryOf(name string) string {
	if name == "kernels" {
		return filepath.Join("..", "kernels", "testdata", name)
	}
	return filepath.Join("testdata", name)
}

// build returns the controlled test binary of a package that directoryOf knows.
func build(t *testing.T, name string, flags ...string) string {
	t.Helper()
	key := strings.Join(append([]string{name}, flags...), " ")
	built.Lock()
	once := built.binaries[key]
	if once == nil {
		out := filepath.Join(built.dir, fmt.Sprint(len(built.binaries), ".test"))
		once = sync.OnceValues(func() (string, error) { return out, compile(name, out, nil, flags) })
		built.binaries[key] = once
	}
	built.Unlock()
	bin, err := once()
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// compile writes the controlled test binary of a package to out. The go command gets more
// environment and flags.
func compile(name, out string, more, flags []string) error {
	env, err := exec.Command("go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return err
	}
	lines := strings.Split(string(env), "\n")
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	name2, err := overlay.Make(lines[0], lines[1], filepath.Join(cache, "interleave"))
	if err != nil {
		return err
	}
	args := append([]string{"test", "-C", directoryOf(name), "-c", "-vet=off", "-o", out}, overlay.BuildFlags(name2)...)
	args = append(args, flags...)
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), more...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %v: %w\n%s", args, err, text)
	}
	return nil
}

// A run is what a controlled process said.
type run struct {
	code       int
	out        string
	records    []protocol.Record
	findings   []protocol.Schedule
	schedules  []protocol.Schedule
	goroutines []protocol.Goroutine
	summary    protocol.Counts
}

// explore runs n schedules of the tests that match in a process of its own, with more
// environment.
func explore(t *testing.T, bin, match string, n int, r protocol.Request, env ...string) run {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.FD = 3 // the first of ExtraFiles
	cmd := exec.Command(bin, append(r.TestFlags(n), "-test.run=^"+match+"$")...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(r.Environ(os.Environ()), env...)
	cmd.ExtraFiles = []*os.File{write}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	var got run
	err = protocol.Read(read, func(one protocol.Record) error { return got.add(one) })
	read.Close()
	wait := cmd.Wait()
	got.out = out.String()
	if err != nil {
		t.Fatalf("records: %v\n%s", err, got.out)
	}
	var exit *exec.ExitError
	if errors.As(wait, &exit) {
		got.code = exit.ExitCode()
	} else if wait != nil {
		t.Fatal(wait)
	}
	return got
}

func (got *run) add(one protocol.Record) error {
	got.records = append(got.records, one)
	switch one.Kind {
	case protocol.KindFinding, protocol.KindSchedule:
		s, err := protocol.ScheduleOf(one)
		if err != nil {
			return err
		}
		if one.Kind == protocol.KindFinding {
			got.findings = append(got.findings, s)
		} else {
			got.schedules = append(got.schedules, s)
		}
	case protocol.KindGoroutine:
		got.goroutines = append(got.goroutines, protocol.GoroutineOf(one))
	case protocol.KindSummary:
		got.summary = protocol.CountsOf(one)
	}
	return nil
}

// tests lists the tests of a binary.
func tests(t *testing.T, bin string) []string {
	t.Helper()
	out, err := exec.Command(bin, "-test.list=.").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}

// passes fails t unless n schedules of a test pass.
func passes(t *testing.T, bin, name string, n int, r protocol.Request, env ...string) run {
	t.Helper()
	got := explore(t, bin, name, n, r, env...)
	if got.code != 0 || len(got.findings) != 0 || got.summary.Schedules != uint64(n) {
		t.Errorf("%s: exit code %d, findings %+v, summary %+v\n%s", name, got.code, got.findings, got.summary, got.out)
	}
	return got
}

// finds fails t unless a schedule among n has the verdict, and returns it.
func finds(t *testing.T, bin, name, verdict string, n int, r protocol.Request) (protocol.Schedule, run) {
	t.Helper()
	got := explore(t, bin, name, n, r)
	if len(got.findings) != 1 || got.findings[0].Verdict != verdict {
		t.Fatalf("%s: exit code %d, findings %+v, want %s\n%s", name, got.code, got.findings, verdict, got.out)
	}
	return got.findings[0], got
}

// replay runs one schedule again.
func replay(s protocol.Schedule) protocol.Request {
	r := protocol.Request{Seed: s.Seed, First: s.Number, Strategy: protocol.StrategyReplay, Switches: s.Switches, Fair: s.Fair, Longest: s.Longest}
	if s.Early {
		r.Time = protocol.TimeEarly
	}
	return r
}
