package process

import (
	"io"
	"net"
	"testing"
)

// TestBytesOfAConnectionAgree: while a peer reads, each byte that was written is acknowledged or not acknowledged, and never both or
// neither.
func TestBytesOfAConnectionAgree(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ours, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	theirs, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	first, _ := writtenTo(ours) // some kernels count the SYN
	const piece, pieces = 100_000, 200
	for n := range pieces {
		if _, err := ours.Write(make([]byte, piece)); err != nil {
			t.Fatal(err)
		}
		read := make(chan error, 1)
		go func() {
			_, err := io.ReadFull(theirs, make([]byte, piece))
			read <- err
		}()
		for unacked := int64(1); unacked > 0; {
			var acked int64
			acked, unacked = writtenTo(ours)
			if want := int64(n+1) * piece; acked-first+unacked != want {
				t.Fatalf("%d bytes acknowledged and %d not, want %d in all", acked-first, unacked, want)
			}
		}
		if err := <-read; err != nil {
			t.Fatal(err)
		}
	}
}
