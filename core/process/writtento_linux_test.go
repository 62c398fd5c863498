package process

import (
	"io"
	"testing"

	"eventide/core/internal/coretest"
)

// TestBytesOfAConnectionAgree: while a peer reads, each byte that was written is acknowledged or not acknowledged, and never both or
// neither.
func TestBytesOfAConnectionAgree(t *testing.T) {
	ours, theirs := connected(t)
	first, _ := writtenTo(ours) // some kernels count the SYN
	const piece, pieces = 100_000, 200
	for n := range pieces {
		read := make(chan error, 1)
		go func() {
			_, err := io.ReadFull(theirs, make([]byte, piece))
			read <- err
		}()
		_, err := ours.Write(make([]byte, piece))
		coretest.Must(t, err)
		for unacked := int64(1); unacked > 0; {
			var acked int64
			acked, unacked = writtenTo(ours)
			if want := int64(n+1) * piece; acked-first+unacked != want {
				t.Fatalf("%d bytes acknowledged and %d not, want %d in all", acked-first, unacked, want)
			}
		}
		coretest.Must(t, <-read)
	}
}
