package tcp_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/tcp"

	"golang.org/x/sys/unix"
)

// TestG23Drain shuts a loop down whose channel has accepted more than the kernel
// takes, with peers of all kinds. A drained channel: sent = received. An aborted one:
// received <= sent - discarded. Both are counted, and nothing outlives the deadline.
func TestG23Drain(t *testing.T) {
	const sent = 16 << 20
	const soon = 300 * time.Millisecond // deadline of the shutdowns that must fail
	cases := []struct {
		name    string
		timeout time.Duration
		peer    func(c *net.TCPConn) int64 // returns what it received
		drained bool
	}{
		{"reader", hangGuard, func(c *net.TCPConn) int64 { n, _ := readAll(c); _ = c.Close(); return n }, true},
		{"slow reader", hangGuard, func(c *net.TCPConn) int64 { n := readSlowly(c); _ = c.Close(); return n }, true},
		{"reader that ended its side before", hangGuard, func(c *net.TCPConn) int64 {
			_ = c.CloseWrite()
			n, _ := readAll(c)
			_ = c.Close()
			return n
		}, true},
		{"reader that keeps sending until it has all", hangGuard, func(c *net.TCPConn) int64 {
			stop := flood(c)
			n, _ := readAll(c)
			stop()
			_ = c.Close()
			return n
		}, true},
		{"peer that sends first and then reads", hangGuard, func(c *net.TCPConn) int64 {
			_, _ = c.Write(make([]byte, 32<<20)) // more than the kernels hold: it must be read
			_ = c.CloseWrite()
			n, _ := readAll(c)
			_ = c.Close()
			return n
		}, true},
		{"half a message", hangGuard, func(c *net.TCPConn) int64 {
			_, _ = c.Write([]byte("half a mess"))
			n, _ := readAll(c)
			_, _ = c.Write([]byte("age"))
			_ = c.Close()
			return n
		}, true},
		{"dead reader", soon, nil, false},
		{"reader that never ends its side", soon, func(c *net.TCPConn) int64 { n, _ := readAll(c); return n }, false},
		{"reader that keeps sending", soon, func(c *net.TCPConn) int64 {
			stop := flood(c)
			n, _ := readAll(c)
			stop()
			return n
		}, false},
		{"reset", hangGuard, func(c *net.TCPConn) int64 {
			n, _ := io.CopyN(io.Discard, c, 1<<20)
			_ = c.SetLinger(0)
			_ = c.Close()
			return n
		}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			checkLeaks(t)
			p := newPair(t, nil)
			write := p.ch.WriteAndFlush(make([]byte, sent))
			received := make(chan int64, 1)
			if c.peer != nil {
				go func() { received <- c.peer(p.peer) }()
			}
			if _, err := p.group.ShutdownGracefully(0, c.timeout); err != nil {
				t.Fatal(err)
			}
			wantErr(t, "G22: write after the shutdown call", p.ch.Write([]byte("x")).Err(), tcp.ErrChannelClosing)
			wantErr(t, "G22: flush after the shutdown call", p.ch.Flush().Err(), tcp.ErrChannelClosing)
			began := time.Now()
			r := awaitGroup(t, p.group)
			if took := time.Since(began); !c.drained && c.timeout == soon && took > soon+hangGuard/2 {
				t.Errorf("G23: the shutdown took %v, its deadline was %v", took, soon)
			}
			if c.peer == nil {
				go func() { n, _ := readAll(p.peer); received <- n }()
			}
			got := <-received
			n, err := write.Wait(context.Background())
			if c.drained {
				if r.ChannelsDrained != 1 || r.ChannelsAborted != 0 || r.BytesDiscarded != 0 || got != sent || err != nil || r.TimedOut {
					t.Errorf("G23: drained: sent %d, received %d, write error %v, report %+v", int64(sent), got, err, r)
				}
				return
			}
			if r.ChannelsDrained != 0 || r.ChannelsAborted != 1 || got > sent-r.BytesDiscarded || int64(n) != sent-r.BytesDiscarded {
				t.Errorf("G23: aborted: sent %d, received %d, the kernel took %d, report %+v", int64(sent), got, n, r)
			}
			wantErr(t, "G22: a write after everything", p.ch.Write([]byte("x")).Err(), tcp.ErrChannelClosing, tcp.ErrChannelClosed)
		})
	}
}

