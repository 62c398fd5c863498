package blocking_test

import (
	"io"
	"net"
	"testing"

	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// halfClosing is a connection without a receipt, with a way to half-close.
type halfClosing struct {
	net.Conn
	closeWrite func()
	input      io.Reader
}

func (h *halfClosing) Read(p []byte) (int, error) {
	if h.input != nil {
		return h.input.Read(p)
	}
	return h.Conn.Read(p)
}

func (h *halfClosing) CloseWrite() error { h.closeWrite(); return nil }

// G23: for a connection without a receipt only the order of the ends is known: an end of
// the input that came before our own end, after a write, is not an answer to our end.
func TestG23OrderOfTheEndsWithoutAReceipt(t *testing.T) {
	for _, row := range []struct {
		name    string
		early   bool // the peer's end comes before our answer
		answer  string
		drained int64
	}{
		{"after ours", false, "answer", 1},
		{"before ours", true, "answer", 0},
		{"before ours, and nothing was sent", true, "", 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := newGroup(t, 0)
			ours, theirs := net.Pipe()
			closeAtEnd(t, theirs)
			got := make(chan string, 1)
			go func() {
				p := make([]byte, 16)
				n, _ := theirs.Read(p)
				got <- string(p[:n])
			}()
			ended := make(chan struct{})
			conn := &halfClosing{Conn: ours, closeWrite: func() {}}
			if row.early {
				conn.input = eof{}
			} else {
				conn.closeWrite = func() { _ = theirs.Close() } // it answers our end with its own
			}
			ch := mustRegister(t, g, conn, &handler{
				inputShutdown: func(*blocking.Channel) { close(ended) },
			}, blocking.WithHalfClosure(true))
			if row.early {
				coretest.Await(t, "the end of the input", ended)
			}
			ch.WriteAndFlush([]byte(row.answer))
			coretest.MustShutdownGracefully(t, g, 0, long)
			report := coretest.AwaitDone(t, g)
			if report.ChannelsDrained != row.drained || report.ChannelsAborted != 1-row.drained || report.BytesDiscarded != 0 {
				t.Errorf("G23: report %+v, want %d drained, %d aborted, 0 discarded", report, row.drained, 1-row.drained)
			}
			if answer := <-got; answer != row.answer || ch.CloseCause() != nil {
				t.Errorf("the peer got %q, the cause is %v, want %q, none", answer, ch.CloseCause(), row.answer)
			}
		})
	}
}

// eof is an input that has ended.
type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }

// G23: an end of the input that was read before our own end was sent is not an answer to it either
// if the loop handles it after that. Here the shutdown comes as the read returns, and the loop drains
// channels before it handles input.
func TestG23EndOfTheInputIsReadAsTheShutdownComes(t *testing.T) {
	g := newGroup(t, 0)
	ours, theirs := net.Pipe()
	closeAtEnd(t, theirs)
	go func() { _, _ = io.Copy(io.Discard, theirs) }()
	conn := &halfClosing{Conn: ours, closeWrite: func() {}, input: shutdown(func() { coretest.MustShutdownGracefully(t, g, 0, long) })}
	mustRegister(t, g, conn, &handler{
		active: func(ch *blocking.Channel) { ch.WriteAndFlush([]byte("answer")) },
	})
	if report := coretest.AwaitDone(t, g); report.ChannelsDrained != 0 || report.ChannelsAborted != 1 {
		t.Errorf("G23: report %+v, want 0 drained, 1 aborted: the peer may have received nothing", report)
	}
}

// shutdown is an input at whose end something happens.
type shutdown func()

func (s shutdown) Read([]byte) (int, error) {
	s()
	return 0, io.EOF
}
