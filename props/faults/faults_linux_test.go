package faults

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// must returns v, or ends the test.
func must[T any](t *testing.T, v T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// fixture has a socket pair whose first end is watched for edges by an epoll set.
type fixture struct {
	set      int
	fd, peer int
}

func newFixture(t *testing.T) fixture {
	set, err := EpollCreate1(unix.EPOLL_CLOEXEC)
	must(t, set, err)
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	must(t, pair, err)
	t.Cleanup(func() {
		for _, fd := range []int{set, pair[0], pair[1]} {
			_ = unix.Close(fd)
		}
	})
	f := fixture{set, pair[0], pair[1]}
	if errno := f.add(f.fd); errno != 0 {
		t.Fatal(errno)
	}
	return f
}

func (f fixture) add(fd int) syscall.Errno {
	event := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLET, Fd: int32(fd)}
	_, _, errno := RawSyscall6(syscall.SYS_EPOLL_CTL, uintptr(f.set), unix.EPOLL_CTL_ADD, uintptr(fd), uintptr(unsafe.Pointer(&event)), 0, 0)
	return errno
}

// events returns the events that are ready.
func (f fixture) events(t *testing.T) int {
	t.Helper()
	n, err := unix.EpollWait(f.set, make([]unix.EpollEvent, 4), 0)
	return must(t, n, err)
}

func (f fixture) read() error {
	buf := make([]byte, 8)
	_, _, errno := RawSyscall(syscall.SYS_READ, uintptr(f.fd), uintptr(unsafe.Pointer(&buf[0])), 8)
	return asError(errno)
}

// send sends some bytes with each of the two calls of core/tcp, and returns how many the kernel took.
func (f fixture) send() (n [2]int, err error) {
	p := []byte("a message of some bytes")
	r, _, errno := RawSyscall6(syscall.SYS_SENDTO, uintptr(f.fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), unix.MSG_NOSIGNAL, 0, 0)
	iov := []unix.Iovec{{Base: &p[0]}, {Base: &p[4]}}
	iov[0].SetLen(4)
	iov[1].SetLen(len(p) - 4)
	msg := unix.Msghdr{Iov: &iov[0]}
	msg.SetIovlen(2)
	s, _, again := RawSyscall(syscall.SYS_SENDMSG, uintptr(f.fd), uintptr(unsafe.Pointer(&msg)), unix.MSG_NOSIGNAL)
	if errno != again {
		return n, fmt.Errorf("sendto: %v, sendmsg: %v", errno, again)
	}
	return [2]int{int(r), int(s)}, asError(errno)
}

func asError(errno syscall.Errno) error {
	if errno != 0 {
		return errno
	}
	return nil
}

// callOf makes the call of a kind.
func (f fixture) callOf(t *testing.T, k Kind) error {
	switch {
	case k.Of("read"):
		return f.read()
	case k.Of("send"):
		_, err := f.send()
		return err
	case k.Of("accept"):
		_, _, err := Accept4(f.listener(t), unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		return err
	case k.Of("connect"):
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		must(t, fd, err)
		defer unix.Close(fd)
		addr, err := unix.Getsockname(f.listener(t))
		return Connect(fd, must(t, addr, err))
	case k.Of("epoll_wait"):
		_, err := EpollWait(f.set, make([]unix.EpollEvent, 4), 0)
		return err
	case k.Of("epoll_ctl"):
		return asError(f.add(f.peer))
	case k.Of("write"):
		_, err := Write(f.peer, []byte{1})
		return err
	}
	fd, err := map[string]func() (int, error){
		"socket":         func() (int, error) { return Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0) },
		"epoll_create1":  func() (int, error) { return EpollCreate1(unix.EPOLL_CLOEXEC) },
		"timerfd_create": func() (int, error) { return TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC) },
		"eventfd":        func() (int, error) { return Eventfd(0, unix.EFD_CLOEXEC) },
	}[table[k].call]()
	if err == nil {
		_ = unix.Close(fd)
	}
	return err
}

// listener returns a socket that listens on loopback.
func (f fixture) listener(t *testing.T) int {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	must(t, fd, err)
	t.Cleanup(func() { _ = unix.Close(fd) })
	err = errors.Join(unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), unix.Listen(fd, 1))
	return must(t, fd, err)
}

