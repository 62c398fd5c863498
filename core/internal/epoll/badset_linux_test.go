package epoll

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"eventide/core/internal/poll"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// TestPropSetsThatCannotBeUsed: if the descriptor that should be an epoll set cannot be used, the constructor fails with an
// error that names the descriptor and the errno, and leaves no descriptor open (G24).
func TestPropSetsThatCannotBeUsed(t *testing.T) {
	sets := map[string]func() (int, error){
		"none":           func() (int, error) { return -1, nil },
		"a path":         func() (int, error) { return unix.Open("/", unix.O_PATH|unix.O_CLOEXEC, 0) },
		"a regular file": func() (int, error) { return unix.Open("/proc/self/exe", unix.O_RDONLY|unix.O_CLOEXEC, 0) },
	}
	p, err := NewNetpoll(nil, 0, System()) // the first one opens the runtime's poller, which keeps its descriptors
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		kind, blocking := rapid.SampledFrom([]string{"none", "a path", "a regular file"}).Draw(t, "kind"), rapid.Bool().Draw(t, "blocking")
		calls, fd := System(), -1
		calls.Create = func() (n int, err error) {
			fd, err = sets[kind]()
			return fd, err
		}
		before := openNumbers(t)
		var err error
		if blocking {
			_, err = NewBlocking(nil, calls)
		} else {
			_, err = NewNetpoll(nil, 0, calls)
		}
		if err == nil {
			t.Fatalf("an epoll set that is %s gives no error", kind)
		}
		if after := openNumbers(t); after > before {
			t.Fatalf("G24: %d descriptors are open after an error with a set that is %s, before %d", after, kind, before)
		}
		if text := fmt.Sprintf("fcntl: set O_NONBLOCK of epoll set %d: it is not open", fd); !blocking && kind != "a regular file" && (!errors.Is(err, unix.EBADF) || !strings.HasPrefix(err.Error(), text)) {
			t.Fatalf("the error for a set that is %s is %q, want EBADF and %q", kind, err, text)
		}
	})
}

// openNumbers counts the descriptors of the process.
func openNumbers(t *rapid.T) int {
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// A poller that is closed does not announce a sleep that nobody could end.
func TestClosedPollerAnnouncesNoSleep(t *testing.T) {
	p, err := NewNetpoll(nil, 0, System())
	if err != nil {
		t.Fatal(err)
	}
	p.dirty = true // a waker has set the deadline
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(poll.Deadline{}); err == nil {
		t.Error("Wait returns no error")
	}
	if p.Parks() != 0 || p.Spins() != 1 || p.sleep.Load() != sleepAwake {
		t.Errorf("%d parks, %d spins, state of sleep %d, want 0, 1, %d", p.Parks(), p.Spins(), p.sleep.Load(), sleepAwake)
	}
}
