package process

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"golang.org/x/sys/unix"
)

// manager is a service manager that listens for notifications.
func manager(t *testing.T, name string) *net.UnixConn {
	t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// heard returns what the manager hears next.
func heard(t *testing.T, conn *net.UnixConn) string {
	t.Helper()
	text := make([]byte, 1024)
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil { // a guard
		t.Fatal(err)
	}
	n, err := conn.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(text[:n])
}

// shortDir is a directory whose name leaves room for that of a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "sd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// TestSystemdHears: READY at Ready, STOPPING at the begin of the exit, and before each part of
// the exit how long that may take.
func TestSystemdHears(t *testing.T) {
	coretest.CheckLeaks(t)
	path := filepath.Join(shortDir(t), "notify")
	conn := manager(t, path)
	t.Setenv("NOTIFY_SOCKET", path)
	plan := Plan{
		Start:    func(ctx context.Context) error { err := errors.Join(Ready(ctx), Ready(ctx)); <-ctx.Done(); return err },
		NotReady: func() {},
		PreDrain: time.Millisecond,
		Deadline: time.Minute,
		Steps:    []Step{{Name: "one", Deadline: 7 * time.Second, Run: func(context.Context) error { return nil }}},
		Logger:   slog.New(slog.DiscardHandler),
	}
	ctx, end := context.WithCancel(t.Context())
	code := make(chan int, 1)
	go func() { code <- Run(ctx, plan) }()
	want := func(texts ...string) {
		t.Helper()
		for _, want := range texts {
			if got := heard(t, conn); got != want {
				t.Fatalf("the manager heard %q, want %q", got, want)
			}
		}
	}
	want("READY=1")
	end()
	want("STOPPING=1", "EXTEND_TIMEOUT_USEC=6000000", "EXTEND_TIMEOUT_USEC=1001000", "EXTEND_TIMEOUT_USEC=8000000", "EXTEND_TIMEOUT_USEC=6000000")
	if got := <-code; got != CodeClean {
		t.Errorf("exit code %d, want 0", got)
	}
}

// TestSystemdHearsNoLateReady: READY=1 is not sent after the begin of the exit.
func TestSystemdHearsNoLateReady(t *testing.T) {
	coretest.CheckLeaks(t)
	path := filepath.Join(shortDir(t), "notify")
	conn := manager(t, path)
	t.Setenv("NOTIFY_SOCKET", path)
	ctx, end := context.WithCancel(t.Context())
	code := Run(ctx, Plan{
		Start:  func(ctx context.Context) error { end(); <-ctx.Done(); return Ready(ctx) },
		Logger: slog.New(slog.DiscardHandler),
	})
	coretest.Want(t, "exit code", code, CodeClean)
	coretest.Must(t, (&supervisor{address: path}).send("the end"))
	var all []string
	for len(all) == 0 || all[len(all)-1] != "the end" {
		all = append(all, heard(t, conn))
	}
	if all[0] != "STOPPING=1" || slices.Contains(all, "READY=1") {
		t.Errorf("the manager heard %q, want STOPPING=1 first, and no READY=1", all)
	}
}

// TestSystemdWatchdog is fed while the executors make progress, and no more when one is stuck.
func TestSystemdWatchdog(t *testing.T) {
	conn := manager(t, "@eventide-"+rand.Text()) // an abstract name, which all processes share
	environment := map[string]string{
		"NOTIFY_SOCKET": "@" + strings.TrimPrefix(conn.LocalAddr().String(), "@"), "WATCHDOG_USEC": "20000", "WATCHDOG_PID": "7",
	}
	getenv := func(name string) string { return environment[name] }
	var log coretest.Log
	s := newSupervisor(getenv, 7, &scribe{logger: slog.New(slog.NewTextHandler(&log, nil)), ctx: t.Context()})
	ex, err := core.NewExecutor()
	if err != nil {
		t.Fatal(err)
	}
	gate := make(chan struct{})
	stop := s.feed(newMonitor([]Step{{Name: "engine", Executor: ex}}))
	for range 3 {
		if got := heard(t, conn); got != "WATCHDOG=1" {
			t.Fatalf("the manager heard %q, want WATCHDOG=1", got)
		}
	}
	if err := ex.Execute(func() { <-gate }); err != nil {
		t.Fatal(err)
	}
	for !strings.Contains(log.String(), "executors are stuck") {
		time.Sleep(time.Millisecond) // polls: the watchdog's own clock decides when
	}
	close(gate)
	for { // what was said before, and then again
		if got := heard(t, conn); got != "WATCHDOG=1" {
			t.Fatalf("the manager heard %q, want WATCHDOG=1", got)
		}
		if ex.Termination().Report().Ran == 1 {
			break
		}
	}
	stop()
	if err := ex.Close(); err != nil {
		t.Error(err)
	}
	if n := strings.Count(log.String(), "executors are stuck"); n != 1 {
		t.Errorf("the log has %d lines, want 1:\n%s", n, log.String())
	}
	for name, other := range map[string]map[string]string{
		"no socket":         {"WATCHDOG_USEC": "20000"},
		"another process":   {"NOTIFY_SOCKET": "x", "WATCHDOG_USEC": "20000", "WATCHDOG_PID": "8"},
		"no watchdog":       {"NOTIFY_SOCKET": "x"},
		"not a number":      {"NOTIFY_SOCKET": "x", "WATCHDOG_USEC": "soon"},
		"less than nothing": {"NOTIFY_SOCKET": "x", "WATCHDOG_USEC": "-5"},
	} {
		if s := newSupervisor(func(n string) string { return other[n] }, 7, nil); s != nil && s.watchdog != 0 {
			t.Errorf("%s: the watchdog is %v, want none", name, s.watchdog)
		}
	}
}

// TestSystemdIsAbsent: a manager that does not listen is a warning, and no failure.
func TestSystemdIsAbsent(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", filepath.Join(shortDir(t), "nobody"))
	var log coretest.Log
	if code := Run(t.Context(), Plan{Start: func(ctx context.Context) error { return Ready(ctx) }, Logger: slog.New(slog.NewTextHandler(&log, nil))}); code != CodeClean {
		t.Errorf("exit code %d, want 0", code)
	}
	wantLine(t, log.String(), "level=WARN", "the service manager was not notified", "state=\"READY=1\"")
}

// passed returns the first of copies of descriptors in a row, as a service manager passes
// them.
func passed(t *testing.T, files ...*os.File) (first int) {
	t.Helper()
	const far = 100 // beyond what the test binary has open
	for i, f := range files {
		fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD, far)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = fd
		}
		if fd != first+i {
			t.Fatalf("descriptor %d is taken, want it free", first+i)
		}
	}
	return first
}

