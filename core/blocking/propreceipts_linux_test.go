package blocking_test

import (
	"errors"
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// receiptPlan is how a channel with a written answer ends, and what its peer does. An answer over TCP is
// received when the peer's kernel has it; over unix sockets, when the peer has read it.
type receiptPlan struct {
	Network string
	Early   bool   // the peer has ended its side before
	Last    bool   // the peer's end comes with its last bytes, and the handler answers them and makes the call
	Answer  int    // bytes
	Flushed bool   // before the end
	Read    bool   // by the peer before the end; the answer is flushed
	Resets  bool   // the TCP peer, which has read the answer, resets the connection during our CloseWrite
	Call    string // that ends the channel
	Peer    string // what the peer does after the call
}

func drawReceiptPlan(t *rapid.T) receiptPlan {
	p := receiptPlan{
		Network: rapid.SampledFrom([]string{"unix", "unix", "tcp"}).Draw(t, "network"),
		Early:   rapid.IntRange(0, 2).Draw(t, "early") > 0,
		Answer:  rapid.SampledFrom([]int{0, 1, 4000}).Draw(t, "answer"),
		Flushed: rapid.Bool().Draw(t, "flushed"),
		Call:    rapid.SampledFrom([]string{"ShutdownGracefully", "ShutdownGracefully", "CloseGracefully", "Close", "end of the input"}).Draw(t, "call"),
		Peer:    rapid.SampledFrom([]string{"stays", "reads", "ends and reads", "reads and closes", "closes"}).Draw(t, "peer"),
	}
	if (p.Call == "ShutdownGracefully" || p.Call == "CloseGracefully") && rapid.IntRange(0, 3).Draw(t, "last") == 0 {
		p.Last, p.Early, p.Flushed = true, false, false
	}
	if p.Flushed {
		p.Read = rapid.Bool().Draw(t, "read")
	}
	if p.Network == "tcp" && p.Peer == "closes" {
		p.Peer = "reads and closes"
	}
	if p.Call == "end of the input" {
		p.Early, p.Flushed, p.Read, p.Answer = false, false, false, max(p.Answer, 1)
	}
	if p.Call == "Close" {
		p.Peer = "stays"
	}
	if drains := p.Call == "ShutdownGracefully" || p.Call == "CloseGracefully"; drains && !p.Last && p.Network == "tcp" && (p.Read || p.Answer == 0) {
		p.Resets = rapid.Bool().Draw(t, "resets")
	}
	return p
}

// ends returns how the channel ends: drained, or failed by an error of the connection. With neither, the channel ends
// only if the test closes it. discarded is the number of bytes that were accepted and not sent.
func (p receiptPlan) ends() (drained, failed bool, discarded int64) {
	received := p.Read || p.Answer == 0 || p.Network == "tcp"
	reads := p.Peer == "reads" || p.Peer == "ends and reads" || p.Peer == "reads and closes"
	switch {
	case p.Call == "Close":
		if !p.Flushed {
			discarded = int64(p.Answer)
		}
		return p.Early && discarded == 0 && received, false, discarded
	case p.Call == "end of the input": // with the shutdown call in the last Write
		return received || reads, false, 0
	case p.Resets:
		return p.Early, !p.Early, 0
	case p.Peer == "closes" && !received:
		return false, true, 0
	}
	ended := p.Early || p.Last || p.Peer == "ends and reads" || p.Peer == "reads and closes" || p.Peer == "closes"
	return ended && (received || reads), false, 0
}

// hookedConn is a connection with hooks.
type hookedConn struct {
	net.Conn
	closeWrite, write func()        // called before CloseWrite and after Write
	last              bool          // the Read of the first input also returns the end of the stream
	ended             chan struct{} // closed by the Read that returns the end of the stream
	late              atomic.Int64  // later reads
}

func (h *hookedConn) Read(p []byte) (int, error) {
	select {
	case <-h.ended:
		h.late.Add(1)
	default:
	}
	n, err := h.Conn.Read(p)
	if n > 0 && h.last {
		err = io.EOF
	}
	if err == io.EOF && h.late.Load() == 0 {
		close(h.ended)
	}
	return n, err
}

func (h *hookedConn) NetConn() net.Conn { return h.Conn }

func (h *hookedConn) CloseWrite() error {
	if h.closeWrite != nil {
		h.closeWrite()
	}
	return h.Conn.(interface{ CloseWrite() error }).CloseWrite()
}

func (h *hookedConn) Write(p []byte) (int, error) {
	n, err := h.Conn.Write(p)
	if h.write != nil {
		h.write()
	}
	return n, err
}

// receiptRun runs a plan.
type receiptRun struct {
	plan         receiptPlan
	t            testing.TB
	g            *blocking.Group
	ch           *blocking.Channel
	conn         *hookedConn
	ours, theirs net.Conn
	unread       int                    // bytes of the answer
	inRead       chan struct{}          // closed when Handler.Read has made the call
	graceful     *core.Future[struct{}] // of CloseGracefully
}

// read reads the rest of the answer, as the peer.
func (r *receiptRun) read() {
	if _, err := io.ReadFull(r.theirs, make([]byte, r.unread)); err != nil {
		r.t.Errorf("the peer reads the answer: %v", err)
	}
	r.unread = 0
}

// reset resets the connection, as the peer, and returns when our kernel has received the reset.
func (r *receiptRun) reset() {
	_ = r.theirs.(*net.TCPConn).SetLinger(0)
	_ = r.theirs.Close()
	raw, err := r.ours.(syscall.Conn).SyscallConn()
	coretest.Must(r.t, err)
	coretest.Must(r.t, raw.Control(func(fd uintptr) {
		coretest.Until(r.t, "the reset", func() bool {
			fds := []unix.PollFd{{Fd: int32(fd)}}
			_, _ = unix.Poll(fds, 1000)
			return fds[0].Revents&unix.POLLERR != 0
		})
	}))
}

// unacknowledged returns how many bytes of a TCP connection the peer's kernel has not received.
func (r *receiptRun) unacknowledged() (n int) {
	raw, err := r.ours.(syscall.Conn).SyscallConn()
	coretest.Must(r.t, err)
	coretest.Must(r.t, raw.Control(func(fd uintptr) { n, err = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) }))
	coretest.Must(r.t, err)
	return n
}

