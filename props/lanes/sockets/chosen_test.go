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

// The packages of the tests that the interleave command runs, and patterns for these tests.
const (
	here, exits     = "./props/lanes/sockets", "./props/lanes/exits"
	fixedPrograms   = "^TestSchedule(Accepted|Dialled|Embedded|Broadcast)$"
	drawnPrograms   = "^TestScheduleDrawn$" // of core/tcp here, of core/process in package exits
	drawnOfBlocking = "^TestScheduleDrawnBlocking$"
)

const (
	schedulesOfDrawn = 20000 // each of a program of its own: 10 s to 20 s of one processor
	untilFound       = 40000 // at most, for a planted race
)

// TestPropChosenSchedules runs fixed programs of core/tcp under chosen schedules, on core as it is
// and with planted races: a call of another goroutine between two steps of the loop.
func TestPropChosenSchedules(t *testing.T) {
	tool, planted := chosenTool(t), plantedRaces(t)
	if out, code := chosenSchedules(t, tool, mutant.Mutant{}, here, fixedPrograms, 500); code != 0 {
		t.Errorf("core/tcp as it is: exit code %d, want 0\n%s", code, out)
	}
	for name, race := range map[string]struct{ test, found string }{
		"tcp-written-at-the-peers-end":   {"^TestScheduleAccepted$", "accepted bytes are discarded"},
		"tcp-open-before-it-is-writable": {"^TestScheduleBroadcast$", "Broadcast counts"},
	} {
		if out, code := chosenSchedules(t, tool, planted(name), here, race.test, untilFound); code != 1 || !strings.Contains(out, race.found) {
			t.Errorf("with %s: exit code %d, want 1 and %q\n%s", name, code, race.found, out)
		}
	}
}

// TestPropChosenPrograms runs programs of the lanes sockets, blocking and exits under chosen
// schedules, one program in each schedule.
func TestPropChosenPrograms(t *testing.T) {
	tool := chosenTool(t)
	for pkg, tests := range map[string]string{here: drawnPrograms + "|" + drawnOfBlocking, exits: drawnPrograms} {
		if out, code := chosenSchedules(t, tool, mutant.Mutant{}, pkg, tests, schedulesOfDrawn); code != 0 {
			t.Errorf("core as it is, tests of %s: exit code %d, want 0\n%s", pkg, code, out)
		}
	}
}

// TestPropChosenProgramsSeeRaces plants races for which the lanes, without chosen schedules, need many
// thousand programs or more: at least one for each package and for each way in which a loop sleeps.
// What a lost wake-up breaks first depends on the program, so any finding of a chosen schedule counts:
// TestPropChosenPrograms shows that there is none without the race.
func TestPropChosenProgramsSeeRaces(t *testing.T) {
	tool, planted := chosenTool(t), plantedRaces(t)
	for name, by := range map[string]struct{ pkg, test string }{
		"tcp-flush-posted-until-it-is-done":         {here, drawnPrograms},
		"parked-sleep-over-a-wake-up":               {here, drawnPrograms},
		"spin-loses-a-wake-up":                      {here, drawnPrograms},
		"blocking-epoll-sleep-over-a-wake-up":       {here, drawnPrograms},
		"blocking-sleep-over-a-wake-up":             {here, drawnOfBlocking},
		"blocking-executor-made-after-the-shutdown": {here, drawnOfBlocking},
		"process-line-left-by-the-last-writer":      {exits, drawnPrograms},
	} {
		out, code := chosenSchedules(t, tool, planted(name), by.pkg, by.test, untilFound)
		if code != 1 || !strings.Contains(out, "found in schedule") {
			t.Errorf("with %s: exit code %d, want 1 and a finding\n%s", name, code, out)
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

// chosenSchedules explores tests of a package in a copy of the module with a planted bug. It
// returns what the interleave command printed, and its exit code.
func chosenSchedules(t *testing.T, tool string, m mutant.Mutant, pkg, tests string, schedules int) (string, int) {
	t.Helper()
	return explore(t, tool, m, shadow.Copy, "-failfast", "-tags", "shadow", "-run", tests, "-schedules", strconv.Itoa(schedules), pkg)
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