// TestListeners: the listeners have their names and accept; a variable or a descriptor that is
// wrong is an error that names it, and leaves nothing open.
func TestListeners(t *testing.T) {
	var files []*os.File
	var addresses []string
	for range 2 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		f, err := l.(*net.TCPListener).File()
		if err != nil {
			t.Fatal(err)
		}
		files, addresses = append(files, f), append(addresses, l.Addr().String())
		l.Close()
	}
	datagram, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, datagram)
	env := func(values ...string) func(string) string {
		names := []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}
		return func(name string) string {
			if i := slices.Index(names, name); i < len(values) {
				return values[i]
			}
			return ""
		}
	}
	first := passed(t, files...)
	all, err := listenersFrom(env("7", "2", "http"), 7, first)
	if err != nil || len(all) != 2 || all[0].Name != "http" || all[1].Name != "" {
		t.Fatalf("got %v, %v; want http and one without a name", all, err)
	}
	for i, l := range all {
		client, err := net.Dial("tcp", addresses[i])
		if err != nil {
			t.Fatal(err)
		}
		server, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		client.Close()
		if _, err := server.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("got %v, want EOF", err)
		}
		server.Close()
		l.Close()
	}
	_ = syscall.Close(first + 2) // it was not asked for
	for _, f := range files {
		defer f.Close()
	}
	for want, values := range map[string][]string{
		`LISTEN_PID is "me", want a process number`:          {"me", "1"},
		`LISTEN_FDS is "many", want a number of descriptors`: {"7", "many"},
		`LISTEN_FDS is "-1", want`:                           {"7", "-1"},
		`LISTEN_FDS is "", want`:                             {"7"},
		`LISTEN_FDS is "2147483647", want`:                   {"7", "2147483647"},
		`bad file descriptor`:                                {"7", "2000000000"}, // at once
		`("null")`:                                           {"7", "3", "a:b:null"},
	} {
		first := passed(t, files...)
		if all, err := listenersFrom(env(values...), 7, first); err == nil || all != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, %v; want %s", all, err, want)
		}
		for i := range files {
			_ = syscall.Close(first + i) // the test's own copies that were not taken
		}
	}
	for name, values := range map[string][]string{"none": {}, "those of another": {"8", "2"}, "no descriptors": {"7", "0"}} {
		if all, err := listenersFrom(env(values...), 7, first); err != nil || len(all) != 0 {
			t.Errorf("%s: got %v, %v; want none", name, all, err)
		}
	}
	t.Setenv("LISTEN_PID", "1")
	t.Setenv("LISTEN_FDS", "1")
	t.Setenv("LISTEN_FDNAMES", "x")
	if all, err := Listeners(); err != nil || all != nil {
		t.Errorf("got %v, %v; want none: they are for another process", all, err)
	}
	for _, name := range []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"} {
		if _, there := os.LookupEnv(name); there {
			t.Errorf("%s is left in the environment", name)
		}
	}
}