func readSlowly(c net.Conn) (n int64) {
	b := make([]byte, 128<<10)
	for {
		m, err := c.Read(b)
		n += int64(m)
		if err != nil {
			return n
		}
		if n&(1<<20) != 0 {
			time.Sleep(time.Millisecond) // slow, not synchronised with anything
		}
	}
}

// flood writes to c until it fails or stop is called.
func flood(c *net.TCPConn) (stop func()) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		b := make([]byte, 64<<10)
		for {
			if _, err := c.Write(b); err != nil {
				return
			}
		}
	}()
	return func() {
		_ = c.SetWriteDeadline(time.Unix(1, 0))
		<-over
	}
}

// TestG23InputIsAnswered: what a handler was given before the shutdown was told to
// the loop it can still answer, and it is given nothing after.
func TestG23InputIsAnswered(t *testing.T) {
	checkLeaks(t)
	var given, answered atomic.Int64
	var draining atomic.Bool
	p := newPair(t, func(at string, ch *tcp.Channel, b []byte) {
		if at != "Read" {
			return
		}
		if draining.Load() {
			t.Error("G23: a draining channel delivered input")
		}
		given.Add(int64(len(b)))
		if f := ch.WriteAndFlush(b); f.Err() == nil {
			answered.Add(int64(len(b)))
		} else if !draining.Load() {
			t.Errorf("G23: a handler could not answer what it was given: %v", f.Err())
		}
	})
	stop := flood(p.peer)
	received := make(chan int64, 1)
	go func() { n, _ := readAll(p.peer); received <- n }()
	awaitCount(t, p.log, "Read", 20)
	on(t, p.ch.EventLoop(), func() {
		p.ch.CloseGracefully(time.Time{})
		draining.Store(true)
	})
	got := <-received
	stop()
	_ = p.peer.Close()
	awaitErr(t, "the close", p.ch.CloseFuture())
	if got != given.Load() || got != answered.Load() {
		t.Errorf("G23: given %d bytes, answered %d, the peer received %d", given.Load(), answered.Load(), got)
	}
}

// TestG23AnswerWithinRead: a handler that is in Read when somebody else asks for the
// end can still answer what it was given; everybody else is refused already.
func TestG23AnswerWithinRead(t *testing.T) {
	for name, end := range map[string]func(p *pair){
		"CloseGracefully":    func(p *pair) { p.ch.CloseGracefully(time.Time{}) },
		"ShutdownGracefully": func(p *pair) { _, _ = p.group.ShutdownGracefully(0, hangGuard) },
	} {
		t.Run(name, func(t *testing.T) {
			checkLeaks(t)
			reading, asked := make(chan struct{}), make(chan struct{})
			var answer tcp.WriteFuture
			p := newPair(t, func(at string, ch *tcp.Channel, b []byte) {
				if at == "Read" {
					close(reading)
					<-asked
					answer = ch.WriteAndFlush([]byte("answer"))
				}
			})
			_, _ = p.peer.Write([]byte("question"))
			await(t, "the read", reading)
			end(p)
			wantErr(t, "G22: write from outside", p.ch.Write([]byte("x")).Err(), tcp.ErrChannelClosing)
			close(asked)
			got, err := io.ReadAll(p.peer)
			if string(got) != "answer" || err != nil {
				t.Errorf("G23: the peer got %q, %v; want the answer", got, err)
			}
			_ = p.peer.Close()
			p.await(t, "Unregistered")
			wantErr(t, "G23: the answer", awaitWrite(t, answer), nil)
		})
	}
}

