package tcp_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// TestG23ManyChannels shuts down loops with very many channels, whose peers are another
// process: each peer that reads gets everything, each that does not is aborted and
// accounted for.
func TestG23ManyChannels(t *testing.T) {
	coretest.CheckLeaks(t)
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
	boss, workers := coretest.NewGroup(t, 1), coretest.NewGroup(t, 2)
	l, err := tcp.Listen(boss, workers, "127.0.0.1:0", func() tcp.Handler {
		return &recorder{then: func(at string, ch *tcp.Channel, _ []byte) {
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
	if _, err := boss.ShutdownGracefully(0, coretest.HangGuard); err != nil {
		t.Fatal(err)
	}
	coretest.AwaitDone(t, boss)
	if _, err := workers.ShutdownGracefully(0, coretest.HangGuard); err != nil {
		t.Fatal(err)
	}
	_, _ = in.Write([]byte("read\n"))
	drained.Wait()
	workers.Shutdown() // aborts the rest
	r := coretest.AwaitDone(t, workers)
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

// The bytes that each channel of TestG23ManyChannels sends, and the share of peers that
// never read in time.
const (
	manySize = 10_000
	deadOf   = 100
)

func init() { children["peers"] = childOfPeers }

// childOfPeers connects, reads at a command, and prints how many bytes it has received; then
// also the bytes of the peers that did not read.
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