// TestEachKindIsInjected: a call fails as the plan says and is counted, and does not without a plan.
func TestEachKindIsInjected(t *testing.T) {
	for _, k := range Kinds() {
		f := newFixture(t)
		before := k.Count()
		stop := Use(Always(k))
		err := f.callOf(t, k)
		stop()
		if want := asError(k.Errno()); err != want || k.Count() == before {
			t.Errorf("%v: got %v, want %v, counted %d times", k, err, want, k.Count()-before)
		}
		before = k.Count()
		if err := f.callOf(t, k); k.Count() != before || err == k.Errno() && !k.Of("read", "accept") {
			t.Errorf("%v: without a plan got %v, counted %d times", k, err, k.Count()-before)
		}
	}
}

// TestShortWrites: a short write sends at least one byte and not all, with both calls, and Sent
// counts what the kernel took.
func TestShortWrites(t *testing.T) {
	f := newFixture(t)
	defer Use(Always(SendShort))()
	for range 100 {
		before := Sent()
		n, err := f.send()
		if err != nil || min(n[0], n[1]) < 1 || max(n[0], n[1]) >= 23 || Sent()-before != int64(n[0]+n[1]) {
			t.Fatalf("sent %v of 23 bytes each, %v, and counted %d", n, err, Sent()-before)
		}
		if got, _ := unix.Read(f.peer, make([]byte, 64)); got != n[0]+n[1] {
			t.Fatalf("the peer got %d bytes, want %d and %d", got, n[0], n[1])
		}
	}
}

// TestAnEdgeFollowsEAGAIN: after an injected EAGAIN the descriptor is reported once more. One that is
// not watched gets no such fault.
func TestAnEdgeFollowsEAGAIN(t *testing.T) {
	f := newFixture(t)
	if f.events(t) != 1 || f.events(t) != 0 {
		t.Fatal("the descriptor does not report one edge")
	}
	defer Use(Always(SendEAGAIN))()
	if _, err := f.send(); err != syscall.EAGAIN || f.events(t) != 1 {
		t.Errorf("got %v and no edge, want EAGAIN and one", err)
	}
	f.fd, f.peer = f.peer, f.fd
	if _, err := f.send(); err != nil {
		t.Errorf("a descriptor that is not watched: %v", err)
	}
}

// TestTheLoopsOfAnOwnerGoOn: one poll of an owner's set fails, after its first one has worked, and the owner
// is called; the set of the rebuild has none of the faults that end a loop.
func TestTheLoopsOfAnOwnerGoOn(t *testing.T) {
	called := 0
	var set int
	var err error
	poll := func() error { _, err := EpollWait(set, make([]unix.EpollEvent, 1), 0); return err }
	create := func() { set, err = EpollCreate1(unix.EPOLL_CLOEXEC) }
	stop := Use(Always(CreateEMFILE))
	Own(&Owner{Polled: func() { called++ }}, create)
	stop()
	defer unix.Close(must(t, set, err))
	stop = Use(Always(PollENOMEM))
	if first, second := poll(), poll(); first != nil || second != syscall.ENOMEM || called != 1 {
		t.Errorf("the polls return %v and %v, the owner was called %d times; want nil, ENOMEM and once", first, second, called)
	}
	stop()
	stop = Use(Always(CreateEMFILE))
	create()
	stop()
	defer unix.Close(must(t, set, err))
	stop = Use(Always(TimerEMFILE))
	timer, err := TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC)
	stop()
	defer unix.Close(must(t, timer, err))
	defer Use(Always(PollENOMEM))()
	if first, second := poll(), poll(); first != nil || second != nil || called != 1 {
		t.Errorf("after a rebuild the polls return %v and %v, and the owner was called %d times", first, second, called)
	}
}

// TestDraw: each kind is in some plans and not in others. Only leaves out the kinds of other calls.
func TestDraw(t *testing.T) {
	const draws = 100
	for _, k := range Kinds() {
		in := 0
		for seed := range uint64(draws) {
			p := Draw(rand.New(rand.NewPCG(seed, 0)))
			if p.rate[k] > 0 {
				in++
			}
			if q := p.Only("read"); q.rate[k] != 0 && !k.Of("read") {
				t.Errorf("%v is in a plan of read only", k)
			}
		}
		if in == 0 || in == draws {
			t.Errorf("%v is in %d of %d plans", k, in, draws)
		}
	}
}

// TestExplains: an error is explained by a kind that has been injected, and never if the code that
// makes the call has to handle it.
func TestExplains(t *testing.T) {
	for _, k := range []Kind{SendEPIPE, SendEINTR, ReadEAGAIN, AcceptAborted} {
		hit(k)
		err := fmt.Errorf("send: %w", k.Errno())
		if got := Explains(err); got != (k == SendEPIPE) {
			t.Errorf("%v: Explains is %v", err, got)
		}
	}
	if Explains(syscall.EINVAL) || Explains(nil) {
		t.Error("an error that is not injected is explained")
	}
}
