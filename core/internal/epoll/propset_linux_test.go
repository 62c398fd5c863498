package epoll_test

import (
	"encoding/binary"
	"errors"
	"flag"
	"math"
	"net"
	"os"
	"runtime"
	"testing"

	"eventide/core/internal/epoll"
	"eventide/core/internal/poll"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// ioPoller is what both pollers do.
type ioPoller interface {
	Add(fd int, interest poll.Interest, token uint64) error
	Modify(fd int, interest poll.Interest, token uint64) error
	Remove(fd int) error
	Poll() error
	Ready() []poll.Event
	Watched() int
	FD() int
	Reopen() error
	Close() error
}

// watchedFD is a descriptor that a poller may watch, and what the specification says of it.
type watchedFD struct {
	fd, peer int // peer is -1 for an eventfd
	added    bool
	interest poll.Interest
	token    uint64
	fresh    bool // it was added or modified since the last poll: an edge is due
	acted    bool // its peer has acted since: an edge of the input is due
	took     bool // this side has read since: an edge may come
	over     bool // the peer has ended its side, or reset the connection
	reset    bool // a reset may cause several edges
	urgent   bool // the peer has sent urgent data
}

// TestPropPollReportsWhatIsWatched compares what both pollers report of generated descriptors with what poll(2) says
// of each descriptor and with its interest. Level-triggered readiness is reported by every poll, an edge by one. Urgent
// data is for edges of the input only (R204). FD is the epoll set.
func TestPropPollReportsWhatIsWatched(t *testing.T) {
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	seen, checks := map[string]int{}, 0
	rapid.Check(t, func(t *rapid.T) {
		checks++
		var fails string // the call of the poller that fails
		p := newPoller(t, &fails)
		defer p.Close()
		all := make([]*watchedFD, rapid.IntRange(1, 3).Draw(t, "descriptors"))
		for i := range all {
			all[i] = newWatchedFD(t, l)
			defer all[i].close()
			all[i].add(t, p, uint64(i+100)<<32)
		}
		for step := range rapid.IntRange(2, 12).Draw(t, "steps") {
			w := rapid.SampledFrom(all).Draw(t, "descriptor")
			switch rapid.SampledFrom([]string{"peer", "modify", "peer", "take", "remove", "add", "peer", "reopen"}).Draw(t, "step") {
			case "add":
				w.add(t, p, uint64(step+1)<<32)
			case "modify":
				w.modify(t, p, uint64(step+1)<<32)
			case "remove":
				if w.added {
					must(t, p.Remove(w.fd))
					w.added = false
				}
			case "peer":
				w.peerActs(t, p)
			case "take":
				w.take()
			case "reopen":
				reopen(t, p, &fails, all)
			}
			checkFD(t, p, w)
			for range 2 {
				must(t, p.Poll())
				checkReady(t, p, all, seen)
			}
		}
	})
	if checks < 100 {
		return // so few may leave a readiness out
	}
	for _, bit := range []string{"readable", "writable", "hung up", "failed", "urgent"} {
		if seen[bit] == 0 {
			t.Errorf("no descriptor was %s, so the property says nothing of that: %v", bit, seen)
		}
	}
}

// newPoller makes a poller. The call that fails names returns errInjected.
func newPoller(t *rapid.T, fails *string) ioPoller {
	calls := epoll.System()
	or := func(name string, call func() (int, error)) func() (int, error) {
		return func() (int, error) {
			if *fails == name {
				return -1, errInjected
			}
			return call()
		}
	}
	calls.Create, calls.CreateTimer, calls.CreateEvent = or("Create", calls.Create), or("CreateTimer", calls.CreateTimer), or("CreateEvent", calls.CreateEvent)
	control := calls.Control
	calls.Control = func(epfd, op, fd int, ev *unix.EpollEvent) error {
		if *fails == "Control" {
			return errInjected
		}
		return control(epfd, op, fd, ev)
	}
	var p ioPoller
	var err error
	if rapid.Bool().Draw(t, "blocking") {
		p, err = epoll.NewBlocking(nil, calls)
	} else {
		p, err = epoll.NewNetpoll(nil, 0, calls)
	}
	must(t, err)
	return p
}

var errInjected = errors.New("a call of the test")

// reopen calls Reopen, which may fail. Then it has no effect. Otherwise the poller watches nothing. It leaks no descriptor
// in either case (G24).
func reopen(t *rapid.T, p ioPoller, fails *string, all []*watchedFD) {
	*fails = rapid.SampledFrom([]string{"", "Create", "CreateTimer", "CreateEvent", "Control"}).Draw(t, "the call that fails")
	_, blocking := p.(*epoll.BlockingPoller)
	want := *fails != "" && (blocking || *fails != "CreateEvent")
	before := descriptors(t)
	err := p.Reopen()
	*fails = ""
	if (err != nil) != want || want && !errors.Is(err, errInjected) {
		t.Fatalf("Reopen: %v; a call of it has failed: %v", err, want)
	}
	if n := descriptors(t); n != before {
		t.Fatalf("G24: %d descriptors are open after Reopen, before %d; error %v", n, before, err)
	}
	if err == nil {
		for _, w := range all {
			w.added = false
		}
	}
}

// checkFD checks that FD is the epoll set that watches w: the kernel refuses to add w a second time.
func checkFD(t *rapid.T, p ioPoller, w *watchedFD) {
	if !w.added {
		return
	}
	if err := unix.EpollCtl(p.FD(), unix.EPOLL_CTL_ADD, w.fd, &unix.EpollEvent{}); err != unix.EEXIST {
		t.Fatalf("descriptor %d is added to set %d a second time: %v, want %v", w.fd, p.FD(), err, unix.EEXIST)
	}
}

// descriptors counts the descriptors of the process.
func descriptors(t *rapid.T) int {
	all, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(all)
}

func must(t *rapid.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newWatchedFD makes an eventfd, or one end of a connection.
func newWatchedFD(t *rapid.T, l net.Listener) *watchedFD {
	if rapid.SampledFrom([]bool{false, false, true}).Draw(t, "eventfd") {
		fd, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
		must(t, err)
		return &watchedFD{fd: fd, peer: -1}
	}
	peer, err := net.Dial("tcp4", l.Addr().String())
	must(t, err)
	ours, err := l.Accept()
	must(t, err)
	defer ours.Close()
	defer peer.Close()
	return &watchedFD{fd: duplicate(t, ours.(*net.TCPConn)), peer: duplicate(t, peer.(*net.TCPConn))}
}

func duplicate(t *rapid.T, c *net.TCPConn) (fd int) {
	raw, err := c.SyscallConn()
	must(t, err)
	var dup error
	must(t, raw.Control(func(old uintptr) { fd, dup = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0) }))
	must(t, dup)
	return fd
}

func (w *watchedFD) close() {
	_ = unix.Close(w.fd)
	if w.peer >= 0 {
		_ = unix.Close(w.peer)
	}
}

// interests are all there are, some of them twice: few descriptors get urgent data.
var interests = []poll.Interest{
	poll.Readable | poll.EdgeTriggered, poll.InterestMask, poll.InterestMask, poll.Readable, poll.Writable,
	poll.Readable | poll.Writable, poll.Readable | poll.EdgeTriggered, poll.Writable | poll.EdgeTriggered, poll.EdgeTriggered,
}

func (w *watchedFD) draw(t *rapid.T, token uint64) (poll.Interest, uint64) {
	interest := rapid.SampledFrom(interests).Draw(t, "interest")
	return interest, token | uint64(rapid.SampledFrom([]uint32{0, 1, math.MaxUint32}).Draw(t, "low half of the token"))
}

func (w *watchedFD) add(t *rapid.T, p ioPoller, token uint64) {
	interest, token := w.draw(t, token)
	before := p.Watched()
	err := p.Add(w.fd, interest, token)
	if w.added != errors.Is(err, unix.EEXIST) || !w.added && err != nil {
		t.Fatalf("Add of a descriptor that is watched already, %v: error %v", w.added, err)
	}
	if w.added {
		if p.Watched() != before {
			t.Fatalf("%d descriptors are watched after Add has failed, before %d", p.Watched(), before)
		}
		return
	}
	w.added, w.interest, w.token, w.fresh = true, interest, token, true
}

func (w *watchedFD) modify(t *rapid.T, p ioPoller, token uint64) {
	interest, token := w.draw(t, token)
	err := p.Modify(w.fd, interest, token)
	if w.added == errors.Is(err, unix.ENOENT) || w.added && err != nil {
		t.Fatalf("Modify of a descriptor that is watched, %v: error %v", w.added, err)
	}
	if w.added {
		w.interest, w.token, w.fresh = interest, token, true
	}
}

// peerActs changes the readiness of the descriptor from outside.
func (w *watchedFD) peerActs(t *rapid.T, p ioPoller) {
	if w.over {
		return
	}
	if w.peer < 0 {
		count := rapid.SampledFrom([]uint64{1, math.MaxUint64 - 1}).Draw(t, "count")
		var b [8]byte
		_, _ = unix.Read(w.fd, b[:])
		_, err := unix.Write(w.fd, binary.NativeEndian.AppendUint64(nil, count)) // at its greatest count an eventfd is not writable
		must(t, err)
		w.acted = true
		return
	}
	switch rapid.SampledFrom([]string{"urgent", "send", "end", "reset", "urgent"}).Draw(t, "the peer") {
	case "send":
		must(t, unix.Sendto(w.peer, []byte("data"), 0, nil))
	case "urgent":
		if w.urgent {
			return // the kernel may report an older mark again, or not
		}
		must(t, unix.Sendto(w.peer, []byte("!"), unix.MSG_OOB, nil))
		w.urgent = true
	case "end":
		must(t, unix.Shutdown(w.peer, unix.SHUT_WR))
		w.over = true
	case "reset":
		must(t, unix.SetsockoptLinger(w.peer, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1}))
		must(t, unix.Close(w.peer))
		w.over, w.reset, w.peer = true, true, -1
		until(func() bool { e := w.events(t); return e&unix.POLLERR != 0 && e&unix.POLLHUP != 0 })
		if w.added { // the kernel may wake the poller a moment later
			must(t, p.Modify(w.fd, w.interest, w.token))
		}
		w.acted = true
		return
	}
	until(func() bool { // the kernel has delivered everything
		n, err := unix.IoctlGetInt(w.peer, unix.SIOCOUTQ)
		must(t, err)
		return n == 0
	})
	w.acted = true
}

