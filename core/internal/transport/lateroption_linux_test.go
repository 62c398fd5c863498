package transport_test

import (
	"net"
	"testing"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// TestTheLaterOptionWins: docs/options.md, for two options that set the same value.
func TestTheLaterOptionWins(t *testing.T) {
	ex := coretest.NewExecutor(t, core.WithName("first"), core.WithName("second"))
	coretest.Want(t, "core: name", ex.Name(), "second")

	group := coretest.NewGroup(t, 1)
	l, err := tcp.Listen(group, group, "127.0.0.1:0", func() tcp.Handler { return tcp.HandlerBase{} })
	coretest.Must(t, err)
	first, second := tcp.WithWriteBufferWaterMarks(10, 20), tcp.WithWriteBufferWaterMarks(100, 200)
	var room []int64
	for _, opts := range [][]tcp.Option{{second}, {first, second}} {
		ch, err := tcp.Dial(t.Context(), group, l.Addr().String(), tcp.HandlerBase{}, opts...)
		coretest.Must(t, err)
		room = append(room, ch.BytesBeforeUnwritable())
	}
	coretest.Want(t, "tcp: bytes before unwritable", room[1], room[0])

	pairs, err := blocking.NewGroup(0)
	coretest.Must(t, err)
	ours, theirs := net.Pipe()
	h := sizes{got: make(chan int, 10)}
	_, err = pairs.Register(ours, h, blocking.WithReadBuffer(1), blocking.WithReadBuffer(4))
	coretest.Must(t, err)
	_, err = theirs.Write([]byte("four"))
	coretest.Must(t, err)
	coretest.Want(t, "blocking: bytes of the first Read", <-h.got, 4)
	_ = theirs.Close()
	<-pairs.Shutdown().Done()
}

// sizes reports the size of each Read.
type sizes struct {
	blocking.HandlerBase
	got chan int
}

func (s sizes) Read(_ *blocking.Channel, p []byte) { s.got <- len(p) }