// TestG23EndOfInputBeforeDrain: the peer's end is read after the shutdown call and
// before the loop tells its channels. That closes the channel as always; it counts as
// drained only if the peer's kernel has acknowledged everything.
func TestG23EndOfInputBeforeDrain(t *testing.T) {
	for name, c := range map[string]struct{ size, drained, aborted int64 }{
		"acknowledged":     {10, 1, 0},
		"not acknowledged": {400_000, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			checkLeaks(t)
			reading, ended := make(chan struct{}), make(chan struct{})
			var left int64 = -1
			p := newPair(t, func(at string, ch *tcp.Channel, _ []byte) {
				switch at {
				case "Read":
					close(reading)
					<-ended
					ch.WriteAndFlush(make([]byte, c.size))
				case "Inactive":
					left = ch.PendingBytes()
				}
			}, tcp.WithReadBuffer(1)) // the read is full: the next one finds the end
			_, _ = p.peer.Write([]byte("x"))
			await(t, "the read", reading)
			_ = p.peer.CloseWrite()
			if _, err := p.group.ShutdownGracefully(0, hangGuard); err != nil {
				t.Fatal(err)
			}
			close(ended)
			r := awaitGroup(t, p.group)
			if r.ChannelsDrained != c.drained || r.ChannelsAborted != c.aborted || left != 0 {
				t.Errorf("G23: %d drained, %d aborted, %d bytes left; want %d, %d, 0", r.ChannelsDrained, r.ChannelsAborted, left, c.drained, c.aborted)
			}
		})
	}
}

// TestG23ManyChannels shuts down loops with very many channels, whose peers are another
// process: each peer that reads gets everything, each that does not is aborted and
// accounted for.
func TestG23ManyChannels(t *testing.T) {
	checkLeaks(t)
	n := 10_000
	if testing.Short() {
		n = 500
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if most := int(limit.Cur) - 200; n > most {
		t.Logf("%d channels instead of %d, as %d descriptors are allowed", most, n, limit.Cur)
		n = most
	}
	dead := int64((n + deadOf - 1) / deadOf)
	var active, drained sync.WaitGroup
	active.Add(n)
	drained.Add(n - int(dead))
	var ended atomic.Int64
	boss, workers := newGroup(t, 1), newGroup(t, 2)
	l, err := tcp.Listen(boss, workers, "127.0.0.1:0", func() tcp.Handler {
		return &recorder{log: newLog(), then: func(at string, ch *tcp.Channel, _ []byte) {
			switch at {
			case "Active":
				ch.WriteAndFlush(make([]byte, manySize))
				active.Done()
			case "Unregistered":
				if ended.Add(1) <= int64(n)-dead {
					drained.Done()
				}
			}
		}}
	}, tcp.WithSocketBuffers(0, 4096))
	if err != nil {
		t.Fatal(err)
	}
	peers := exec.Command(os.Args[0])
	peers.Env = append(os.Environ(), "EVENTIDE_TCP_CHILD=peers", "EVENTIDE_TCP_ADDR="+l.Addr().String(), "EVENTIDE_TCP_N="+strconv.Itoa(n))
	peers.Stderr = os.Stderr
	in, err := peers.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := peers.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := peers.Start(); err != nil {
		t.Fatal(err)
	}
	active.Wait()
	if _, err := boss.ShutdownGracefully(0, hangGuard); err != nil {
		t.Fatal(err)
	}
	awaitGroup(t, boss)
	if _, err := workers.ShutdownGracefully(0, hangGuard); err != nil {
		t.Fatal(err)
	}
	_, _ = in.Write([]byte("read\n"))
	drained.Wait()
	workers.Shutdown() // aborts the rest
	r := awaitGroup(t, workers)
	_, _ = in.Write([]byte("read the dead\n"))
	var received, late int64
	if _, err := fmt.Fscan(out, &received, &late); err != nil {
		t.Fatal(err)
	}
	if err := peers.Wait(); err != nil {
		t.Fatal(err)
	}
	if r.ChannelsDrained != int64(n)-dead || r.ChannelsAborted != dead {
		t.Errorf("G23: got %d drained and %d aborted, want %d and %d", r.ChannelsDrained, r.ChannelsAborted, int64(n)-dead, dead)
	}
	if want := (int64(n) - dead) * manySize; received != want {
		t.Errorf("G23: drained channels sent %d bytes, their peers received %d", want, received)
	}
	if r.BytesDiscarded == 0 {
		t.Error("the test shows nothing: no bytes were discarded")
	}
	if late > dead*manySize-r.BytesDiscarded {
		t.Errorf("G23: aborted channels sent %d bytes, discarded %d, their peers received %d", dead*manySize, r.BytesDiscarded, late)
	}
	t.Logf("%d channels; the aborted ones discarded %d bytes", n, r.BytesDiscarded)
}

// Of the channels of TestG23ManyChannels: what each sends, and that one peer in so
// many never reads in time.
const (
	manySize = 10_000
	deadOf   = 100
)

func init() { children["peers"] = childOfPeers }

// childOfPeers connects, reads when it is told to, and says how much; and then what
// those had that did not read.
func childOfPeers() {
	n, _ := strconv.Atoi(os.Getenv("EVENTIDE_TCP_N"))
	peers := make([]net.Conn, n)
	small := func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 1) })
	}
	for i := range peers {
		var d net.Dialer
		if i%deadOf == 0 {
			d.Control = small // so that its kernel does not take everything
		}
		c, err := d.Dial("tcp", os.Getenv("EVENTIDE_TCP_ADDR"))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		peers[i] = c
	}
	told := bufio.NewScanner(os.Stdin)
	told.Scan()
	received := readFrom(peers, func(i int) bool { return i%deadOf != 0 })
	told.Scan()
	late := readFrom(peers, func(i int) bool { return i%deadOf == 0 })
	fmt.Println(received, late)
}

