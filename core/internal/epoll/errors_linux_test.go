package epoll_test

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"eventide/core/internal/epoll"
	"eventide/core/internal/poll"

	"golang.org/x/sys/unix"
)

// wantText fails the test unless err is EBADF with the text.
func wantText(t *testing.T, err error, text string) {
	t.Helper()
	if !errors.Is(err, unix.EBADF) || err.Error() != text {
		t.Errorf("got %v\nwant EBADF: %s", err, text)
	}
}

// number is above each limit of a process that the tests run in, so it is not open.
const number = 1 << 20

const notOpen = "it is not open, want one that nothing else in the process has closed: bad file descriptor"

// TestSetThatIsNotOpen: if the epoll set of a poller has no open descriptor, each call names the descriptor, and what was expected.
func TestSetThatIsNotOpen(t *testing.T) {
	calls := epoll.System()
	calls.Create = func() (int, error) { return number, nil }
	_, err := epoll.NewNetpoll(nil, 0, calls)
	wantText(t, err, fmt.Sprintf("fcntl: set O_NONBLOCK of epoll set %d: %s", number, notOpen))
	_, err = epoll.NewBlocking(nil, calls)
	if !errors.Is(err, unix.EBADF) {
		t.Errorf("NewBlocking: %v, want EBADF", err)
	}
}

// TestErrorsOfControl: an error of a registration names the call, the descriptor, and what was expected.
func TestErrorsOfControl(t *testing.T) {
	p, err := epoll.NewNetpoll(nil, 0, epoll.System())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for doing, err := range map[string]error{
		"add": p.Add(number, poll.Readable, 1<<32), "modify": p.Modify(number, poll.Readable, 1<<32), "remove": p.Remove(number),
	} {
		wantText(t, err, fmt.Sprintf("epoll_ctl: %s descriptor %d: it is not open, want an open descriptor: bad file descriptor", doing, number))
	}
}

// TestCloseOfASetThatIsNotOpen: a blocking poller whose epoll set other code has closed says so, and closes the rest.
func TestCloseOfASetThatIsNotOpen(t *testing.T) {
	calls, event := epoll.System(), -1
	create := calls.CreateEvent
	calls.CreateEvent = func() (n int, err error) {
		event, err = create()
		return event, err
	}
	p, err := epoll.NewBlocking(nil, calls)
	if err != nil {
		t.Fatal(err)
	}
	set := p.FD()
	if err := unix.Close(set); err != nil {
		t.Fatal(err)
	}
	wantText(t, p.Close(), fmt.Sprintf("close: close epoll set %d: %s", set, notOpen))
	if _, err := unix.FcntlInt(uintptr(event), unix.F_GETFD, 0); err != unix.EBADF {
		t.Errorf("the eventfd is open after Close: %v", err)
	}
}

// TestWaitOfAClosedPoller returns an error, also if a wake-up has ended the sleep before it, and does not block.
func TestWaitOfAClosedPoller(t *testing.T) {
	for _, woken := range []bool{false, true} {
		p, err := epoll.NewNetpoll(nil, 0, epoll.System())
		if err != nil {
			t.Fatal(err)
		}
		if woken {
			time.AfterFunc(time.Millisecond, p.Wake)
			if err := p.Wait(poll.Deadline{}); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		if err := p.Close(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("the second Close: %v, want an error", err)
		}
		if p.Wait(poll.Deadline{}) == nil {
			t.Errorf("woken before %v: Wait of a closed poller returns no error", woken)
		}
	}
}
