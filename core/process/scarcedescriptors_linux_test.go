package process

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// scarceChild is the name of a child that runs a plan with as many free descriptors as the
// number behind it says, before anything in it has opened Go's network poller.
const scarceChild = "scarce"

// runScarce is the life of such a child. The exit that it runs sets timers.
func runScarce(free int, plan Plan) int {
	giveBack, err := takeDescriptors(free)
	if err != nil {
		fmt.Println("cannot take descriptors:", err)
		return 3
	}
	defer giveBack() // with -cover, the end of the process writes files
	plan.Logger = slog.New(slog.NewTextHandler(os.Stdout, nil))
	report := RunReport(context.Background(), plan)
	fmt.Printf("code %d EMFILE %v\n", report.Code, errors.Is(report.Err, unix.EMFILE))
	return report.Code
}

// takeDescriptors leaves so many free, until giveBack.
func takeDescriptors(free int) (giveBack func(), err error) {
	const limit = 64
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		return nil, err
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: limit, Max: before.Max}); err != nil {
		return nil, err
	}
	var taken []int
	for {
		fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.EMFILE) {
			break
		}
		if err != nil {
			return nil, err
		}
		taken = append(taken, fd)
	}
	for _, fd := range taken[len(taken)-free:] {
		if err := unix.Close(fd); err != nil {
			return nil, err
		}
	}
	return func() { _ = unix.Setrlimit(unix.RLIMIT_NOFILE, &before) }, nil
}

func init() {
	begins := func(context.Context) error { fmt.Println("start"); return nil }
	for free := range 5 {
		children[fmt.Sprint(scarceChild, free)] = func() int {
			return runScarce(free, Plan{Start: begins, PreDrain: time.Millisecond})
		}
		children[fmt.Sprint(scarceChild, free, " wrong")] = func() int {
			return runScarce(free, Plan{Start: begins, PreDrain: -1})
		}
	}
}

// A process that has no descriptors left for the first timer of an exit is told so before
// anything has started. The runtime would end it in the middle of the exit.
func TestRunAtEachCountOfFreeDescriptors(t *testing.T) {
	var ran []int
	for free := range 5 {
		for _, wrong := range []string{"", " wrong"} {
			cmd := exec.Command(os.Args[0], "-test.run=^$")
			cmd.Env = append(os.Environ(), childVariable+"="+fmt.Sprint(scarceChild, free, wrong), "GORACE=atexit_sleep_ms=0")
			out, _ := cmd.CombinedOutput() // the exit code is in what it says
			text := string(out)
			started := strings.Contains(text, "start\n")
			switch {
			case started && strings.HasSuffix(text, fmt.Sprintf("code %d EMFILE false\n", CodeClean)):
				ran = append(ran, free)
			case wrong != "" && !started && strings.HasSuffix(text, fmt.Sprintf("code %d EMFILE false\n", CodeBadPlan)):
			case !started && strings.Contains(text, "not started") && strings.HasSuffix(text, fmt.Sprintf("code %d EMFILE true\n", CodeFailed)):
			default:
				first, _, _ := strings.Cut(text, "\n\n")
				t.Errorf("G16: Run of a plan%s with %d descriptors free: exit code %d, want an end in order or nothing started\n%s",
					wrong, free, cmd.ProcessState.ExitCode(), first)
			}
		}
	}
	if !slices.Equal(ran, []int{2, 3, 4}) {
		t.Errorf("G16: Run ran the plan with %v of 0 to 4 descriptors free, want with 2, 3 and 4", ran)
	}
}