// readFrom reads those peers to their end, and returns how many bytes they got.
func readFrom(peers []net.Conn, which func(i int) bool) int64 {
	var received atomic.Int64
	var wg sync.WaitGroup
	for i, c := range peers {
		if !which(i) {
			continue
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			m, _ := readAll(c)
			received.Add(m)
			_ = c.Close()
		}()
	}
	wg.Wait()
	return received.Load()
}

// TestCloseGracefully is the same drain outside of a shutdown.
func TestCloseGracefully(t *testing.T) {
	const sent = 8 << 20
	cases := []struct {
		name     string
		deadline func() time.Time
		peer     func(t *testing.T, p *pair)
		after    func(p *pair)
		want     error
	}{
		{"reader", func() time.Time { return time.Time{} }, func(t *testing.T, p *pair) {
			if n, err := readAll(p.peer); n != sent || err != nil {
				t.Errorf("G23: received %d of %d: %v", n, sent, err)
			}
			_ = p.peer.Close()
		}, nil, nil},
		{"deadline", func() time.Time { return time.Now().Add(50 * time.Millisecond) }, nil, nil, tcp.ErrCloseDeadline},
		{"deadline in the past", func() time.Time { return time.Now().Add(-time.Hour) }, nil, nil, tcp.ErrCloseDeadline},
		{"Close meanwhile", func() time.Time { return time.Time{} }, nil, func(p *pair) { p.ch.Close() }, tcp.ErrChannelClosed},
		{"earlier deadline meanwhile", func() time.Time { return time.Now().Add(time.Hour) }, nil,
			func(p *pair) { p.ch.CloseGracefully(time.Now().Add(time.Millisecond)) }, tcp.ErrCloseDeadline},
		{"a later one changes nothing", func() time.Time { return time.Now().Add(20 * time.Millisecond) }, nil,
			func(p *pair) { p.ch.CloseGracefully(time.Now().Add(time.Hour)); p.ch.CloseGracefully(time.Time{}) }, tcp.ErrCloseDeadline},
		{"shutdown with an earlier deadline", func() time.Time { return time.Now().Add(time.Hour) }, nil,
			func(p *pair) { _, _ = p.group.ShutdownGracefully(0, 50*time.Millisecond) }, core.ErrShutdownTimeout},
		{"shutdown with a later one", func() time.Time { return time.Now().Add(50 * time.Millisecond) }, nil,
			func(p *pair) { _, _ = p.group.ShutdownGracefully(0, hangGuard) }, tcp.ErrCloseDeadline},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			checkLeaks(t)
			p := newPair(t, nil)
			write := p.ch.Write(make([]byte, sent)) // not flushed: it is sent all the same
			f := p.ch.CloseGracefully(c.deadline())
			wantErr(t, "G22: write after CloseGracefully", p.ch.Write([]byte("x")).Err(), tcp.ErrChannelClosing)
			if p.ch.IsOpen() {
				t.Error("the channel says that it is open")
			}
			if c.peer != nil {
				go c.peer(t, p)
			}
			if c.after != nil {
				c.after(p)
			}
			err := awaitErr(t, "the graceful close", f)
			wantErr(t, "CloseGracefully", err, c.want)
			n, writeErr := write.Wait(context.Background())
			if c.want == nil && (n != sent || writeErr != nil) {
				t.Errorf("the write: got %d and %v, want %d", n, writeErr, sent)
			}
			if c.want != nil {
				wantErr(t, "the write", writeErr, tcp.ErrChannelClosed)
			}
			wantErr(t, "CloseGracefully again", awaitErr(t, "the second call", p.ch.CloseGracefully(time.Time{})), c.want)
		})
	}
}

