//go:build linux

package tcp_test

import (
	"context"
	"fmt"

	"eventide/core"
	"eventide/core/tcp"
)

// loops returns a group, and a listener and its address on it.
func loops(n int, newHandler func() tcp.Handler) (*core.Group, string) {
	group, err := core.NewGroup(n)
	if err != nil {
		panic(err)
	}
	l, err := tcp.Listen(group, group, "127.0.0.1:0", newHandler)
	if err != nil {
		panic(err)
	}
	return group, l.Addr().String()
}

// One loop has a listener of its own and the channels of that listener.
func ExampleListenOn() {
	group, err := core.NewGroup(1)
	if err != nil {
		fmt.Println(err)
		return
	}
	loop := group.Next().(*core.EventLoop)
	l, err := tcp.ListenOn(loop, "127.0.0.1:0", func() tcp.Handler { return echoHandler{} })
	if err != nil {
		fmt.Println(err)
		return
	}
	lines := make(chan string)
	ch, err := tcp.DialOn(context.Background(), loop, l.Addr().String(), printer{lines: lines})
	if err != nil {
		fmt.Println(err)
		return
	}
	ch.WriteAndFlush([]byte("hello"))
	fmt.Println(<-lines)
	fmt.Println(group.Close())
	// Output:
	// hello
	// <nil>
}

// DialAsync does not block, so that a proxy may call it on a loop.
func ExampleDialAsync() {
	group, addr := loops(1, func() tcp.Handler { return echoHandler{} })
	lines := make(chan string)
	tcp.DialAsync(context.Background(), group, addr, printer{lines: lines}).OnDone(func(ch *tcp.Channel, err error) {
		if err != nil {
			fmt.Println(err)
			return
		}
		ch.WriteAndFlush([]byte("hello"))
	})
	fmt.Println(<-lines)
	fmt.Println(group.Close())
	// Output:
	// hello
	// <nil>
}

// A message for each open channel of a group. A peer that does not read misses it.
func ExampleBroadcast() {
	servers, addr := loops(2, func() tcp.Handler { return echoHandler{} })
	clients, err := core.NewGroup(1)
	if err != nil {
		fmt.Println(err)
		return
	}
	lines := make(chan string)
	for range 3 {
		if _, err := tcp.Dial(context.Background(), clients, addr, printer{lines: lines}); err != nil {
			fmt.Println(err)
			return
		}
	}
	sent, err := tcp.Broadcast(tcp.Channels(clients), []byte("hello"), tcp.SkipUnwritable)
	fmt.Println(sent.Accepted, sent.Unwritable, err)
	for range 3 {
		fmt.Println(<-lines)
	}
	fmt.Println(clients.Close(), servers.Close())
	// Output:
	// 3 0 <nil>
	// hello
	// hello
	// hello
	// <nil> <nil>
}

// A server whose handlers hand requests to workers: it stops reading first, then the workers
// end, and the channels end last, with every answer.
func ExampleQuiesce() {
	group, _ := loops(2, func() tcp.Handler { return echoHandler{} })
	workers, err := core.NewPool(4)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("reads no more:", tcp.Quiesce(context.Background(), group))
	fmt.Println("workers:", workers.Close())
	fmt.Println("channels:", group.Close())
	// Output:
	// reads no more: <nil>
	// workers: <nil>
	// channels: <nil>
}
