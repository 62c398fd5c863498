// Command echo is an echo server with a boss and two workers that loses no answer when it is
// stopped: it answers everything it has read, and every answer arrives.
//
//	go run ./core/tcp/examples/echo -addr 127.0.0.1:7007
//
// It stops at SIGINT or SIGTERM. The boss ends first, so that no new connection is accepted.
// Then the workers end: each channel stops reading, sends its buffer, shuts down its output,
// and waits for the client to end its side.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"eventide/core"
	"eventide/core/process"
	"eventide/core/tcp"
)

func main() { os.Exit(run()) }

func run() int {
	addr := flag.String("addr", "127.0.0.1:0", "where to listen")
	grace := flag.Duration("grace", 10*time.Second, "how long clients have to end")
	flag.Parse()

	boss, err := core.NewGroup(1, core.WithName("boss"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	workers, err := core.NewGroup(2, core.WithName("worker"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var read atomic.Int64
	return process.Run(context.Background(), process.Plan{
		Start: func(ctx context.Context) error {
			l, err := tcp.Listen(boss, workers, *addr, func() tcp.Handler { return &echo{read: &read} })
			if err != nil {
				return err
			}
			fmt.Println("listening on", l.Addr())
			<-ctx.Done()
			return nil
		},
		Steps: []process.Step{
			{Name: "boss", Executor: boss},
			{Name: "workers", Executor: workers, Timeout: *grace},
			// A step, because after Run SIGPIPE is fatal again if the reader of the output is gone.
			{Name: "figures", Run: func(context.Context) error { printFigures(workers, read.Load()); return nil }},
		},
		Deadline: *grace + 5*time.Second,
		Logger:   slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
}

func printFigures(workers *core.Group, read int64) {
	end := workers.Termination().Report()
	fmt.Printf("read %d drained %d aborted %d discarded %d\n",
		read, end.ChannelsDrained, end.ChannelsAborted, end.BytesDiscarded)
}

// echo writes back its input. Each channel has one.
type echo struct {
	tcp.HandlerBase
	read *atomic.Int64
}

func (e *echo) Read(ch *tcp.Channel, p []byte) {
	e.read.Add(int64(len(p)))
	ch.Write(p)
}

func (*echo) ReadComplete(ch *tcp.Channel) { ch.Flush() }

// WritabilityChanged stops reading from a client that does not read: its answers would
// accumulate in memory.
func (*echo) WritabilityChanged(ch *tcp.Channel) { ch.SetAutoRead(ch.IsWritable()) }
