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

// If the kernel refuses a system call of a constructor, the error names the call, and no
// descriptor is left open.
func TestConstructorFaults(t *testing.T) {
	type calls = core.SystemCalls
	inject := map[string]func(*calls, error){
		"epoll_create1": func(s *calls, err error) { s.Create = func() (int, error) { return -1, err } },
		"timerfd_create": func(s *calls, err error) {
			s.CreateTimer = func() (int, error) { return -1, err }
		},
		"eventfd": func(s *calls, err error) { s.CreateEvent = func() (int, error) { return -1, err } },
	}
	for n := range 2 { // the n-th descriptor that is put into the set
		inject[fmt.Sprintf("epoll_ctl %d", n)] = func(s *calls, err error) {
			made, real := 0, s.Control
			s.Control = func(epfd, op, fd int, ev *unix.EpollEvent) error {
				if made++; made > n {
					return err
				}
				return real(epfd, op, fd, ev)
			}
		}
	}
	for _, e := range epolls {
		for call, fault := range inject {
			if e.name != "blocking" && (call == "eventfd" || call == "epoll_ctl 1") {
				continue // it has none
			}
			for _, errno := range []error{unix.EMFILE, unix.ENFILE, unix.ENOMEM, unix.ENOSPC} {
				t.Run(fmt.Sprintf("%s/%s/%v", e.name, call, errno), func(t *testing.T) {
					coretest.CheckLeaks(t)
					s := core.RealCalls()
					fault(&s, errno)
					p, err := e.make(nil, s)
					name, _, _ := strings.Cut(call, " ")
					if p != nil || !errors.Is(err, errno) || !strings.HasPrefix(err.Error(), name+": ") {
						t.Errorf("got %v, %v, want %s: %v", p, err, name, errno)
					}
				})
			}
		}
	}
}

// The same with the kernel's own refusal: no descriptor left. In a process of its
// own, as the limit is the process's.
func TestNewEventLoopWithoutDescriptors(t *testing.T) {
	if !crashes(t) {
		return
	}
	// This opens the network poller of Go's runtime. Without it the constructors fail
	// before they make a child: TestConstructorsAtEachCountOfFreeDescriptors.
	_, err := core.NewExecutor()
	coretest.Must(t, err)
	coretest.CheckLeaks(t)
	var limit unix.Rlimit
	coretest.Must(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	const most = 8 // descriptors that are free at the end; a loop needs fewer
	low := limit
	low.Cur = uint64(len(coretest.Descriptors(t)) + most)
	coretest.Must(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &low))
	// A number that was passed to the process may be above the limit, and leave room
	// below it.
	var hoard []int
	for {
		fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.EMFILE) {
			break
		}
		coretest.Must(t, err)
		hoard = append(hoard, fd)
	}
	if len(hoard) < most {
		t.Fatalf("%d descriptors up to the limit %d, want at least %d", len(hoard), low.Cur, most)
	}
	made, refused := 0, 0
	for free := range most {
		for _, opts := range [][]core.Option{nil, {core.WithBlockingEpoll()}} {
			l, err := core.NewEventLoop(opts...)
			switch {
			case err == nil:
				made++
				l.Shutdown()
				coretest.AwaitDone(t, l)
			case errors.Is(err, unix.EMFILE) && strings.HasPrefix(err.Error(), "core: NewEventLoop: "):
				refused++
			default:
				t.Errorf("NewEventLoop with %d free numbers: %v, want EMFILE", free, err)
			}
			g, err := core.NewGroup(3, opts...)
			switch {
			case err == nil:
				made++
				g.Shutdown()
				<-g.Termination().Done()
			case errors.Is(err, unix.EMFILE) && strings.Contains(err.Error(), "child"):
				refused++
			default:
				t.Errorf("NewGroup with %d free numbers: %v, want EMFILE and the child", free, err)
			}
		}
		coretest.Must(t, unix.Close(hoard[free]))
	}
	for _, fd := range hoard[most:] {
		coretest.Must(t, unix.Close(fd))
	}
	coretest.Must(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))
	if made == 0 || refused == 0 {
		t.Errorf("not exercised: with 0 to %d numbers %d were made and %d refused", most-1, made, refused)
	}
}
