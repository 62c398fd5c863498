package blocking_test

import (
	"flag"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// watchedConn is a connection in memory that can be half-closed, and whose peer has received everything when fd has
// nothing in flight. It records the calls that come after the close of its channel.
type watchedConn struct {
	net.Conn
	fd   int
	ch   atomic.Pointer[blocking.Channel]
	late coretest.Journal
}

func (c *watchedConn) gets(call string) {
	ch := c.ch.Load()
	if ch == nil {
		return
	}
	select {
	case <-ch.CloseFuture().Done():
		c.late.Add(call)
	default:
	}
}

func (c *watchedConn) Read(p []byte) (int, error) {
	c.gets("Read")
	return c.Conn.Read(p)
}

func (c *watchedConn) Write(p []byte) (int, error) {
	c.gets("Write")
	return c.Conn.Write(p)
}

func (c *watchedConn) CloseWrite() error {
	c.gets("CloseWrite")
	return nil
}

func (c *watchedConn) Close() error {
	c.gets("Close")
	return c.Conn.Close()
}

func (c *watchedConn) SyscallConn() (syscall.RawConn, error) {
	c.gets("SyscallConn")
	return rawFD(c.fd), nil
}

// rawFD is the syscall.RawConn of a descriptor.
type rawFD int

func (fd rawFD) Control(f func(uintptr)) error  { f(uintptr(fd)); return nil }
func (fd rawFD) Read(func(uintptr) bool) error  { return syscall.ENOTSUP }
func (fd rawFD) Write(func(uintptr) bool) error { return syscall.ENOTSUP }

// lateStep is a call of a channel, or what its peer does.
type lateStep struct {
	What      string
	Elsewhere bool // on another goroutine than the executor
}

func drawLateStep(t *rapid.T) lateStep {
	return lateStep{
		What: rapid.SampledFrom([]string{
			"Write", "WriteAndFlush", "Close", "Close", "CloseGracefully", "CloseGracefully", "with a deadline", "with a deadline in 1969", "ShutdownGracefully", "the peer ends", "the peer ends",
			"received", "5 ms pass", "5 ms pass",
		}).Draw(t, "step"),
		Elsewhere: rapid.Bool().Draw(t, "elsewhere"),
	}
}

// TestPropNoCallAfterTheClose: a connection gets no call once its channel is closed, whatever was requested before and in
// whatever order: a flush, a drain, a check of the peer's receipt. The futures of the close complete (G22, G24).
func TestPropNoCallAfterTheClose(t *testing.T) {
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(r *rapid.T) {
		bodies := rapid.SliceOfN(rapid.SliceOfN(rapid.Custom(drawLateStep), 1, 5), 1, 3).Draw(r, "bodies")
		half, wrong := rapid.Bool().Draw(r, "half closure"), ""
		var pair [2]int
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		coretest.Must(t, err)
		defer func() { _, _ = unix.Close(pair[0]), unix.Close(pair[1]) }()
		_, err = unix.Write(pair[0], []byte("x"))
		coretest.Must(t, err)
		synctest.Test(t, func(t *testing.T) { wrong = runLate(t, pair, bodies, half) })
		if wrong != "" {
			r.Fatal(wrong)
		}
	})
}

func runLate(t *testing.T, fds [2]int, bodies [][]lateStep, half bool) string {
	g, err := blocking.NewGroup(0)
	coretest.Must(t, err)
	ours, theirs := net.Pipe()
	c := &watchedConn{Conn: ours, fd: fds[0]}
	ch := mustRegister(t, g, c, &handler{}, blocking.WithHalfClosure(half))
	c.ch.Store(ch)
	go func() { _, _ = io.Copy(io.Discard, theirs) }()
	futures := []*core.Future[struct{}]{ch.CloseFuture()}
	call := func(what string) {
		switch what {
		case "Write":
			ch.Write([]byte("x"))
		case "WriteAndFlush":
			ch.WriteAndFlush([]byte("x"))
		case "Close":
			futures = append(futures, ch.Close())
		case "CloseGracefully":
			futures = append(futures, ch.CloseGracefully(core.Deadline{}))
		case "with a deadline":
			futures = append(futures, ch.CloseGracefully(time.Now().Add(7*time.Millisecond)))
		case "with a deadline in 1969":
			futures = append(futures, ch.CloseGracefully(time.Unix(-1, 0)))
		case "ShutdownGracefully":
			_, _ = g.ShutdownGracefully(time.Minute, time.Hour)
		case "the peer ends":
			_ = theirs.Close()
		case "received":
			_, _ = unix.Read(fds[1], make([]byte, 1))
		default:
			time.Sleep(5 * time.Millisecond)
		}
	}
	for _, steps := range bodies {
		over := make(chan struct{})
		if ch.EventLoop().Execute(func() {
			defer close(over)
			for _, s := range steps {
				if !s.Elsewhere {
					call(s.What)
					continue
				}
				called := make(chan struct{})
				go func() {
					defer close(called)
					call(s.What)
				}()
				<-called
			}
		}) != nil {
			break // the shutdown has closed the executor
		}
		<-over
		synctest.Wait()
	}
	futures = append(futures, ch.Close())
	time.Sleep(time.Second)
	synctest.Wait()
	for i, f := range futures {
		select {
		case <-f.Done():
		default:
			return fmt.Sprintf("future %d of %d is pending after Close", i, len(futures))
		}
	}
	_ = theirs.Close()
	<-g.Shutdown().Done()
	if late := c.late.All(); len(late) > 0 {
		return fmt.Sprintf("G22: the connection got %q after the close of its channel", late)
	}
	return ""
}
