//go:build !shadow

package sockets

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"eventide/props/lanes/programs"
	"eventide/props/lanes/sockets/shadow"
	"eventide/props/mutant"
)

// TestPropChosenSchedules runs the tests of schedule_test.go under chosen schedules, on core/tcp
// as it is and with planted races: a call of another goroutine between two steps of the loop. The
// programs of the lane meet such a race only if the runtime happens to take it.
func TestPropChosenSchedules(t *testing.T) {
	tool, planted := chosenTool(t), plantedRaces(t)
	if out, code := chosenSchedules(t, tool, mutant.Mutant{}, "^TestSchedule", 500); code != 0 {
		t.Errorf("core/tcp as it is: exit code %d, want 0\n%s", code, out)
	}
	for name, race := range map[string]struct{ test, found string }{
		"tcp-written-at-the-peers-end":   {"^TestScheduleAccepted$", "accepted bytes are discarded"},
		"tcp-open-before-it-is-writable": {"^TestScheduleBroadcast$", "Broadcast counts"},
	} {
		if out, code := chosenSchedules(t, tool, planted(name), race.test, 20000); code != 1 || !strings.Contains(out, race.found) {
			t.Errorf("with %s: exit code %d, want 1 and %q\n%s", name, code, race.found, out)
		}
	}
}

// TestPropChosenSchedulesOfRegister runs TestScheduleShutdownMeetsRegister of core/blocking under chosen schedules,
// with the race detector: on the package as it is, and with a planted race.
func TestPropChosenSchedulesOfRegister(t *testing.T) {
	tool, planted := chosenTool(t), plantedRaces(t)
	const name = "blocking-published-before-its-alarm"
	if out, code := chosenRegister(t, tool, mutant.Mutant{}, 500); code != 0 {
		t.Errorf("core/blocking as it is: exit code %d, want 0\n%s", code, out)
	}
	if out, code := chosenRegister(t, tool, planted(name), 20000); code != 1 || !strings.Contains(out, "data race: ") {
		t.Errorf("with %s: exit code %d, want 1 and a data race\n%s", name, code, out)
	}
}

// chosenTool builds the interleave command and returns its path.
func chosenTool(t *testing.T) string {
	t.Helper()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the interleave command is for linux/amd64")
	}
	if testing.Short() {
		t.Skip("the standard library is compiled again for chosen schedules")
	}
	programs.Touch(t, root)
	tool := filepath.Join(t.TempDir(), "interleave")
	build := exec.Command("go", "build", "-o", tool, "./props/cmd/interleave")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return tool
}

// plantedRaces returns a function that returns the planted bug of a name.
func plantedRaces(t *testing.T) func(name string) mutant.Mutant {
	t.Helper()
	planted, err := mutant.Load(filepath.Join(root, "testdata", "mutants", "packages"))
	if err != nil {
		t.Fatal(err)
	}
	races, err := mutant.Load(filepath.Join("testdata", "races")) // which only chosen schedules find
	if err != nil {
		t.Fatal(err)
	}
	planted = append(planted, races...)
	return func(name string) mutant.Mutant {
		at := slices.IndexFunc(planted, func(m mutant.Mutant) bool { return m.Name == name })
		if at < 0 {
			t.Fatalf("the planted race %s is gone", name)
		}
		return planted[at]
	}
}

// chosenSchedules explores tests of this package in a copy of the module with a planted bug. It
// returns what the interleave command printed, and its exit code.
func chosenSchedules(t *testing.T, tool string, m mutant.Mutant, tests string, schedules int) (string, int) {
	t.Helper()
	return explore(t, tool, m, shadow.Copy, "-tags", "shadow", "-run", tests, "-schedules", strconv.Itoa(schedules), "./props/lanes/sockets")
}

// chosenRegister is chosenSchedules for the test of core/blocking, on the package of the real connections.
func chosenRegister(t *testing.T, tool string, m mutant.Mutant, schedules int) (string, int) {
	t.Helper()
	return explore(t, tool, m, shadow.CopyReal, "-race", "-failfast", "-run", "^TestScheduleShutdownMeetsRegister$", "-schedules", strconv.Itoa(schedules), "./core/blocking")
}

// explore runs the interleave command in a copy of the module with a planted bug.
func explore(t *testing.T, tool string, m mutant.Mutant, write func(root, dir string, changed map[string]string) error, args ...string) (string, int) {
	t.Helper()
	changed, err := m.Apply(root)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := write(root, dir, changed); err != nil {
		t.Fatal(err)
	}
	explore := exec.Command(tool, append([]string{"test"}, args...)...)
	explore.Dir = dir
	out, err := explore.CombinedOutput()
	if explore.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), explore.ProcessState.ExitCode()
}
