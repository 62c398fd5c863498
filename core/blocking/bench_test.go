package blocking_test

import (
	"io"
	"net"
	"testing"

	"eventide/core/blocking"
)

// BenchmarkEcho is a round trip of 64 bytes over loopback TCP, client and server in
// one process, beside a goroutine that reads and writes.
func BenchmarkEcho(b *testing.B) {
	b.Run("server=blocking", func(b *testing.B) {
		g := newGroup(b, 0)
		ours, theirs := tcpPair(b)
		if _, err := g.Register(ours, echo()); err != nil {
			b.Fatal(err)
		}
		roundTrips(b, theirs)
	})
	b.Run("server=net", func(b *testing.B) {
		ours, theirs := tcpPair(b)
		over := make(chan struct{})
		go func() {
			defer close(over)
			buf := make([]byte, blocking.DefaultReadBuffer)
			for {
				n, err := ours.Read(buf)
				if err != nil {
					_ = ours.Close()
					return
				}
				_, _ = ours.Write(buf[:n])
			}
		}()
		roundTrips(b, theirs)
		_ = theirs.Close()
		<-over
	})
}

func roundTrips(b *testing.B, conn net.Conn) {
	b.Helper()
	b.ReportAllocs()
	message := make([]byte, 64)
	for b.Loop() {
		if _, err := conn.Write(message); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(conn, message); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkExecute is a task that interrupts the read of an idle connection, and is
// waited for.
func BenchmarkExecute(b *testing.B) {
	for _, tr := range transports[:3] {
		b.Run("conn="+tr.name, func(b *testing.B) {
			g := newGroup(b, 0)
			ours, _ := tr.pair(b)
			ch, err := g.Register(ours, echo())
			if err != nil {
				b.Fatal(err)
			}
			ran := make(chan struct{})
			task := func() { ran <- struct{}{} }
			b.ReportAllocs()
			for b.Loop() {
				if err := ch.EventLoop().Execute(task); err != nil {
					b.Fatal(err)
				}
				<-ran
			}
		})
	}
}

// BenchmarkInEventLoop asks a group of 1,000 executors from outside of them.
func BenchmarkInEventLoop(b *testing.B) {
	g := newGroup(b, 0)
	for range 1000 {
		ours, _ := net.Pipe()
		mustRegister(b, g, ours, echo())
	}
	for b.Loop() {
		if g.InEventLoop() {
			b.Fatal("a goroutine of the test is a body")
		}
	}
}
