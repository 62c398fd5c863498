// Command lines is a line server with an executor for each connection. The handler may
// block, so it computes the answer inside Read, and a shutdown in order loses none: what
// Read was given is answered, and every answer arrives.
//
//	go run ./core/blocking/examples/lines -addr 127.0.0.1:7007
//
// It answers each line with its SHA-256, and ends with SIGINT or SIGTERM.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync/atomic"
	"time"

	"eventide/core/blocking"
	"eventide/core/frame"
	"eventide/core/process"
)

func main() { os.Exit(run()) }

func run() int {
	addr := flag.String("addr", "127.0.0.1:0", "where to listen")
	grace := flag.Duration("grace", 10*time.Second, "how long clients have to end")
	flag.Parse()

	connections, err := blocking.NewGroup(1000)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var accepted atomic.Int64
	return process.Run(context.Background(), process.Plan{
		Start: func(ctx context.Context) error {
			ln, err := net.Listen("tcp", *addr)
			if err != nil {
				return err
			}
			fmt.Println("listening on", ln.Addr())
			served := make(chan error, 1)
			go func() {
				served <- connections.Serve(ln, func() blocking.Handler { return &connection{accepted: &accepted} })
			}()
			select {
			case err := <-served:
				return err // the listener failed: the exit begins
			case <-ctx.Done():
				return nil
			}
		},
		Steps: []process.Step{
			{Name: "connections", Executor: connections, Timeout: *grace},
			// A step, and not after Run: then SIGPIPE kills if nobody reads the output.
			{Name: "figures", Run: func(context.Context) error { fmt.Println("accepted", accepted.Load()); return nil }},
		},
		Deadline: *grace + 5*time.Second,
		Logger:   slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
}

// connection is the handler of one client.
type connection struct {
	blocking.HandlerBase
	accepted *atomic.Int64
	lines    frame.Lines
}

// Read answers lines, and ends the connection at one that is too long.
func (c *connection) Read(ch *blocking.Channel, p []byte) {
	for line, err := range c.lines.Feed(p) {
		if err != nil {
			ch.CloseGracefully(time.Now().Add(time.Second))
			return
		}
		c.accepted.Add(1)
		sum := sha256.Sum256(line)
		ch.Write(frame.AppendLine(nil, hex.AppendEncode(nil, sum[:])))
	}
}

// ReadComplete sends the answers. It does not return before the client has room for them.
func (*connection) ReadComplete(ch *blocking.Channel) { ch.Flush() }
