package epoll

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"eventide/core/internal/poll"

	"golang.org/x/sys/unix"
)

// systemClock is a clock of the user's: a poller that has one needs no timerfd.
type systemClock struct{}

func (systemClock) Now() time.Time                                 { return time.Now() }
func (systemClock) AfterFunc(d time.Duration, f func()) poll.Alarm { return time.AfterFunc(d, f) }

// If the runtime's poller cannot watch the descriptor of the epoll set, the constructor fails, and
// closes the descriptor: a wake-up could not end a park.
func TestNetpollNeedsTheRuntimesPoller(t *testing.T) {
	calls, fd := System(), -1
	calls.Create = func() (n int, err error) { // epoll cannot watch a regular file
		fd, err = unix.Open(filepath.Join(t.TempDir(), "file"), unix.O_CREAT|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
		return fd, err
	}
	p, err := NewNetpoll(systemClock{}, 0, calls)
	if p != nil || err == nil {
		t.Fatalf("got %v, %v, want an error: the epoll set cannot be watched", p, err)
	}
	if _, err := os.Stat(filepath.Join("/proc/self/fd", strconv.Itoa(fd))); err == nil {
		t.Errorf("descriptor %d is open after the error", fd)
	}
}

// A loop without descriptors and without a deadline parks, and is woken, without a system call of its
// own. On one processor Wake comes when the loop has parked.
func TestWakeUpWithoutDescriptorsPollsNothing(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	calls, polls := System(), 0
	kernel := calls.Poll
	calls.Poll = func(epfd int, events []unix.EpollEvent) (int, error) { polls++; return kernel(epfd, events) }
	p, err := NewNetpoll(nil, 0, calls)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	const sleeps = poll.BusyTurns // after so many returns without a poll, Wait polls
	for before := range int64(sleeps) {
		woken := make(chan struct{})
		var called atomic.Bool
		go func() {
			defer close(woken)
			for p.Parks() == before {
				runtime.Gosched()
			}
			called.Store(true)
			p.Wake()
		}()
		if err := p.Wait(poll.Deadline{}); err != nil {
			t.Fatal(err)
		}
		if !called.Load() {
			t.Fatalf("sleep %d ended without a wake-up", before)
		}
		<-woken
	}
	if p.Parks() != sleeps || polls > 0 {
		t.Errorf("%d parks, %d polls, want %d and none", p.Parks(), polls, sleeps)
	}
}
