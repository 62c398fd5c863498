package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"eventide/core/internal/coretest/underload"
)

func TestMain(m *testing.M) { underload.Main(m, main) }

// TestNothingIsLost sends SIGTERM to the server while clients send as fast as they
// can. Every byte that the server has read was answered, and every answer has arrived: each
// client has received a prefix of the bytes it sent, and the sum of these is the number of
// bytes that the server prints.
func TestNothingIsLost(t *testing.T) {
	const clients = 20
	server := underload.Start(t, "-grace", "50s")
	var received atomic.Int64
	var flowing, over sync.WaitGroup
	for i := range clients {
		flowing.Add(1)
		over.Add(1)
		go func() {
			defer over.Done()
			n, err := load(server.Addr, flowing.Done)
			if err != nil {
				t.Errorf("client %d: %v", i, err)
			}
			received.Add(n)
		}()
	}
	flowing.Wait()
	server.Terminate()
	over.Wait()
	server.WantEnd(fmt.Sprintf("read %d drained %d aborted 0 discarded 0\n", received.Load(), clients))
	t.Logf("%d bytes over %d connections", received.Load(), clients)
}

// block is sent by the clients again and again. Its length is prime: bytes that are lost
// or duplicated shift it, whatever unit the kernel loses.
var block = func() []byte {
	b := make([]byte, 65_521)
	rand.NewChaCha8([32]byte{}).Read(b)
	return b
}()

// load sends blocks until the server ends its side, and returns how many bytes came
// back: the same from the first on. It calls flowing once some have.
func load(addr string, flowing func()) (received int64, err error) {
	tell := sync.OnceFunc(flowing)
	defer tell()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	written := make(chan struct{})
	go func() {
		defer close(written)
		for err := error(nil); err == nil; {
			_, err = c.Write(block)
		}
	}()
	defer func() {
		_ = c.(*net.TCPConn).SetWriteDeadline(time.Unix(1, 0))
		<-written
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := c.Read(buf)
		for got := buf[:n]; len(got) > 0; {
			want := block[received%int64(len(block)):]
			m := min(len(got), len(want))
			if !bytes.Equal(got[:m], want[:m]) {
				return received, fmt.Errorf("bytes %d to %d are not what was sent", received, received+int64(m))
			}
			received += int64(m)
			got = got[m:]
		}
		if received > 100_000 {
			tell()
		}
		if err == io.EOF {
			return received, nil
		}
		if err != nil {
			return received, err
		}
	}
}
