// Command closing shows how not to close one connection, and how to: shutting down its loop
// ends all connections of that loop, closing the channel ends one.
//
//	go run ./core/tcp/examples/closing
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"eventide/core"
	"eventide/core/tcp"
)

func main() {
	for _, way := range []struct {
		name  string
		close func(ch *tcp.Channel)
	}{
		{"wrong: shut down its loop", func(ch *tcp.Channel) { _, _ = ch.EventLoop().ShutdownGracefully(0, time.Second) }},
		{"right: close the channel", func(ch *tcp.Channel) { ch.CloseGracefully(time.Now().Add(time.Second)) }},
	} {
		if err := show(way.name, way.close); err != nil {
			fmt.Fprintln(os.Stderr, "closing:", err)
			os.Exit(1)
		}
	}
}

// show opens two connections to a server with one loop, closes the first one, and
// prints whether the second one is open.
func show(name string, closeIt func(ch *tcp.Channel)) error {
	servers, err := core.NewGroup(1)
	if err != nil {
		return err
	}
	defer servers.Close()
	clients, err := core.NewGroup(1)
	if err != nil {
		return err
	}
	defer clients.Close()
	accepted := make(chan *tcp.Channel, 2)
	l, err := tcp.Listen(servers, servers, "127.0.0.1:0", func() tcp.Handler { return &server{accepted: accepted} })
	if err != nil {
		return err
	}
	var connections [2]*tcp.Channel
	var atServer [2]*tcp.Channel
	for i := range connections {
		if connections[i], err = tcp.Dial(context.Background(), clients, l.Addr().String(), tcp.HandlerBase{}); err != nil {
			return err
		}
		atServer[i] = <-accepted
	}
	closeIt(atServer[0])
	<-connections[0].CloseFuture().Done()

	// A channel that is open accepts a write.
	fmt.Println(name)
	fmt.Println("  first: closed")
	if err := atServer[1].WriteAndFlush([]byte("still there")).Err(); err != nil {
		fmt.Println("  second:", err)
	} else {
		fmt.Println("  second: open")
	}
	return nil
}

type server struct {
	tcp.HandlerBase
	accepted chan *tcp.Channel
}

func (s *server) Active(ch *tcp.Channel) { s.accepted <- ch }
