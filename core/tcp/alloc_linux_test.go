package tcp_test

import (
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// TestNoAllocationPerEcho counts every allocation of the process while messages go
// to and fro, in the four ways in which a handler may answer.
func TestNoAllocationPerEcho(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for name, answer := range map[string]func(at string, ch *tcp.Channel, p []byte){
		"WriteAndFlush": func(at string, ch *tcp.Channel, p []byte) {
			if at == "Read" {
				ch.WriteAndFlush(p)
			}
		},
		"Write, Flush in ReadComplete": func(at string, ch *tcp.Channel, p []byte) {
			switch at {
			case "Read":
				ch.Write(p[:len(p)/2])
				ch.Write(p[len(p)/2:])
			case "ReadComplete":
				ch.Flush()
			}
		},
		"past the water mark": func(at string, ch *tcp.Channel, p []byte) {
			switch at {
			case "Read":
				ch.Write(p)
			case "ReadComplete":
				ch.Flush()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			opts := []tcp.Option(nil)
			if name == "past the water mark" {
				opts = append(opts, tcp.WithWriteBufferWaterMarks(1, 8))
			}
			p := newPair(t, nil, opts...)
			coretest.OnLoop(t, p.ch.EventLoop(), func() { p.then = answer })
			quiet.Store(true)
			defer quiet.Store(false)
			message := make([]byte, 64)
			roundTrip := func() {
				if _, err := p.peer.Write(message); err != nil {
					t.Fatal(err)
				}
				if _, err := io.ReadFull(p.peer, message); err != nil {
					t.Fatal(err)
				}
			}
			for range 100 {
				roundTrip()
			}
			if n := testing.AllocsPerRun(2000, roundTrip); n != 0 {
				t.Errorf("got %v allocations per echoed message, want 0", n)
			}
		})
	}
}

// quiet makes the recorder drop its events.
var quiet atomic.Bool

// BenchmarkEcho is echoes of 64 bytes over loopback, with client and server in one
// process, beside plain net. For a comparison that counts see internal/echobench:
// there they are processes of their own and take turns.
func BenchmarkEcho(b *testing.B) {
	for _, conns := range []int{1, 50, 1000} {
		for name, serve := range map[string]func(b *testing.B) net.Addr{"eventide": serveEcho, "net": serveNet} {
			b.Run("server="+name+"/conns="+strconv.Itoa(conns), func(b *testing.B) { benchEcho(b, serve(b), conns) })
		}
	}
}

func serveEcho(b *testing.B) net.Addr {
	g := coretest.NewGroup(b, 2)
	l, err := tcp.Listen(g, g, "127.0.0.1:0", newEcho)
	if err != nil {
		b.Fatal(err)
	}
	return l.Addr()
}

func serveNet(b *testing.B) net.Addr {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				buf := make([]byte, 4096)
				for {
					n, err := c.Read(buf)
					if err != nil {
						return
					}
					if _, err := c.Write(buf[:n]); err != nil {
						return
					}
				}
			}()
		}
	}()
	return l.Addr()
}

func benchEcho(b *testing.B, addr net.Addr, n int) {
	conns := make([]net.Conn, n)
	for i := range conns {
		conns[i] = mustDial(b, addr)
		mustEcho(b, conns[i])
	}
	b.ReportAllocs()
	b.ResetTimer()
	var left atomic.Int64
	left.Store(int64(b.N))
	var wg sync.WaitGroup
	for _, c := range conns {
		wg.Add(1)
		go func() {
			defer wg.Done()
			message := make([]byte, 64)
			for left.Add(-1) >= 0 {
				if _, err := c.Write(message); err != nil {
					b.Error(err)
					return
				}
				if _, err := io.ReadFull(c, message); err != nil {
					b.Error(err)
					return
				}
			}
		}()
	}
	wg.Wait()
	b.StopTimer()
}
