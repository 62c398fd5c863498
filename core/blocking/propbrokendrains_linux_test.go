package blocking

import (
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"syscall"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// breaking is a connection whose input has ended. Its kernel reports unreceived bytes, and an error from one question on. Its
// journal has the calls of CloseWrite and Close, and the questions after a Close.
type breaking struct {
	net.Conn
	fd        int
	questions int // before the error
	broken    error
	journal   coretest.Journal
}

func (b *breaking) Read([]byte) (int, error)              { return 0, io.EOF }
func (b *breaking) Write(p []byte) (int, error)           { return len(p), nil }
func (b *breaking) SyscallConn() (syscall.RawConn, error) { return question{b}, nil }
func (b *breaking) CloseWrite() error                     { b.journal.Add("CloseWrite"); return nil }
func (b *breaking) Close() error                          { b.journal.Add("Close"); return b.Conn.Close() }

// question is the raw connection.
type question struct{ *breaking }

func (q question) Read(func(uintptr) bool) error  { return errors.ErrUnsupported }
func (q question) Write(func(uintptr) bool) error { return errors.ErrUnsupported }
func (q question) Control(f func(uintptr)) error {
	if slices.Contains(q.journal.All(), "Close") {
		q.journal.Add("question")
	}
	if q.questions--; q.questions < 0 {
		return q.broken
	}
	f(uintptr(q.fd))
	return nil
}

// TestPropBrokenDrains: a drain whose connection breaks ends with that error, which the handler gets, whether the error is there
// at the begin of the drain or only while the channel waits for the receipt. After an error at the begin the channel does not
// half-close, and after Close nothing asks the connection (G22, G23).
func TestPropBrokenDrains(t *testing.T) {
	planted := errors.New("planted")
	rapid.Check(t, func(rt *rapid.T) {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		coretest.Must(t, err)
		sender, receiver := os.NewFile(uintptr(fds[0]), "sender"), os.NewFile(uintptr(fds[1]), "receiver")
		defer func() { _, _ = sender.Close(), receiver.Close() }()
		_, err = sender.Write([]byte("unread"))
		coretest.Must(t, err)
		ours, theirs := net.Pipe()
		defer func() { _ = theirs.Close() }()
		conn := &breaking{Conn: ours, fd: fds[0], questions: rapid.IntRange(0, 3).Draw(rt, "questions"), broken: planted}
		first := conn.questions == 0
		g, err := NewGroup(0)
		coretest.Must(t, err)
		defer func() { <-g.Shutdown().Done() }()
		h := &endHandler{ended: make(chan struct{})}
		ch, err := g.Register(conn, h, WithHalfClosure(true))
		coretest.Must(t, err)
		coretest.Await(t, "the end of the input", h.ended)
		coretest.Await(t, "the answer", ch.WriteAndFlush([]byte("answer")).Done())
		var closing *core.Future[struct{}]
		calls := rapid.SampledFrom([]string{"CloseGracefully", "ShutdownGracefully", "both"}).Draw(rt, "call")
		if calls != "CloseGracefully" {
			coretest.MustShutdownGracefully(t, g, 0, 1<<62)
		}
		if calls != "ShutdownGracefully" {
			closing = ch.CloseGracefully(core.Deadline{})
		}
		coretest.Await(t, "the end of the channel", ch.CloseFuture().Done())
		if closing != nil {
			if err := coretest.AwaitErr(t, "CloseGracefully", closing); err != planted {
				rt.Fatalf("G23: CloseGracefully: %v, want %v", err, planted)
			}
		}
		g.Shutdown()
		report := coretest.AwaitDone(t, g)
		if ch.CloseCause() != planted || !slices.Equal(h.errs, []error{planted}) {
			rt.Fatalf("G22: the cause is %v, and the handler got %v, want %v", ch.CloseCause(), h.errs, planted)
		}
		if aborted := map[bool]int64{true: 1}[calls != "CloseGracefully"]; report.ChannelsAborted != aborted || report.ChannelsDrained != 0 {
			rt.Fatalf("G23: the report is %+v, want %d aborted", report, aborted)
		}
		want := []string{"CloseWrite", "Close", "Close"} // the first one cuts
		if first {
			want = want[1:]
		}
		if got := conn.journal.All(); !slices.Equal(got, want) {
			rt.Fatalf("G22: the calls of the connection are %q, want %q", got, want)
		}
	})
}

// endHandler keeps the errors.
type endHandler struct {
	HandlerBase
	ended chan struct{}
	errs  []error
}

func (h *endHandler) InputShutdown(*Channel)      { close(h.ended) }
func (h *endHandler) Error(_ *Channel, err error) { h.errs = append(h.errs, err) }
