// Command lengths is a server for messages with a length prefix. It computes its
// answers off the loops, and does not hold its channels. At SIGTERM or SIGINT it loses no
// answer, because it stops all input before it ends the workers.
//
//	go run ./core/tcp/examples/lengths -addr 127.0.0.1:7007
//
// The answer to a message is its SHA-256. At SIGINT or SIGTERM the server ends the acceptors,
// then the input, then the workers, which compute the answers to all messages that were
// read, and at last the loops, which send them.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"eventide/core"
	"eventide/core/frame"
	"eventide/core/process"
	"eventide/core/tcp"
)

func main() { os.Exit(run()) }

func run() int {
	addr := flag.String("addr", "127.0.0.1:0", "where to listen")
	grace := flag.Duration("grace", 10*time.Second, "how long clients have to end")
	flag.Parse()

	acceptors, err1 := core.NewGroup(1, core.WithName("acceptor"))
	loops, err2 := core.NewGroup(2, core.WithName("loop"))
	workers, err3 := core.NewExecutorGroup(runtime.GOMAXPROCS(0), core.WithName("worker"))
	for _, err := range []error{err1, err2, err3} {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	var accepted atomic.Int64
	return process.Run(context.Background(), process.Plan{
		Start: func(ctx context.Context) error {
			l, err := tcp.Listen(acceptors, loops, *addr, func() tcp.Handler {
				return &connection{worker: workers.Next(), accepted: &accepted}
			})
			if err != nil {
				return err
			}
			fmt.Println("listening on", l.Addr())
			<-ctx.Done()
			return nil
		},
		Steps: []process.Step{
			{Name: "acceptors", Executor: acceptors},
			{Name: "input", Run: func(ctx context.Context) error { return tcp.Quiesce(ctx, loops) }},
			{Name: "workers", Executor: workers},
			{Name: "loops", Executor: loops, Timeout: *grace},
			// A step, because after Run SIGPIPE is fatal again if the reader of the output is gone.
			{Name: "figures", Run: func(context.Context) error { fmt.Println("accepted", accepted.Load()); return nil }},
		},
		Deadline: *grace + 5*time.Second,
		Logger:   slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
}

// connection is the handler of one client. Its fields are used on its loop only.
type connection struct {
	tcp.HandlerBase
	worker   core.EventExecutor // one per connection, so that answers keep the order of the messages
	accepted *atomic.Int64
	messages frame.Lengths
}

// Read accepts messages, and closes the connection if one is too long.
func (c *connection) Read(ch *tcp.Channel, p []byte) {
	for message, err := range c.messages.Feed(p) {
		if err != nil {
			ch.CloseGracefully(time.Now().Add(time.Second))
			return
		}
		request := bytes.Clone(message)
		if err := c.worker.Execute(func() { c.answer(ch, request) }); err != nil {
			ch.Close() // the worker has ended
			return
		}
		c.accepted.Add(1)
	}
}

// answer runs on the worker.
func (c *connection) answer(ch *tcp.Channel, request []byte) {
	sum := sha256.Sum256(request)
	answer, err := new(frame.Lengths).Append(nil, hex.AppendEncode(nil, sum[:]))
	if err != nil {
		panic(err) // 64 bytes are within the limit
	}
	ch.WriteAndFlush(answer)
}

// WritabilityChanged stops reading from a client that does not read: its answers would
// accumulate in memory.
func (*connection) WritabilityChanged(ch *tcp.Channel) { ch.SetAutoRead(ch.IsWritable()) }
