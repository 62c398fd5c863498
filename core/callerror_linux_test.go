package core_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"

	"golang.org/x/sys/unix"
)

// Every error of a system call names the call and its object, the meaning of the errno and the
// expected state, and wraps the errno.
func TestErrorsOfSystemCallsSayWhatTheyMean(t *testing.T) {
	type calls = core.SystemCalls
	control := func(op int) func(*calls, error) {
		return func(s *calls, err error) {
			real := s.Control
			s.Control = func(epfd, o, fd int, ev *unix.EpollEvent) error {
				if o == op {
					return err
				}
				return real(epfd, o, fd, ev)
			}
		}
	}
	const fd = 1 << 20
	for _, tt := range []struct {
		name  string
		fault func(*calls, error)
		call  func(core.IOPoller) error // nil: the constructor
		errno unix.Errno
		want  []string
	}{
		{"create, process", func(s *calls, err error) { s.Create = func() (int, error) { return -1, err } }, nil, unix.EMFILE,
			[]string{"epoll_create1: make an epoll set: ", "RLIMIT_NOFILE", "want room"}},
		{"create, system", func(s *calls, err error) { s.Create = func() (int, error) { return -1, err } }, nil, unix.ENFILE,
			[]string{"epoll_create1: make an epoll set: ", "fs.file-max", "want room"}},
		{"timer", func(s *calls, err error) { s.CreateTimer = func() (int, error) { return -1, err } }, nil, unix.EMFILE,
			[]string{"timerfd_create: make the loop's timer: ", "RLIMIT_NOFILE", "want room"}},
		{"add the timer", control(unix.EPOLL_CTL_ADD), nil, unix.ENOSPC, []string{"epoll_ctl: add descriptor ", "max_user_watches", "want room"}},
		{"modify", control(unix.EPOLL_CTL_MOD), func(p core.IOPoller) error { return p.Modify(fd, core.Readable, 1<<32) }, unix.ENOENT,
			[]string{fmt.Sprintf("epoll_ctl: modify descriptor %d: ", fd), "closed while it was registered", "want"}},
		{"remove", control(unix.EPOLL_CTL_DEL), func(p core.IOPoller) error { return p.Remove(fd) }, unix.EBADF,
			[]string{fmt.Sprintf("epoll_ctl: remove descriptor %d: ", fd), "not open", "want an open descriptor"}},
		{"another errno", control(unix.EPOLL_CTL_MOD), func(p core.IOPoller) error { return p.Modify(fd, core.Readable, 1<<32) }, unix.EFAULT,
			[]string{fmt.Sprintf("epoll_ctl: modify descriptor %d: ", fd)}},
		{"poll", func(s *calls, err error) { s.Poll = func(int, []unix.EpollEvent) (int, error) { return 0, err } }, core.IOPoller.Poll, unix.EBADF,
			[]string{"epoll_wait: poll epoll set ", "not open", "want"}},
	} {
		for _, e := range epolls {
			t.Run(tt.name+"/"+e.name, func(t *testing.T) {
				coretest.CheckLeaks(t)
				s := core.RealCalls()
				tt.fault(&s, tt.errno)
				p, err := e.make(nil, s)
				if tt.call != nil {
					coretest.Must(t, err)
					err = tt.call(p)
					defer p.Close()
				}
				if !errors.Is(err, tt.errno) {
					t.Fatalf("got %v, want %v", err, tt.errno)
				}
				for _, part := range append(tt.want, tt.errno.Error()) {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("got %q, want %q in it", err, part)
					}
				}
			})
		}
	}
}
