package process

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// supervisor sends notifications to the service manager that started the process, by
// systemd's protocol sd_notify(3). A nil supervisor sends nothing.
type supervisor struct {
	// Set once.
	address  string
	watchdog time.Duration // the longest allowed time between two WATCHDOG=1; 0: the manager wants none
	log      *scribe
}

// mostMicroseconds is the longest time.Duration, 292 years. A longer interval counts as no watchdog.
const mostMicroseconds = uint64(math.MaxInt64 / time.Microsecond)

// newSupervisor returns the supervisor that the environment names, or nil.
func newSupervisor(getenv func(string) string, pid int, log *scribe) *supervisor {
	address := getenv("NOTIFY_SOCKET")
	if address == "" {
		return nil
	}
	s := &supervisor{address: address, log: log}
	if owner := getenv("WATCHDOG_PID"); owner == "" || owner == strconv.Itoa(pid) {
		if usec, err := strconv.ParseUint(getenv("WATCHDOG_USEC"), 10, 64); err == nil && usec <= mostMicroseconds {
			s.watchdog = time.Duration(usec) * time.Microsecond
		}
	}
	return s
}

// say sends an assignment such as READY=1. A failure is logged: the program goes on without
// its supervisor.
func (s *supervisor) say(text string) {
	if s == nil {
		return
	}
	if err := s.send(text); err != nil {
		s.log.log(slog.LevelWarn, "the service manager was not notified", "state", text, "error", err)
	}
}

func (s *supervisor) send(text string) error {
	address := s.address
	if after, abstract := strings.CutPrefix(address, "@"); abstract {
		address = "\x00" + after
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: address, Net: "unixgram"})
	if err != nil {
		return err
	}
	defer conn.Close()
	// A manager that does not read its socket would otherwise hold up the exit for ever.
	_ = conn.SetWriteDeadline(time.Now().Add(heedTime)) // conn is open, so it does not fail
	_, err = conn.Write([]byte(text))
	return err
}

// extend announces that the next part of the exit takes d at most, because TimeoutStopSec of
// the unit may be less. It is called before each part and not once for all, so that systemd
// still kills an exit that hangs.
func (s *supervisor) extend(d time.Duration) {
	const margin = time.Second // until the next part begins, on a busy machine
	s.say("EXTEND_TIMEOUT_USEC=" + strconv.FormatInt(sum(d, margin).Microseconds(), 10))
}

// feed sends WATCHDOG=1 twice in each interval of the watchdog while no executor is
// stuck. stop ends it.
func (s *supervisor) feed(m *monitor) (stop func()) {
	if s == nil || s.watchdog == 0 {
		return func() {}
	}
	quit, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		ticks := time.NewTicker(s.watchdog / 2)
		defer ticks.Stop()
		for said := false; ; {
			stuck := m.stuck(time.Now(), s.watchdog)
			switch {
			case len(stuck) == 0:
				s.say("WATCHDOG=1")
				said = false
			case !said:
				said = true
				s.log.log(slog.LevelError, "executors are stuck: the watchdog is not fed", "stuck", stuck)
			}
			select {
			case <-quit:
				return
			case <-ticks.C:
			}
		}
	}()
	return func() { close(quit); <-over }
}

// firstListenFD is the first descriptor of socket activation: after standard input, output
// and error.
const firstListenFD = 3

// Listeners returns the listeners that a service manager has opened for the process (socket
// activation, sd_listen_fds(3)), in the order of the unit, or none. The manager keeps the
// sockets open while the process restarts, so no connection is refused meanwhile: HTTP leaves
// the connections that it does not accept to the next process.
//
// Call it once, before other goroutines read the environment: it removes LISTEN_PID,
// LISTEN_FDS and LISTEN_FDNAMES from the environment, so that no child process claims the
// listeners. If a variable is malformed, it returns an error. If a descriptor is no listener, it
// closes all descriptors and returns an error for each of these; if one is not open, it ignores
// those behind it.
func Listeners() ([]Listener, error) {
	defer func() {
		for _, name := range []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"} {
			_ = os.Unsetenv(name) // it fails only for malformed names
		}
	}()
	return listenersFrom(os.Getenv, os.Getpid(), firstListenFD)
}

func listenersFrom(getenv func(string) string, pid, first int) (all []Listener, err error) {
	owner, count := getenv("LISTEN_PID"), getenv("LISTEN_FDS")
	if owner == "" && count == "" {
		return nil, nil
	}
	if number, err := strconv.Atoi(owner); err != nil {
		return nil, fmt.Errorf("process: Listeners: LISTEN_PID is %q, want a process number", owner)
	} else if number != pid {
		return nil, nil // they are for the process that started this one
	}
	n, err := strconv.Atoi(count)
	if err != nil || n < 0 || n > math.MaxInt32-first {
		return nil, fmt.Errorf("process: Listeners: LISTEN_FDS is %q, want a number of descriptors", count)
	}
	names := strings.Split(getenv("LISTEN_FDNAMES"), ":")
	for i := range n {
		name := ""
		if i < len(names) {
			name = names[i]
		}
		l, failed := listenerOf(first+i, name)
		if failed != nil {
			if err = errors.Join(err, failed); errors.Is(failed, syscall.EBADF) {
				break // not open: the manager leaves no gap, so the count is wrong, and may be two billion
			}
			continue // the later descriptors must be closed too
		}
		all = append(all, Listener{name, l})
	}
	if err != nil {
		for _, l := range all {
			_ = l.Close() // err says more
		}
		return nil, err
	}
	for _, l := range all {
		inherit(l.Listener)
	}
	return all, nil
}

// listenerOf takes over a descriptor.
func listenerOf(fd int, name string) (net.Listener, error) {
	file := os.NewFile(uintptr(fd), "listener "+name)
	defer file.Close() // FileListener has a copy, which is closed on exec
	l, err := net.FileListener(file)
	if err != nil {
		return nil, fmt.Errorf("process: Listeners: descriptor %d (%q): %w", fd, name, err)
	}
	return l, nil
}
