//go:build linux

package tcp_test

import (
	"context"
	"fmt"
	"time"

	"eventide/core"
	"eventide/core/tcp"
)

// echoHandler writes back its input, and stops reading from a peer that does not read.
type echoHandler struct{ tcp.HandlerBase }

func (echoHandler) Read(ch *tcp.Channel, p []byte)     { ch.Write(p) }
func (echoHandler) ReadComplete(ch *tcp.Channel)       { ch.Flush() }
func (echoHandler) WritabilityChanged(ch *tcp.Channel) { ch.SetAutoRead(ch.IsWritable()) }
func (echoHandler) Error(_ *tcp.Channel, err error)    { fmt.Println("error:", err) }

// printer sends its input to a channel.
type printer struct {
	tcp.HandlerBase
	lines chan string
}

func (h printer) Read(_ *tcp.Channel, p []byte) { h.lines <- string(p) }

// An echo server with a boss and two workers, and a client. The shutdown loses
// nothing: the boss ends first, so that nothing new arrives, and then the workers
// drain their channels.
func Example() {
	boss, _ := core.NewGroup(1)
	workers, _ := core.NewGroup(2)
	clients, _ := core.NewGroup(1)
	l, err := tcp.Listen(boss, workers, "127.0.0.1:0", func() tcp.Handler { return echoHandler{} })
	if err != nil {
		fmt.Println(err)
		return
	}

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	lines := make(chan string)
	ch, err := tcp.Dial(ctx, clients, l.Addr().String(), printer{lines: lines})
	if err != nil {
		fmt.Println(err)
		return
	}
	ch.WriteAndFlush([]byte("hello"))
	fmt.Println(<-lines)

	_ = boss.Close()
	_ = workers.Close()
	r := workers.Termination().Report()
	fmt.Println("drained", r.ChannelsDrained, "aborted", r.ChannelsAborted)
	_ = clients.Close()
	// Output:
	// hello
	// drained 1 aborted 0
}

// A write future allocates only when it is used as a future.
func ExampleChannel_WriteAndFlush() {
	loops, _ := core.NewGroup(1)
	defer loops.Close()
	l, _ := tcp.Listen(loops, loops, "127.0.0.1:0", func() tcp.Handler { return tcp.HandlerBase{} })
	ch, err := tcp.Dial(context.Background(), loops, l.Addr().String(), tcp.HandlerBase{})
	if err != nil {
		fmt.Println(err)
		return
	}
	n, err := ch.WriteAndFlush([]byte("message")).Wait(context.Background())
	fmt.Printf("sent %d bytes: %v\n", n, err)

	_, _ = ch.Close().Wait(context.Background())
	err = ch.WriteAndFlush([]byte("message")).Err()
	fmt.Println("after the close:", err)
	// Output:
	// sent 7 bytes: <nil>
	// after the close: tcp: channel is closed
}
