package tcp_test

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"eventide/core/internal/coretest"
	"eventide/core/tcp"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// TestPropAccept compares a listener whose calls of accept fail with a specification. One readiness event makes 64 attempts at
// most, and ends early at EAGAIN. An error of one connection costs nothing but the attempt; if all attempts of an event fail so,
// the listener pauses, as it does after an error that may last. Each pause is twice as long as the one before, until a
// connection is taken. The first pause is logged at Warn, later short ones at Debug. An error of the listener's own socket
// closes it with this cause, and the connections that wait are reset.
func TestPropAccept(t *testing.T) {
	coretest.CheckLeaks(t)
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(r *rapid.T) {
		s := drawAcceptScript(r)
		want := s.spec()
		if got := s.run(t, len(want.attempts)); !slices.Equal(got.log, want.log) || got.stats != want.stats || got.cause != want.cause || !slices.Equal(got.attempts, want.attempts) {
			r.Fatalf("got %+v\nwant %+v", got, want)
		}
	})
}

// acceptScript has connections that wait when the listener first accepts, and the results of its attempts; 0 is a real call. All
// attempts behind the script are real.
type acceptScript struct {
	peers    int
	attempts []syscall.Errno
}

func drawAcceptScript(t *rapid.T) acceptScript {
	s := acceptScript{peers: rapid.IntRange(1, 3).Draw(t, "peers")}
	if rapid.IntRange(0, 9).Draw(t, "many peers") == 0 {
		s.peers = 70
	}
	add := func(n int, errno syscall.Errno) {
		s.attempts = append(s.attempts, slices.Repeat([]syscall.Errno{errno}, n)...)
	}
	for range rapid.IntRange(1, 5).Draw(t, "runs") {
		before := len(s.attempts)
		switch rapid.SampledFrom([]string{"one connection", "may last", "real", "no connection", "interrupted", "one connection", "listener"}).Draw(t, "result") {
		case "one connection":
			errno := rapid.SampledFrom([]syscall.Errno{unix.ECONNABORTED, unix.EPROTO, unix.ENETDOWN}).Draw(t, "errno")
			add(rapid.SampledFrom([]int{1, 63, 64, 65, 62}).Draw(t, "times"), errno)
		case "may last":
			add(rapid.IntRange(1, 2).Draw(t, "times"), rapid.SampledFrom([]syscall.Errno{unix.EMFILE, unix.EIO, unix.EPERM}).Draw(t, "errno"))
		case "real":
			add(rapid.IntRange(1, 2).Draw(t, "times"), 0)
		case "no connection":
			add(1, unix.EAGAIN)
		case "interrupted":
			add(rapid.IntRange(1, 3).Draw(t, "times"), unix.EINTR)
		case "listener":
			add(1, rapid.SampledFrom([]syscall.Errno{unix.EBADF, unix.EINVAL, unix.ENOTSOCK}).Draw(t, "errno"))
		}
		if s.spec().stats.Paused > 4 { // pauses take time
			s.attempts = s.attempts[:before]
		}
	}
	return s
}

// acceptOutcome is what a user sees.
type acceptOutcome struct {
	attempts []syscall.Errno // injected results, 0 for real calls
	stats    tcp.ListenerStats
	cause    string
	log      []string
}

