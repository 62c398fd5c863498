// Command lines is a line server that computes its answers off the loops, and loses none
// at SIGTERM or SIGINT: it answers every line that it has accepted, and every answer
// arrives.
//
//	go run ./core/tcp/examples/lines -addr 127.0.0.1:7007
//
// The answer to a line is its SHA-256. At SIGINT or SIGTERM the server ends the acceptors,
// then the loops, whose channels are held for each answer, and then the workers that
// compute the answers.
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
			{Name: "loops", Executor: loops, Timeout: *grace}, // waits for the answers
			{Name: "workers", Executor: workers},
			// A step, because after Run SIGPIPE is fatal again if the reader of the output is gone.
			{Name: "figures", Run: func(context.Context) error { fmt.Println("accepted", accepted.Load()); return nil }},
		},
		Deadline: *grace + 5*time.Second,
		Logger:   slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
}

// Bounds of the unsent answers of one client: above mostOwed its input pauses, and at
// resumeAt it resumes.
const (
	mostOwed = 128
	resumeAt = 64
)

// connection is the handler of one client. Its fields are used on its loop only.
type connection struct {
	tcp.HandlerBase
	worker   core.EventExecutor // one per connection, so that answers keep the order of the lines
	accepted *atomic.Int64
	lines    frame.Lines
	owed     int // accepted lines whose answers the kernel has not taken yet
}

// Read accepts lines, and closes the connection if one is too long.
func (c *connection) Read(ch *tcp.Channel, p []byte) {
	for line, err := range c.lines.Feed(p) {
		if err != nil {
			ch.CloseGracefully(time.Now().Add(time.Second))
			return
		}
		if !c.accept(ch, bytes.Clone(line)) {
			return
		}
	}
}

// accept passes a line to the worker. It returns false if the connection is closing.
func (c *connection) accept(ch *tcp.Channel, line []byte) bool {
	release, err := ch.Hold()
	if err != nil {
		return false // it is closing: the line is not accepted
	}
	err = c.worker.Execute(func() {
		defer release()
		answer := ch.WriteAndFlush(frame.AppendLine(nil, compute(line)))
		answer.OnDone(func(int, error) { c.paid(ch) }) // on the loop
	})
	if err != nil { // the worker has ended
		release()
		ch.Close()
		return false
	}
	c.accepted.Add(1)
	if c.owed++; c.owed > mostOwed {
		ch.SetAutoRead(false)
	}
	return true
}

// paid runs on the loop when the kernel has taken an answer.
func (c *connection) paid(ch *tcp.Channel) {
	if c.owed--; c.owed == resumeAt {
		ch.SetAutoRead(true)
	}
}

func compute(line []byte) []byte {
	sum := sha256.Sum256(line)
	return hex.AppendEncode(nil, sum[:])
}