// TestG23UnreadInput shows what the tempting wrong version does, and that the
// right one does not: the peer has sent something that nobody reads.
func TestG23UnreadInput(t *testing.T) {
	checkLeaks(t)
	g := newGroup(t, 1)
	const sent = 100_000
	lost := 0
	for _, graceful := range []bool{false, true} {
		for range 20 {
			p := newPairOn(t, g, nil)
			p.ch.SetAutoRead(false)
			_, _ = p.peer.Write([]byte("unread"))
			write := p.ch.WriteAndFlush(make([]byte, sent))
			await(t, "the write", write.Done())
			if graceful {
				p.ch.CloseGracefully(time.Time{})
			} else {
				awaitErr(t, "the close", p.ch.Close())
			}
			n, err := readAll(p.peer)
			_ = p.peer.Close()
			if !graceful && (n != sent || err != nil) {
				lost++
			}
			if graceful && (n != sent || err != nil) {
				t.Errorf("G23: received %d of %d: %v", n, sent, err)
			}
			awaitErr(t, "the close", p.ch.CloseFuture())
		}
	}
	t.Logf("a plain close lost bytes in %d of 20 tries", lost)
}

// TestCloseOutput: what was written is sent, then our side ends, the other goes on.
func TestCloseOutput(t *testing.T) {
	checkLeaks(t)
	p := newPair(t, nil, tcp.WithHalfClosure(true))
	const sent = 8 << 20
	p.ch.Write(make([]byte, sent))
	f := p.ch.CloseOutput()
	wantErr(t, "write after CloseOutput", p.ch.Write([]byte("x")).Err(), tcp.ErrOutputShutdown)
	if n, err := readAll(p.peer); n != sent || err != nil {
		t.Errorf("received %d of %d: %v", n, sent, err)
	}
	wantErr(t, "CloseOutput", awaitErr(t, "CloseOutput", f), nil)
	_, _ = p.peer.Write([]byte("x"))
	p.await(t, "Read")
	_ = p.peer.CloseWrite()
	p.await(t, "Unregistered")
	wantLog(t, "events", p.String(), "Active WritabilityChanged WritabilityChanged Read ReadComplete InputShutdown ReadComplete Inactive Unregistered")
	wantErr(t, "the cause", p.ch.CloseCause(), io.EOF)
	wantErr(t, "CloseOutput after the close", awaitErr(t, "it", p.ch.CloseOutput()), nil)
}

// TestG22CloseOutputAfterTheFIN asks for the future when a graceful close has shut the
// output down already: it completes at once, and with nil however the channel ends.
func TestG22CloseOutputAfterTheFIN(t *testing.T) {
	for name, endBefore := range map[string]bool{"while it waits for the peer": false, "after Close": true} {
		t.Run(name, func(t *testing.T) {
			checkLeaks(t)
			p := newPair(t, nil)
			p.ch.CloseGracefully(time.Time{})
			if n, err := readAll(p.peer); n != 0 || err != nil {
				t.Fatalf("the peer got %d bytes and %v, want the end of the stream", n, err)
			}
			on(t, p.ch.EventLoop(), func() {}) // the body that sent the FIN has ended
			if endBefore {
				awaitErr(t, "the close", p.ch.Close())
			}
			wantErr(t, "G22: CloseOutput", awaitErr(t, "CloseOutput", p.ch.CloseOutput()), nil)
			if cause := p.ch.CloseCause(); cause != nil {
				t.Errorf("the channel closed for %v, want it to wait for the peer, or to be closed by Close", cause)
			}
		})
	}
}

