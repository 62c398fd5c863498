package blocking_test

import (
	"io"
	"math"
	"testing"

	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// TestHugeOptions: the greatest times are as good as any, in a handshake and in a close
// that waits for a peer.
func TestHugeOptions(t *testing.T) {
	for _, tr := range transports {
		t.Run(tr.name, func(t *testing.T) {
			g := newGroup(t, 1)
			ours, theirs := tr.pair(t)
			ch := mustRegister(t, g, ours, echo(),
				blocking.WithHandshakeTimeout(math.MaxInt64), blocking.WithCloseTimeout(math.MaxInt64))
			_, err := theirs.Write([]byte("hello"))
			coretest.Must(t, err)
			got := make([]byte, 5)
			_, err = io.ReadFull(theirs, got)
			coretest.Must(t, err)
			coretest.Want(t, "echo", string(got), "hello")

			sent := make([]byte, 8<<20)
			write := ch.WriteAndFlush(sent)
			end := ch.Close()
			n, err := io.Copy(io.Discard, theirs)
			coretest.Must(t, err)
			coretest.Want(t, "bytes received", n, int64(len(sent)))
			coretest.Await(t, "the close", end.Done())
			coretest.Await(t, "the write", write.Done())
			coretest.Must(t, write.Err())
		})
	}
}
