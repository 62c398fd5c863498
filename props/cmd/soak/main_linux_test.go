package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"eventide/core"
	"eventide/props/internal/runner"
)

// asChild makes the test binary the command, with the arguments in the variable.
const asChild = "SOAK_CHILD"

func TestMain(m *testing.M) {
	if args := os.Getenv(asChild); args != "" {
		os.Exit(run(strings.Fields(args), os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// TestSoakGoesOn wants a second run to begin where the first one ended, and another seed to
// be refused.
func TestSoakGoesOn(t *testing.T) {
	state := filepath.Join(t.TempDir(), "soak.json")
	for _, rounds := range []string{"1", "3"} {
		if code, out, complaint := call("-rounds", rounds, "-for", "1h", "-state", state); code != 0 || !strings.Contains(out, "\n"+rounds+" rounds of seed 1 in ") {
			t.Fatalf("-rounds %s: code %d, %s\n%s", rounds, code, complaint, out)
		}
	}
	kept, err := runner.ReadJSON[totals](state)
	if err != nil || kept.Rounds != 3 || kept.all() != 3*together*perLane {
		t.Errorf("the state is %+v (%v), want 3 rounds of %d lifecycles", kept, err, together*perLane)
	}
	if code, _, complaint := call("-seed", "2", "-state", state); code != 2 || !strings.Contains(complaint, "is of seed 1, and this run has seed 2") {
		t.Errorf("another seed: code %d, %q, want it refused", code, complaint)
	}
}

// TestSoakInterrupted wants a soak of an hour to end at SIGINT, with its summary.
func TestSoakInterrupted(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), asChild+"=-for 1h -every 1ms -state "+filepath.Join(t.TempDir(), "soak.json"))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		all.WriteString(lines.Text() + "\n")
		if strings.HasPrefix(lines.Text(), "soak: 0s, 0 rounds, ") {
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Error(err)
			}
		}
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(all.String(), " rounds of seed 1 in ") || !strings.Contains(all.String(), " 0 found\n") {
		t.Errorf("the interrupted soak: %v, want a normal end and a summary:\n%s", err, &all)
	}
}

// TestSoakFinds plants a lifecycle that leaves a descriptor and a goroutine behind, and one
// that violates a guarantee.
func TestSoakFinds(t *testing.T) {
	var left *os.File
	release := make(chan struct{})
	t.Cleanup(func() {
		close(release)
		left.Close()
	})
	leaks := 0
	leak := func(*rand.Rand, features) string {
		if leaks++; leaks == 1 {
			left, _ = os.Open(os.DevNull)
			go func() { <-release }()
		}
		return ""
	}
	base := measure()
	leak(nil, features{})
	total := &totals{Lifecycles: map[string]int{}, Rounds: 1}
	total.atRest(base, time.Millisecond)
	if want := fmt.Sprintf("%d goroutines and %d descriptors are left", base.goroutines+1, base.descriptors+1); len(total.Found) != 1 || !strings.Contains(total.Found[0], want) {
		t.Errorf("found %q, want one text with %q", total.Found, want)
	}

	all := kinds
	t.Cleanup(func() { kinds = all })
	kinds = map[string]func(*rand.Rand, features) string{"programs": func(*rand.Rand, features) string { return "G3: lost" }}
	if code, out, complaint := call("-for", "1h", "-state", ""); code != 1 || !strings.Contains(out, "round 0 of seed 1: programs: G3: lost") {
		t.Errorf("a lifecycle that violates: code %d, %s\n%s", code, complaint, out)
	}
}

// TestLosingExecutorIsFound wants useAndEnd to find an executor that loses a task.
func TestLosingExecutorIsFound(t *testing.T) {
	for what, lose := range map[string]func(core.EventExecutor, func()) error{
		"ran 0 times": func(core.EventExecutor, func()) error { return nil },
		"ran 2 times": func(ex core.EventExecutor, task func()) error {
			return ex.Execute(func() { task(); task() })
		},
	} {
		ex, err := core.NewExecutor()
		if err != nil {
			t.Fatal(err)
		}
		if broken := useAndEnd(rand.New(rand.NewPCG(1, 1)), losing{ex, lose}); !strings.HasPrefix(broken, "G3: task ") || !strings.HasSuffix(broken, what) {
			t.Errorf("got %q, want G3 and %q", broken, what)
		}
	}
}

// losing submits its tasks with another function.
type losing struct {
	*core.Executor
	execute func(core.EventExecutor, func()) error
}

func (l losing) Execute(task func()) error { return l.execute(l.Executor, task) }

func call(args ...string) (code int, out, complaint string) {
	var stdout, stderr strings.Builder
	code = run(args, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}