// behave does what the peer does after the call that ends the channel.
func (r *receiptRun) behave() {
	switch r.plan.Peer {
	case "reads":
		r.read()
	case "ends and reads":
		_ = r.theirs.(interface{ CloseWrite() error }).CloseWrite()
		if !r.plan.Early && !r.plan.Last && r.plan.Call != "end of the input" {
			coretest.Await(r.t, "the end of the input", r.conn.ended)
			r.turn()
			r.turn()
		}
		r.read()
	case "reads and closes":
		r.read()
		_ = r.theirs.Close()
	case "closes":
		_ = r.theirs.Close()
	}
}

// turn returns when the executor has run a task. It returns at once if the executor has ended.
func (r *receiptRun) turn() {
	ran := make(chan struct{})
	if r.ch.EventLoop().Execute(func() { close(ran) }) == nil {
		coretest.Await(r.t, "a task", ran)
	}
}

// shutDownInWrite makes the shutdown call in the last Write, and then the peer acts.
func (r *receiptRun) shutDownInWrite() {
	_, _ = r.g.ShutdownGracefully(0, time.Hour)
	r.behave()
	r.acknowledged()
}

// acknowledged returns when the peer's kernel has received all bytes.
func (r *receiptRun) acknowledged() {
	if r.plan.Network == "tcp" {
		coretest.Until(r.t, "the acknowledgement", func() bool { return r.unacknowledged() == 0 })
	}
}

// begin registers the channel and, unless the handler does it later, writes the answer.
func (r *receiptRun) begin(half bool) {
	ended := make(chan struct{})
	h := &handler{inputShutdown: func(*blocking.Channel) { close(ended) }, read: func(ch *blocking.Channel, _ []byte) {
		ch.Write(make([]byte, r.plan.Answer))
		r.call(ch)
		close(r.inRead)
	}}
	r.unread = r.plan.Answer
	r.ch = mustRegister(r.t, r.g, r.conn, h, blocking.WithHalfClosure(half && r.plan.Call != "end of the input" || r.plan.Early))
	if r.plan.Last {
		return
	}
	if r.plan.Early {
		_ = r.theirs.(interface{ CloseWrite() error }).CloseWrite()
		coretest.Await(r.t, "the end of the input", ended)
	}
	w := r.ch.Write(make([]byte, r.plan.Answer))
	if r.plan.Flushed {
		r.ch.Flush()
		coretest.Await(r.t, "the answer", w.Done())
	}
	if r.plan.Read {
		r.read()
	}
	r.acknowledged()
}