// TestG23DrainInsideTheReadOfAnother ends a channel gracefully in the Read of another one
// of its loop: its input, which the drain discards, must not be read into the buffer that
// this Read still looks at.
func TestG23DrainInsideTheReadOfAnother(t *testing.T) {
	checkLeaks(t)
	g := newGroup(t, 1)
	b := newPairOn(t, g, nil)
	b.ch.SetAutoRead(false)
	on(t, g, func() {})
	_, _ = b.peer.Write(bytes.Repeat([]byte("B"), 100))
	input := []unix.PollFd{{Fd: int32(b.ch.FD()), Events: unix.POLLIN}}
	if n, err := unix.Poll(input, int(hangGuard.Milliseconds())); n != 1 || err != nil {
		t.Fatalf("poll: %d, %v: b has no input", n, err)
	}
	want := bytes.Repeat([]byte("A"), 50)
	got := make(chan []byte, 1)
	a := newPairOn(t, g, func(at string, _ *tcp.Channel, p []byte) {
		if at == "Read" {
			b.ch.CloseGracefully(time.Time{})
			got <- bytes.Clone(p)
		}
	})
	_, _ = a.peer.Write(want)
	a.await(t, "ReadComplete")
	if p := <-got; !bytes.Equal(p, want) {
		t.Errorf("G23: what a was given to read became %q, want %q", p, want)
	}
	_ = b.peer.CloseWrite()
	awaitErr(t, "the graceful close", b.ch.CloseFuture()) // its input was discarded all the same
}

// TestR220HalfClosure: the end of the input is told once, and writes go on.
func TestR220HalfClosure(t *testing.T) {
	checkLeaks(t)
	p := newPair(t, nil, tcp.WithHalfClosure(true))
	_, _ = p.peer.Write([]byte("x"))
	_ = p.peer.CloseWrite()
	p.await(t, "InputShutdown")
	if err := awaitWrite(t, p.ch.WriteAndFlush([]byte("answer"))); err != nil {
		t.Errorf("R220: write after the end of the input: %v", err)
	}
	var b [6]byte
	if _, err := io.ReadFull(p.peer, b[:]); err != nil || string(b[:]) != "answer" {
		t.Errorf("R220: received %q, %v", b, err)
	}
	parks := p.group.Stats().Parks
	on(t, p.ch.EventLoop(), func() {})
	on(t, p.ch.EventLoop(), func() {})
	if n := p.group.Stats().Parks - parks; n > 10 {
		t.Errorf("R220: the loop spins on a half-closed channel: %d parks", n)
	}
	awaitErr(t, "the close", p.ch.Close())
	p.await(t, "Unregistered")
	want := "Active Read ReadComplete InputShutdown ReadComplete Inactive Unregistered"
	if got := p.String(); got != want && got != "Active Read InputShutdown ReadComplete Inactive Unregistered" {
		wantLog(t, "R220: events", got, want)
	}
}

func awaitWrite(t testing.TB, f tcp.WriteFuture) error {
	t.Helper()
	await(t, "a write", f.Done())
	return f.Err()
}

// TestLinger: Close waits for the peer's kernel, off the loop, and no longer than
// allowed; a shutdown cuts it short.
func TestLinger(t *testing.T) {
	fill := func(p *pair) {
		for {
			f := p.ch.WriteAndFlush(make([]byte, 1<<20))
			on(t, p.ch.EventLoop(), func() {})
			if p.ch.PendingBytes() > 0 {
				_ = f
				return
			}
		}
	}
	for name, c := range map[string]struct {
		linger time.Duration
		then   func(t *testing.T, p *pair, closed <-chan struct{})
	}{
		"until it is acknowledged": {hangGuard, func(t *testing.T, p *pair, closed <-chan struct{}) {
			select {
			case <-closed:
				t.Error("closed before the peer had read")
			default:
			}
			_, _ = readAll(p.peer)
		}},
		"until the time is over": {50 * time.Millisecond, func(*testing.T, *pair, <-chan struct{}) {}},
		"until a shutdown": {hangGuard, func(_ *testing.T, p *pair, _ <-chan struct{}) {
			_, _ = p.group.ShutdownGracefully(0, time.Millisecond)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			checkLeaks(t)
			p := newPair(t, nil, tcp.WithLinger(c.linger))
			fill(p)
			f := p.ch.Close()
			on(t, p.ch.EventLoop(), func() {}) // the loop is not blocked
			wantErr(t, "write while it lingers", p.ch.Write([]byte("x")).Err(), tcp.ErrChannelClosed)
			c.then(t, p, f.Done())
			wantErr(t, "the close", awaitErr(t, "the close", f), nil)
			p.await(t, "Unregistered")
		})
	}
}
