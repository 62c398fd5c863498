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
// system has no room for more than some kilobytes when the step cuts the response.
func TestCutRequestsCountTheirBytes(t *testing.T) {
	const read, unread = 10_000, 300_000
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
		if err := c.(*net.TCPConn).SetWriteBuffer(1 << 20); err != nil {
			t.Error(err)
		}
		return ctx
	}}
	step := HTTP(srv, HTTPOptions{Deadline: time.Millisecond})
	ctx, exit := context.WithCancel(t.Context())
	go func() {
		readSome(t, l.Addr().String(), read)
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
	if got.Acked < read || got.Unacked < unread-100_000 || got.Acked+got.Unacked < read+unread || got.Acked+got.Unacked > read+unread+1000 {
		t.Errorf("%+v, want at least %d bytes acknowledged and %d not", got, read, unread-100_000)
	}
	if !strings.Contains(cut.Error(), " bytes acknowledged, ") {
		t.Errorf("%q does not say how many bytes", cut)
	}
}

// readSome sends a request on a connection with a small receive buffer, and reads n bytes of the
// answer. The connection stays open until the end of the test.
func readSome(t *testing.T, addr string, n int) {
	small := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		return control(raw, func(fd int) error { return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 4096) })
	}}
	c, err := small.Dial("tcp", addr)
	if err != nil {
		t.Error(err)
		return
	}
	t.Cleanup(func() { c.Close() })
	if _, err := c.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")); err != nil {
		t.Error(err)
	}
	for piece := make([]byte, 1000); n > 0; {
		got, err := c.Read(piece)
		if err != nil {
			t.Error(err)
			return
		}
		n -= got
	}
}
