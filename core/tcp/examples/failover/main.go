// Command failover is a client that continues with the next server when one shuts
// down, and the server for it. No request is lost or executed twice.
//
//	go run ./core/tcp/examples/failover -role server
//	go run ./core/tcp/examples/failover -role client -servers 127.0.0.1:PORT,127.0.0.1:PORT
//
// A request is a line, and so is its answer. A draining server answers every request that
// it has read, and all of its answers arrive. So when the connection ends, the requests
// without an answer are those that the server has not executed, and the client can safely
// send them to the next server.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"eventide/core"
	"eventide/core/process"
	"eventide/core/tcp"
)

func main() { os.Exit(run()) }

func run() int {
	role := flag.String("role", "client", "client or server")
	addr := flag.String("addr", "127.0.0.1:0", "of a server: where to listen")
	servers := flag.String("servers", "", "of a client: addresses, with commas")
	n := flag.Int("n", 100_000, "of a client: requests")
	flag.Parse()
	if *role == "server" {
		return serve(*addr)
	}
	if err := ask(strings.Split(*servers, ","), *n); err != nil {
		fmt.Fprintln(os.Stderr, "failover:", err)
		return 1
	}
	return 0
}

// serve answers requests until SIGINT or SIGTERM.
func serve(addr string) int {
	loops, err := core.NewGroup(1)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var done atomic.Int64
	return process.Run(context.Background(), process.Plan{
		Start: func(ctx context.Context) error {
			l, err := tcp.Listen(loops, loops, addr, func() tcp.Handler { return &server{done: &done} })
			if err != nil {
				return err
			}
			fmt.Println("listening on", l.Addr())
			<-ctx.Done()
			return nil
		},
		Steps: []process.Step{
			{Name: "loops", Executor: loops, Timeout: 10 * time.Second},
			{Name: "figures", Run: func(context.Context) error { fmt.Println("done", done.Load()); return nil }},
		},
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
}

// busy is the number of requests after which a server prints "busy".
const busy = 1000

// server writes back each line.
type server struct {
	tcp.HandlerBase
	done *atomic.Int64
	half []byte // the incomplete line
}

func (s *server) Read(ch *tcp.Channel, p []byte) {
	s.half = append(s.half, p...)
	end := bytes.LastIndexByte(s.half, '\n') + 1
	lines := int64(bytes.Count(s.half[:end], []byte("\n")))
	if done := s.done.Add(lines); done >= busy && done-lines < busy {
		fmt.Println("busy")
	}
	ch.WriteAndFlush(s.half[:end])
	s.half = append(s.half[:0], s.half[end:]...)
}

func (s *server) WritabilityChanged(ch *tcp.Channel) { ch.SetAutoRead(ch.IsWritable()) }

// ask sends n requests, and returns when all are answered or no server is left.
func ask(servers []string, n int) error {
	loops, err := core.NewGroup(1)
	if err != nil {
		return err
	}
	defer loops.Close()
	c := &client{loops: loops, servers: servers, n: n, over: make(chan error, 1)}
	if err := loops.Execute(c.connect); err != nil {
		return err
	}
	if err := <-c.over; err != nil {
		return err
	}
	fmt.Println("answered", c.answered, "connections", c.connections)
	return nil
}

// client sends requests in order, without waiting for each answer. Its fields are used on
// the loop only.
type client struct {
	tcp.HandlerBase
	loops    *core.Group
	servers  []string
	n        int
	answered int // requests 0 to answered-1 are answered
	asked    int // requests answered to asked-1 were written to the current server
	half     []byte

	connections, failures int
	over                  chan error
}

// connect tries the next server.
func (c *client) connect() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	server := c.servers[(c.connections+c.failures)%len(c.servers)]
	tcp.DialAsync(ctx, c.loops, server, c).OnDone(func(_ *tcp.Channel, err error) {
		cancel()
		if err == nil {
			return
		}
		if c.failures++; c.failures > 2*len(c.servers) {
			c.end(fmt.Errorf("no server is left: %w", err))
			return
		}
		c.connect()
	})
}

// Active sends the requests that were not answered to the new server.
func (c *client) Active(ch *tcp.Channel) {
	c.connections++
	c.asked, c.half = c.answered, nil
	c.askMore(ch)
}

// askMore writes requests until the channel is unwritable. WritabilityChanged is called when
// it is writable again, even if the flush below makes it so at once.
func (c *client) askMore(ch *tcp.Channel) {
	for c.asked < c.n && ch.IsWritable() {
		if ch.Write(fmt.Appendf(nil, "request %d\n", c.asked)).Err() != nil {
			return // Inactive follows
		}
		c.asked++
	}
	ch.Flush()
}

func (c *client) WritabilityChanged(ch *tcp.Channel) {
	if ch.IsWritable() {
		c.askMore(ch)
	}
}

func (c *client) Read(ch *tcp.Channel, p []byte) {
	c.half = append(c.half, p...)
	for {
		line, rest, whole := bytes.Cut(c.half, []byte("\n"))
		if !whole {
			return
		}
		if want := fmt.Sprintf("request %d", c.answered); string(line) != want {
			c.end(fmt.Errorf("got the answer %q, want %q", line, want))
			ch.Close()
			return
		}
		c.half = rest
		if c.answered++; c.answered == c.n {
			ch.Close()
			return
		}
	}
}

func (c *client) ReadComplete(ch *tcp.Channel) { c.askMore(ch) }

// Inactive connects to the next server, unless all requests are answered.
func (c *client) Inactive(ch *tcp.Channel) {
	if c.answered == c.n {
		c.end(nil)
		return
	}
	c.connect()
}

func (c *client) end(err error) {
	select {
	case c.over <- err:
	default: // it has ended already
	}
}