// TestListenersClosesAllOnAnError: the listeners before the wrong descriptor are closed, and so is that one.
func TestListenersClosesAllOnAnError(t *testing.T) {
	path := filepath.Join(shortDir(t), "socket")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	coretest.Must(t, err)
	l.SetUnlinkOnClose(false)
	f, err := l.File()
	coretest.Must(t, err)
	null, err := os.Open(os.DevNull)
	coretest.Must(t, err)
	first := passed(t, f, null)
	coretest.Must(t, errors.Join(l.Close(), f.Close(), null.Close()))
	environment := map[string]string{"LISTEN_PID": "7", "LISTEN_FDS": "3"} // the third one is not open
	if all, err := listenersFrom(func(name string) string { return environment[name] }, 7, first); err == nil {
		t.Fatalf("got %v, want an error", all)
	}
	if conn, err := net.Dial("unix", path); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a client got %v, %v, want that nobody listens", conn, err)
	}
	for fd := first; fd < first+2; fd++ {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != unix.EBADF {
			t.Errorf("descriptor %d: got %v, want that it is closed", fd, err)
		}
	}
}

// TestSystemdThatDoesNotRead: a manager whose queue is full is a warning, and does not hold up
// the exit.
func TestSystemdThatDoesNotRead(t *testing.T) {
	path := filepath.Join(shortDir(t), "notify")
	manager(t, path) // which nobody reads
	var log coretest.Log
	written := &scribe{logger: slog.New(slog.NewTextHandler(&log, nil)), ctx: t.Context()}
	s := &supervisor{address: path, log: written}
	const most = 100_000 // datagrams: more than any queue has room for
	for n := 0; log.String() == ""; n++ {
		if n == most {
			t.Fatalf("%d datagrams have room, want a queue that is full", most)
		}
		s.say("WATCHDOG=1")
		written.flush(time.Minute)
	}
	wantLine(t, log.String(), "level=WARN", "the service manager was not notified", "i/o timeout")
}
