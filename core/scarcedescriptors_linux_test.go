package core_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"eventide/core"

	"golang.org/x/sys/unix"
)

// freeEnv makes a process of the test binary make executors with that many free
// descriptors, before the runtime has opened its network poller.
const freeEnv = "EVENTIDE_FREE_DESCRIPTORS"

// opened is the end of the names of calls before which the runtime has opened its poller.
const opened = ", after a timer"

// The calls that such a process makes; each ends the executors that it has made.
var scarce = map[string]func() error{
	"NewExecutor":          func() error { return endOf(core.NewExecutor()) },
	"NewExecutor" + opened: func() error { return endOf(core.NewExecutor()) },
	"NewExecutor, with a shutdown": func() error {
		ex, err := core.NewExecutor()
		if err != nil {
			return err
		}
		_, err = ex.ShutdownGracefully(0, time.Minute) // sets the first timer of the process
		return errors.Join(err, endOf(ex, nil))
	},
	"NewExecutorGroup": func() error { return endOf(core.NewExecutorGroup(2)) },
	"NewEventLoop":     func() error { return endOf(core.NewEventLoop()) },
	"NewEventLoop, blocking": func() error {
		return endOf(core.NewEventLoop(core.WithBlockingEpoll()))
	},
	"NewGroup": func() error { return endOf(core.NewGroup(2)) },
	"Register": func() error {
		l, err := core.NewEventLoop()
		if err != nil {
			return err
		}
		r, err := l.Register(0, core.Readable, func(core.Readiness) {})
		if r != nil {
			_ = r.Close()
		}
		if errors.Is(err, unix.EPERM) {
			err = nil // what it is has nothing to do with the limit
		}
		return errors.Join(err, endOf(l, nil))
	},
}

func endOf[E core.EventExecutor](ex E, err error) error {
	if err != nil {
		return err
	}
	<-ex.Shutdown().Done()
	return ex.Termination().Err()
}

func init() { ownProcesses = append(ownProcesses, withFreeDescriptors) }

// withFreeDescriptors is the life of such a process. It returns false in any other.
func withFreeDescriptors() (ran bool) {
	call, count, ok := strings.Cut(os.Getenv(freeEnv), "/")
	if !ok {
		return false
	}
	if strings.HasSuffix(call, opened) {
		time.AfterFunc(time.Hour, func() {})
	}
	free, err := strconv.Atoi(count)
	if err == nil {
		var giveBack func()
		giveBack, err = takeDescriptors(free)
		defer giveBack() // with -cover, the end of the process writes files
	}
	if err != nil {
		fmt.Println("cannot take descriptors:", err)
		os.Exit(3)
	}
	if err := scarce[call](); err != nil {
		fmt.Printf("%v\nEMFILE %v\n", err, errors.Is(err, unix.EMFILE))
		return true
	}
	fmt.Println("made")
	return true
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

// A process that has no descriptors left gets an error, whichever is the first that is
// missing: also if Go's own network poller, without which the runtime ends the process, is
// not open yet.
func TestConstructorsAtEachCountOfFreeDescriptors(t *testing.T) {
	for call := range scarce {
		t.Run(call, func(t *testing.T) {
			most := 1 // of which it cannot be made: the runtime takes two
			if !strings.HasPrefix(call, "NewExecutor") {
				most = 2 // and each loop at least one
			}
			var made []int
			for free := range 12 {
				cmd := exec.Command(os.Args[0], "-test.run=^$")
				cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s/%d", freeEnv, call, free), "GORACE=atexit_sleep_ms=0") // a second for each otherwise
				out, err := cmd.CombinedOutput()
				switch text := string(out); {
				case err != nil:
					first, _, _ := strings.Cut(text, "\n\n")
					t.Errorf("%s with %d descriptors free ended the process: %v\n%s", call, free, err, first)
				case text == "made\n":
					made = append(made, free)
				case !strings.HasPrefix(text, "core: New") || !strings.HasSuffix(text, "\nEMFILE true\n"):
					t.Errorf("%s with %d descriptors free: %q, want an error of core that is EMFILE", call, free, text)
				}
			}
			if len(made) == 0 || !slices.Contains(made, 11) || slices.Contains(made, most) {
				t.Errorf("%s was made with %v of 0 to 11 descriptors free, want with 11, and not with %d", call, made, most)
			}
			if strings.HasSuffix(call, opened) && !slices.Contains(made, 2) {
				t.Errorf("%s was made with %v of 0 to 11 descriptors free, want with 2: the runtime needs no more", call, made)
			}
		})
	}
}
