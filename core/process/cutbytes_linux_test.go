package process

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestCutRequestsCountTheirBytes: a client has read a part of a response, and of a later part its
// system has no room for more than some kilobytes when the step cuts the response. The later part fits
// in half of the server's send buffer, whose other half is for what the kernel adds to segments.
func TestCutRequestsCountTheirBytes(t *testing.T) {
	const read = 10_000
	unread := 300_000 // where net.core.wmem_max allows it
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	haveRead, written := make(chan struct{}), make(chan struct{})
	handler := func(w http.ResponseWriter, r *http.Request) {
		w.Write(make([]byte, read))
		http.NewResponseController(w).Flush()
		<-haveRead
		w.Write(make([]byte, unread))
		http.NewResponseController(w).Flush()
		close(written)
		<-r.Context().Done()
	}
	srv := &http.Server{Handler: http.HandlerFunc(handler), ConnContext: func(ctx context.Context, c net.Conn) context.Context {
		conn := c.(*net.TCPConn)
		size, err := 0, conn.SetWriteBuffer(1<<20)
		if err == nil {
			size, err = bufferSize(conn, unix.SO_SNDBUF)
		}
		if err != nil {
			t.Error(err)
		}
		unread = min(unread, size/2)
		return ctx
	}}
	step := HTTP(srv, HTTPOptions{Deadline: time.Millisecond})
	ctx, exit := context.WithCancel(t.Context())
	room := 0 // at the client, at most
	go func() {
		room = readSome(t, l.Addr().String(), read)
		close(haveRead)
		<-written
		exit()
	}()
	report := RunReport(ctx, Plan{
		Start: func(context.Context) error { return Served(srv.Serve(l)) }, Steps: []Step{step},
		Signals: []os.Signal{}, Logger: slog.New(slog.DiscardHandler),
	})
	var cut *CutError
	if !errors.As(report.Steps[0].Err, &cut) || len(cut.Requests) != 1 {
		t.Fatalf("the step: %+v, want one request cut", report.Steps[0])
	}
	// The client's system may have acknowledged some of the unread bytes. Headers are extra.
	got := cut.Requests[0]
	unacked, all := int64(unread-room), int64(read+unread)
	if got.Acked < read || got.Unacked < unacked || got.Acked+got.Unacked < all || got.Acked+got.Unacked > all+1000 {
		t.Errorf("%+v, want at least %d bytes acknowledged and %d not", got, read, unacked)
	}
	if !strings.Contains(cut.Error(), " bytes acknowledged, ") {
		t.Errorf("%q does not say how many bytes", cut)
	}
}

// readSome sends a request on a connection with a small receive buffer, and reads n bytes of the
// answer. It returns the size of this buffer in bytes. The connection stays open until the end of the test.
func readSome(t *testing.T, addr string, n int) int {
	small := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		return control(raw, func(fd int) error { return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 4096) })
	}}
	c, err := small.Dial("tcp", addr)
	if err != nil {
		t.Error(err)
		return 0
	}
	t.Cleanup(func() { c.Close() })
	if _, err := c.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")); err != nil {
		t.Error(err)
	}
	for piece := make([]byte, 1000); n > 0; {
		got, err := c.Read(piece)
		if err != nil {
			t.Error(err)
			return 0
		}
		n -= got
	}
	size, err := bufferSize(c.(*net.TCPConn), unix.SO_RCVBUF)
	if err != nil {
		t.Error(err)
	}
	return size
}

// bufferSize returns the size of a buffer of c in bytes, with what the kernel itself keeps in it. option is SO_SNDBUF or
// SO_RCVBUF.
func bufferSize(c *net.TCPConn, option int) (size int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	err = control(raw, func(fd int) (err error) {
		size, err = unix.GetsockoptInt(fd, unix.SOL_SOCKET, option)
		return err
	})
	return size, err
}
