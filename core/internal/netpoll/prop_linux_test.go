package netpoll

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// child is the variable with the arguments of a process in which nothing has opened Go's network poller yet.
const child = "EVENTIDE_NETPOLL_CHILD"

func TestMain(m *testing.M) {
	if args := os.Getenv(child); args != "" {
		if err := runChild(args); err != nil {
			fmt.Println(err)
		}
		return
	}
	os.Exit(m.Run())
}

// runChild calls Open three times: with the first number of args of free descriptors, with the second number of further ones, and
// with no further ones. If the poller is open it then waits for a timer.
func runChild(args string) error {
	var free, more int
	if _, err := fmt.Sscan(args, &free, &more); err != nil {
		return err
	}
	const limit = 64
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		return err
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: limit, Max: before.Max}); err != nil {
		return err
	}
	defer func() { _ = unix.Setrlimit(unix.RLIMIT_NOFILE, &before) }() // with -cover, the end of the process writes files
	taken := takeAll()
	giveBack := func(n int) {
		for _, fd := range taken[:n] {
			_ = unix.Close(fd)
		}
		taken = taken[n:]
	}
	for _, n := range []int{free, more, 0} {
		giveBack(n)
		fmt.Println(describe(Open()), countFree())
	}
	if poller.open {
		<-time.NewTimer(time.Nanosecond).C
	}
	fmt.Println("end")
	return nil
}

// takeAll takes all free descriptors.
func takeAll() (taken []int) {
	for {
		fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return taken
		}
		taken = append(taken, fd)
	}
}

func countFree() int {
	taken := takeAll()
	for _, fd := range taken {
		_ = unix.Close(fd)
	}
	return len(taken)
}

func describe(err error) string {
	const text = "no descriptors for the network poller of Go's runtime, want 2: "
	switch {
	case err == nil:
		return "opened"
	case errors.Is(err, unix.EMFILE) && strings.HasPrefix(err.Error(), text):
		return "refused"
	}
	return err.Error()
}

// TestPropOpenNeedsTwoDescriptors calls Open at each small number of free descriptors. If the first calls have two, the
// runtime opens its poller with them, and later calls and timers need none. Otherwise Open returns an error, and takes
// no descriptor; a call that finds two succeeds.
func TestPropOpenNeedsTwoDescriptors(t *testing.T) {
	for free := range 5 {
		for more := range 4 {
			want, left, open := "", 0, false
			for _, n := range []int{free, more, 0} {
				left += n
				switch {
				case open:
				case left >= 2:
					open, left = true, left-2
				}
				want += fmt.Sprintln(map[bool]string{false: "refused", true: "opened"}[open], left)
			}
			cmd := exec.Command(os.Args[0], "-test.run=^$")
			cmd.Env = append(os.Environ(), child+"="+fmt.Sprint(free, " ", more), "GORACE=atexit_sleep_ms=0")
			out, err := cmd.CombinedOutput()
			if got, _, _ := strings.Cut(string(out), "end\n"); err != nil || got != want || !strings.Contains(string(out), "end\n") {
				text, _, _ := strings.Cut(string(out), "\n\n")
				t.Errorf("%d descriptors are free, and then %d more: the calls of Open and the free descriptors behind each are\n%s, %v; want\n%s", free, more, text, err, want)
			}
		}
	}
}
