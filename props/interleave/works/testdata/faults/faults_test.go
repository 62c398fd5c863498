// Package faults has tests that pass unless the world outside has a certain fault.
package faults

import (
	"context"
	"io"
	"net"
	"testing"
	"time"
)

// connect returns both ends of a connection.
func connect(t *testing.T) (net.Conn, net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dialled := make(chan net.Conn, 1)
	go func() {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Error(err)
		}
		dialled <- c
	}()
	a, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	b := <-dialled
	if b == nil {
		t.FailNow()
	}
	t.Cleanup(func() {
		a.Close()
		b.Close()
	})
	return a, b
}

// A read is taken for a whole message.
func TestShort(t *testing.T) {
	a, b := connect(t)
	go a.Write([]byte("hello"))
	buf := make([]byte, 5)
	if n, _ := b.Read(buf); n != 5 {
		t.Errorf("%q", buf[:n])
	}
}

func TestReset(t *testing.T) {
	a, b := connect(t)
	go a.Write([]byte("hello"))
	if _, err := io.ReadFull(b, make([]byte, 5)); err != nil {
		t.Error(err)
	}
}

// The buffers of the connection are taken for a queue.
func TestSlow(t *testing.T) {
	a, b := connect(t)
	if _, err := a.Write(make([]byte, 1000)); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadFull(b, make([]byte, 1000)); err != nil {
		t.Error(err)
	}
}

// An error of Accept or of Dial ends the test.
func TestFiles(t *testing.T) { connect(t) }

func TestContexts(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	if ctx.Err() != nil {
		t.Error(ctx.Err())
	}
}

// The caller is taken to wait for the result. The context that is cancelled is the
// parent, and its child ends with it.
func TestCancels(t *testing.T) {
	parent, cancel := context.WithCancel(t.Context())
	defer cancel()
	ctx, end := context.WithCancel(parent)
	defer end()
	result := make(chan int)
	go func() {
		select {
		case result <- 1:
		case <-parent.Done():
		}
	}()
	select {
	case <-result:
	case <-ctx.Done():
		t.Error(ctx.Err(), context.Cause(ctx))
	}
}

func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for range 3 {
		if err := ctx.Err(); err != nil {
			<-ctx.Done()
			t.Fatal(err)
		}
	}
}