func until(done func() bool) {
	for !done() {
		runtime.Gosched()
	}
}

// take reads what is there.
func (w *watchedFD) take() {
	var b [256]byte
	_, _ = unix.Read(w.fd, b[:])
	w.took = true
}

// events is what poll(2) says of the descriptor.
func (w *watchedFD) events(t *rapid.T) int16 {
	one := []unix.PollFd{{Fd: int32(w.fd), Events: unix.POLLIN | unix.POLLOUT | unix.POLLPRI | unix.POLLRDHUP}}
	_, err := unix.Poll(one, 0)
	must(t, err)
	return one[0].Revents
}

// want returns the readiness that has to be reported of a descriptor with an interest.
func want(events int16, i poll.Interest) poll.Readiness {
	input, output := i&poll.Readable != 0, i&poll.Writable != 0
	r := poll.NewReadiness(
		input && events&(unix.POLLIN|unix.POLLRDHUP) != 0,
		output && events&unix.POLLOUT != 0,
		events&unix.POLLHUP != 0 || input && events&unix.POLLRDHUP != 0,
		events&unix.POLLERR != 0)
	if input && i&poll.EdgeTriggered != 0 && events&unix.POLLPRI != 0 {
		r = r.WithUrgent()
	}
	return r
}

// checkReady checks the events of one poll.
func checkReady(t *rapid.T, p ioPoller, all []*watchedFD, seen map[string]int) {
	got := map[uint64]poll.Readiness{}
	for _, ev := range p.Ready() {
		if _, twice := got[ev.Token]; twice {
			t.Fatalf("two events of the token %#x", ev.Token)
		}
		got[ev.Token] = ev.Readiness
	}
	watched := 0
	for _, w := range all {
		if !w.added {
			continue
		}
		watched++
		r, reported := got[w.token]
		delete(got, w.token)
		due := want(w.events(t), w.interest)
		edge := w.interest&poll.EdgeTriggered != 0
		switch {
		case reported && r != due:
			t.Fatalf("interest %v: reported %v, want %v", w.interest, r, due)
		case reported && edge && !w.fresh && !w.acted && !w.took && !w.reset:
			t.Fatalf("interest %v: %v is reported once more, though nothing has changed", w.interest, r)
		case !reported && due != 0 && (!edge || w.fresh || w.acted && w.interest&poll.Readable != 0):
			t.Fatalf("interest %v: nothing is reported, want %v", w.interest, due)
		}
		w.fresh, w.acted, w.took = false, false, false
		for name, is := range map[string]bool{"readable": r.Readable(), "writable": r.Writable(), "hung up": r.HungUp(), "failed": r.Failed(), "urgent": r.Urgent()} {
			if is {
				seen[name]++
			}
		}
	}
	if len(got) > 0 || p.Watched() != watched {
		t.Fatalf("%d descriptors are watched, want %d; events of none of them: %v", p.Watched(), watched, got)
	}
}