// call makes the call of ShutdownGracefully or CloseGracefully.
func (r *receiptRun) call(ch *blocking.Channel) {
	if r.plan.Call == "CloseGracefully" {
		r.graceful = ch.CloseGracefully(core.Deadline{})
		return
	}
	_, _ = r.g.ShutdownGracefully(0, time.Hour)
}

// end makes the call that ends the channel, or lets the peer end the input. The peer does the rest after all bytes were
// sent.
func (r *receiptRun) end() {
	switch {
	case r.plan.Call == "Close":
		onLoop(r.t, r.ch, func() {
			r.call(r.ch)
			r.ch.Close()
		})
		return
	case r.plan.Call == "end of the input":
		_ = r.theirs.(interface{ CloseWrite() error }).CloseWrite()
		return
	case r.plan.Last:
		_, _ = r.theirs.Write([]byte("last"))
		coretest.Await(r.t, "the call in Read", r.inRead)
	default:
		r.call(r.ch)
	}
	if !r.plan.Resets {
		coretest.Until(r.t, "the rest of the answer", func() bool { return r.ch.PendingBytes() == 0 })
		r.behave()
	}
}

// check compares the end of the channel, the future of CloseGracefully and the report with the plan. A
// channel that does not end by itself is closed.
func (r *receiptRun) check(t *rapid.T) {
	drained, failed, discarded := r.plan.ends()
	byItself := drained || failed || r.plan.Call == "Close" || r.plan.Call == "end of the input"
	var want error
	switch {
	case failed:
		want = syscall.ECONNRESET
	case r.plan.Call == "end of the input":
		want = io.EOF
	case !byItself && r.graceful == nil:
		want = core.ErrShutdown
		r.g.Shutdown()
	case !byItself:
		r.ch.Close()
	}
	coretest.Await(r.t, "the end of the channel", r.ch.CloseFuture().Done())
	if cause := r.ch.CloseCause(); !errors.Is(cause, want) || (cause == nil) != (want == nil) {
		t.Fatalf("G23: the cause is %v, want %v", cause, want)
	}
	aborted := 1
	if drained {
		aborted = 0
	}
	if r.graceful != nil {
		if aborted = 0; !byItself {
			want = blocking.ErrChannelClosed
		}
		if err := coretest.AwaitErr(r.t, "CloseGracefully", r.graceful); !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Fatalf("G23: CloseGracefully: %v, want %v", err, want)
		}
		drained = false // before the shutdown, which does not count it
	}
	r.g.Shutdown()
	report := coretest.AwaitDone(r.t, r.g)
	if (report.ChannelsDrained == 1) != drained || report.ChannelsAborted != int64(aborted) || report.BytesDiscarded != discarded {
		t.Fatalf("G23: report %+v, want drained %v, %d aborted, %d discarded", report, drained, aborted, discarded)
	}
	if n := r.conn.late.Load(); n != 0 {
		t.Fatalf("the executor has read %d times after the end of the stream", n)
	}
}

// TestPropReceipts: a channel is drained when its peer has ended the stream and has received everything, in either
// order. A later reset changes nothing. A channel that is closed before that, or whose connection breaks before that, is
// aborted. After the end of the stream the executor does not read again (G23).
func TestPropReceipts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := &receiptRun{plan: drawReceiptPlan(rt), t: t, inRead: make(chan struct{})}
		var err error
		r.g, err = blocking.NewGroup(0)
		coretest.Must(t, err)
		defer func() { <-r.g.Shutdown().Done() }()
		addr := "127.0.0.1:0"
		if r.plan.Network == "unix" {
			addr = unixAddr(t)
		}
		r.ours, r.theirs = pair(t, r.plan.Network, addr)
		defer func() { _ = r.theirs.Close() }()
		r.conn = &hookedConn{Conn: r.ours, last: r.plan.Last, ended: make(chan struct{})}
		if r.plan.Resets {
			r.conn.closeWrite = r.reset
		}
		if r.plan.Call == "end of the input" {
			r.conn.write = r.shutDownInWrite
		}
		r.begin(rapid.Bool().Draw(rt, "half closure"))
		r.end()
		r.check(rt)
	})
}