// spec returns the outcome, up to the attempt with which nothing is left to do.
func (s acceptScript) spec() (o acceptOutcome) {
	const most = 64
	waiting, pause := s.peers, 5*time.Millisecond
	next := func() (errno syscall.Errno) {
		for {
			if n := len(o.attempts); n < len(s.attempts) {
				errno = s.attempts[n]
			} else {
				errno = 0
			}
			o.attempts = append(o.attempts, errno)
			switch {
			case errno == unix.EINTR:
			case errno == 0 && waiting == 0:
				return unix.EAGAIN
			default:
				return errno
			}
		}
	}
	// event returns the errno for which the listener pauses.
	event := func() syscall.Errno {
		some, last := false, syscall.Errno(0)
		for range most {
			errno := next()
			switch last = errno; errno {
			case 0:
				waiting--
				some = true
				o.stats.Accepted++
				pause = 5 * time.Millisecond
			case unix.EAGAIN:
				return 0
			case unix.EBADF, unix.EINVAL, unix.ENOTSOCK:
				o.cause = os.NewSyscallError("accept", errno).Error()
				o.log = append(o.log, fmt.Sprintf("ERROR tcp: the listener is broken %v", errno))
				return 0
			case unix.EMFILE, unix.EIO, unix.EPERM:
				return errno
			}
		}
		if some {
			return 0
		}
		return last
	}
	for paused := false; o.cause == "" && (waiting > 0 || paused); {
		errno := event()
		if paused = errno != 0; !paused {
			continue
		}
		level := slog.LevelDebug
		if o.stats.Paused++; o.stats.Paused == 1 {
			level = slog.LevelWarn
		}
		o.log = append(o.log, fmt.Sprintf("%v tcp: the listener pauses accept: %v %v", level, errno, pause))
		pause *= 2
	}
	return o
}

// acceptLog keeps the lines of a listener.
type acceptLog struct {
	slog.Handler
	mu    sync.Mutex
	lines []string
}

func (l *acceptLog) Enabled(context.Context, slog.Level) bool { return true }

func (l *acceptLog) Handle(_ context.Context, r slog.Record) error {
	line := r.Level.String() + " " + r.Message
	r.Attrs(func(a slog.Attr) bool {
		if a.Key != "listener" {
			line += " " + a.Value.String()
		}
		return true
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
	return nil
}

// run makes the listener accept, and returns what it has done after so many attempts.
func (s acceptScript) run(t *testing.T, attempts int) (o acceptOutcome) {
	log, made := &acceptLog{Handler: slog.DiscardHandler}, &atomic.Int64{}
	boss, worker := coretest.NewGroup(t, 1), coretest.NewGroup(t, 1)
	defer func() {
		boss.Shutdown()
		worker.Shutdown()
		coretest.AwaitDone(t, boss)
		coretest.AwaitDone(t, worker)
	}()
	l, err := tcp.Listen(boss, worker, "127.0.0.1:0", newEcho, tcp.WithLogger(slog.New(log)), tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
		if op != "accept" {
			return n, 0
		}
		errno := syscall.Errno(0)
		if len(o.attempts) < len(s.attempts) {
			errno = s.attempts[len(o.attempts)]
		}
		o.attempts = append(o.attempts, errno)
		made.Add(1)
		return n, errno
	}))
	coretest.Must(t, err)
	held, gate := make(chan struct{}), make(chan struct{})
	coretest.MustExecute(t, boss, func() { close(held); <-gate })
	coretest.Await(t, "the task", held)
	var conns []net.Conn
	for range s.peers {
		c, err := net.Dial("tcp", l.Addr().String())
		coretest.Must(t, err)
		defer c.Close()
		conns = append(conns, c)
	}
	coretest.Until(t, "the connections to be in the backlog", func() bool { return l.Waiting() == s.peers })
	close(gate)
	coretest.Until(t, "the attempts", func() bool { return made.Load() >= int64(attempts) })
	coretest.OnLoop(t, boss, func() {})
	if cause := l.CloseCause(); cause == nil {
		for _, c := range conns {
			mustEcho(t, c)
		}
	} else {
		o.cause = cause.Error()
		for _, c := range conns[l.Stats().Accepted:] {
			if n, err := readAll(c); n != 0 || err == nil {
				t.Errorf("a connection that waits at a broken listener reads %d bytes, and then %v, want a reset", n, err)
			}
		}
	}
	coretest.OnLoop(t, boss, func() {}) // o.attempts is of the loop
	log.mu.Lock()
	defer log.mu.Unlock()
	o.stats, o.log = l.Stats(), log.lines
	return o
}
